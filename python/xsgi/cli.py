"""The command line: Config's options as options of click."""

from __future__ import annotations

import dataclasses
import os
import sys
from typing import Any, NoReturn

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem, get_completion_class

from xsgi import __version__, complaints, config, kinds, show, sources
from xsgi.errors import Error

_EPILOG = (
    "Each option is also a variable, XSGI_TIMEOUT_WRITE=10s, and a key of the"
    ' table [tool.xsgi] in pyproject.toml, timeout_write = "10s". The command'
    " line beats the environment, and that the file."
)

#: What help and completion show below the options of Config.
_THIS_COMMAND = "This command"

_SHELLS = ("bash", "zsh", "fish")

#: How click shows the help to who says nothing; 8.1 has another way.
_NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", ())

#: What shells complete themselves, by the metavar of its kind.
_FILES = {"PATH": "file", "FOLDER": "dir"}


class _Text(click.ParamType):  # type: ignore[type-arg]
    """Text as it was typed; the kind of the option reads it later.

    So a value is read, and refused, in the same way wherever it is from.
    """

    def __init__(self, kind: kinds.Kind):
        self.name = kind.metavar
        self._kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        if self.name in _FILES:
            return [CompletionItem(incomplete, type=_FILES[self.name])]
        words = self._kind.words
        return [CompletionItem(w) for w in words if w.startswith(incomplete)]


class _Serve(click.Command):
    """A command whose options are listed in the groups of Config."""

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        for group in (*config.GROUPS, _THIS_COMMAND):
            members = [
                each.get_help_record(ctx)
                for each in self.get_params(ctx)
                if isinstance(each, click.Option)
                and getattr(each, "group", _THIS_COMMAND) == group
            ]
            with formatter.section(group):
                formatter.write_dl([row for row in members if row])


class _Group(click.Group):
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            target = next((f" {arg}" for arg in args if ":" in arg), "")
            ctx.fail(
                f"No such command {name!r}. Did you mean 'xsgi serve{target}'?"
            )
        return super().resolve_command(ctx, args)


_version = click.version_option(
    __version__, prog_name="xsgi", message="%(prog)s %(version)s"
)


@_version
@click.group(
    cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}
)
def xsgi() -> None:
    """A server for WSGI and ASGI applications."""


@xsgi.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
def _completion(shell: str) -> None:
    """Print what makes SHELL complete this command.

    \b
    bash: eval "$(xsgi completion bash)"     in ~/.bashrc
    zsh:  eval "$(xsgi completion zsh)"      in ~/.zshrc, after compinit
    fish: xsgi completion fish | source      in ~/.config/fish/config.fish
    """
    complete = get_completion_class(shell)
    assert complete is not None
    click.echo(complete(xsgi, {}, "xsgi", "_XSGI_COMPLETE").source())


@click.pass_context
def _serve(ctx: click.Context, /, **given: Any) -> None:
    """Serve the application ATTRIBUTE of the Python module MODULE.

    It listens at http://127.0.0.1:8000 unless told otherwise.
    """
    flags = {
        name: value
        for name, value in given.items()
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    file, shows = flags.pop("config", None), flags.pop("show_config", False)
    for line in sources.strangers(os.environ):
        complaints.say(line)
    settings = sources.gather(flags, os.environ, file)
    if shows:
        # As bytes: a path need not be what the terminal can show.
        text = show.as_toml(settings)
        click.echo(text.encode("utf-8", "surrogateescape"), nl=False)
        return
    for line in sources.concurrency(os.environ, settings):
        complaints.say(line)
    if "app" not in settings:
        ctx.fail("Missing what to serve, as in 'xsgi serve main:app'.")
    from xsgi import runner

    runner.run(sources.config_of(settings))


def _click_option(option: dataclasses.Field[Any]) -> click.Option:
    kind: kinds.Kind = option.metadata["kind"]
    names = sources.flags_of(option)
    extra: dict[str, Any] = {"type": _Text(kind), "metavar": kind.metavar}
    if kind is kinds.flag:
        extra = {"is_flag": True}
        names[-1] += f"/--no-{names[-1][2:]}"  # a file may say it, too
    text, default = option.metadata["help"], show.default(option)
    result = click.Option(
        [*names, option.name],
        default=None,
        help=f"{text} [default: {default}]" if default else text,
        multiple=kind.item is not None,
        **extra,
    )
    result.group = option.metadata["group"]  # type: ignore[attr-defined]
    return result


_serve_command = _version(
    _Serve(
        "serve",
        callback=_serve,
        help=_serve.__doc__,
        epilog=_EPILOG,
        params=[
            click.Argument(
                ["app"], required=False, metavar="[MODULE:ATTRIBUTE]"
            ),
            *map(_click_option, config.options()),
            click.Option(
                ["--config"],
                type=_Text(kinds.path),
                metavar="FILE",
                help="TOML file of options, instead of pyproject.toml.",
            ),
            click.Option(
                ["--show-config"],
                is_flag=True,
                help="Print every option and its source; do not serve.",
            ),
        ],
    )
)
xsgi.add_command(_serve_command)


def main(args: list[str] | None = None) -> NoReturn:
    """The entry point: run the command and exit with the code for it."""
    try:
        code = xsgi.main(args, prog_name="xsgi", standalone_mode=False)
    except _NO_ARGUMENTS as error:
        error.show()
        code = error.exit_code
    except click.ClickException as error:
        complaints.of_click(error)
        code = error.exit_code
    except Error as error:
        complaints.of(error)
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = 130
    sys.exit(code if isinstance(code, int) else 0)
