"""The command line: Config's options as click options, errors as one line."""

from __future__ import annotations

import dataclasses
import sys
import traceback
from typing import Any, NoReturn

import click

from xsgi import __version__, config, loader
from xsgi.errors import AppError, Error

_EPILOG = (
    "Each option can also be set in the environment: --timeout-write 10s is"
    " XSGI_TIMEOUT_WRITE=10s."
)


class _Kind(click.ParamType):
    """A kind of kinds.py as click wants it."""

    def __init__(self, option: dataclasses.Field[Any]):
        kind = option.metadata["kind"]
        # Of an option that may be repeated click converts each item.
        self._kind = getattr(kind, "item", kind)
        self.name = option.name

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        # An argument that was not given keeps its default, checked already.
        if not isinstance(value, str):
            return value
        try:
            return self._kind(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _Serve(click.Command):
    """A command whose options are listed in the groups of Config."""

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        for group in config.GROUPS:
            members = [
                each.get_help_record(ctx)
                for each in self.get_params(ctx)
                if getattr(each, "group", None) == group
            ]
            with formatter.section(group):
                formatter.write_dl([row for row in members if row])


class _Group(click.Group):
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and ":" in args[0]:
            ctx.fail(f"Did you mean 'xsgi serve {args[0]}'?")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(
    __version__, prog_name="xsgi", message="%(prog)s %(version)s"
)
def xsgi() -> None:
    """A server for WSGI and ASGI applications."""


def _serve(app: str, **options: Any) -> None:
    """Serve the application ATTRIBUTE of the Python module MODULE.

    It listens at http://127.0.0.1:8000 unless told otherwise.
    """
    from xsgi import runner

    runner.run(config.Config(app, **options))


def _click_option(option: dataclasses.Field[Any]) -> click.Option:
    meta = option.metadata
    name = "--" + option.name.replace("_", "-")
    short = [flag for flag in meta["flags"] if not flag.startswith("--")]
    names = [*short, name, *meta["flags"][len(short) :], option.name]
    extra: dict[str, Any] = {}
    text = meta["help"]
    if isinstance(option.default, bool):
        names[0] = _switch(option)
        extra["is_flag"] = True
    else:
        extra["type"] = _Kind(option)
        extra["metavar"] = meta["metavar"] or _metavar(option)
        extra["multiple"] = option.name == "bind"
    if "[default" not in text and option.default is not False:
        text += _default(option)
    result = click.Option(
        names,
        default=option.default,
        envvar=f"XSGI_{option.name.upper()}",
        help=text,
        **extra,
    )
    result.group = meta["group"]  # type: ignore[attr-defined]
    return result


def _switch(option: dataclasses.Field[Any]) -> str:
    name = option.name.replace("_", "-")
    return f"--{name}/--no-{name}" if option.default else f"--{name}"


def _metavar(option: dataclasses.Field[Any]) -> str:
    words = getattr(option.metadata["kind"], "words", None)
    if words is not None:
        return "|".join(words)
    if option.metadata["group"] == config.TIMEOUTS:
        return "TIME"
    if option.name.startswith("limit_request_body"):
        return "SIZE"
    return "TEXT" if option.name == "host" else "N"


def _default(option: dataclasses.Field[Any]) -> str:
    value = option.default
    if value is None and option.metadata["group"] == config.LIMITS:
        return " [default: none]"
    if value in ((), None, ""):
        return ""
    if value is True:
        return " [default: yes]"
    unit = "s" if option.metadata["group"] == config.TIMEOUTS else ""
    return f" [default: {value:g}{unit}]" if unit else f" [default: {value}]"


xsgi.add_command(
    _Serve(
        "serve",
        callback=_serve,
        help=_serve.__doc__,
        epilog=_EPILOG,
        params=[
            click.Argument(["app"], metavar="MODULE:ATTRIBUTE"),
            *map(_click_option, config.options()),
        ],
    )
)


def main(args: list[str] | None = None) -> NoReturn:
    """The entry point: run the command and exit with the code for it."""
    try:
        code = xsgi.main(args, prog_name="xsgi", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = error.exit_code
    except click.ClickException as error:
        _complain(error.format_message())
        code = error.exit_code
    except Error as error:
        _show_cause(error)
        _complain(str(error))
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


def _complain(line: str) -> None:
    click.echo(f"xsgi: {line}", err=True)


def _show_cause(error: Error) -> None:
    """The traceback of the user's code, if it was that which failed."""
    cause = error.__cause__
    if isinstance(error, AppError) and cause is not None:
        trace = loader.user_traceback(cause)
        lines = traceback.format_exception(type(cause), cause, trace)
        click.echo("".join(lines), err=True, nl=False)
