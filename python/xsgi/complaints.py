"""What is said of an error before anything is served: one line."""

from __future__ import annotations

import difflib
import traceback

import click

from xsgi import foreign, loader
from xsgi.errors import AppError, Error


def of(error: Error) -> None:
    """One line, after the traceback of the user's code if that has failed."""
    cause = error.__cause__
    if isinstance(error, AppError) and cause is not None:
        trace = loader.user_traceback(cause)
        lines = traceback.format_exception(type(cause), cause, trace)
        click.echo("".join(lines), err=True, nl=False)
    say(str(error))


def of_click(error: click.ClickException) -> None:
    """What is wrong with the command line."""
    if isinstance(error, click.NoSuchOption):
        say(_no_such_option(error))
    else:
        say(_one_line(error))


def say(line: str) -> None:
    click.echo(f"xsgi: {line}", err=True)


def _no_such_option(error: click.NoSuchOption) -> str:
    wrong = error.option_name
    hint = foreign.hint(wrong)
    if hint is not None:
        return f"{wrong}: {hint}"
    known = {
        flag.lstrip("-"): flag
        for each in (error.ctx.command.params if error.ctx else ())
        for flag in (*each.opts, *each.secondary_opts)
    }
    # Without their dashes, which make all flags look much the same.
    close = difflib.get_close_matches(wrong.lstrip("-"), known, n=1)
    meant = f" Did you mean {known[close[0]]}?" if close else ""
    return f"No such option {wrong}.{meant}{_see_help(error)}"


def _one_line(error: click.ClickException) -> str:
    line = " ".join(error.format_message().split())
    if line[-1] not in ".?":
        line += "."
    # Of a value, the message says all that there is to know.
    return (
        line if type(error) is click.BadParameter else line + _see_help(error)
    )


def _see_help(error: click.ClickException) -> str:
    ctx = getattr(error, "ctx", None)
    return f" See {ctx.command_path} --help." if ctx else ""
