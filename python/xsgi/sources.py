"""Where the values of options come from, strongest first:

    command line  ▶  environment  ▶  file  ▶  default

Each value is kept with its source, so that what is wrong with it is told
where it can be mended. Only the ``xsgi`` command looks at the environment and
at files; ``xsgi.run`` takes what it is given.
"""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from xsgi import config, foreign, kinds
from xsgi.config import Config
from xsgi.errors import ConfigError, plain, said

PREFIX = "XSGI_"

#: The variable of the option --config, which is none of Config's.
CONFIG_FILE = PREFIX + "CONFIG"

#: Variables that other servers have, too. Ours are stronger.
SHARED = {"FORWARDED_ALLOW_IPS": "forwarded_allow_ips"}

#: How many processes others start if nobody says it.
CONCURRENCY = "WEB_CONCURRENCY"

#: The file that is looked for where the command is run.
PYPROJECT = "pyproject.toml"

#: Bytes. What is larger is not a file of options.
FILE_MAX = 1 << 20

_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}

#: Ways to say where to listen. Host and port are one of them together.
_PLACES = {
    "bind": "bind",
    "host": "host and port",
    "port": "host and port",
    "uds": "uds",
    "fd": "fd",
}


#: What is no flag on the command line.
_POSITION = {"app": "MODULE:ATTRIBUTE"}


@dataclass(frozen=True)
class Source:
    """A flag, a variable, or a key in a file."""

    key: str
    file: str = ""

    def __str__(self) -> str:
        return f"{self.key} in {self.file}" if self.file else self.key


@dataclass(frozen=True)
class Setting:
    """What one source says of one option."""

    value: Any
    source: Source
    #: False if a stronger source says something that displaces it.
    used: bool = True


Settings = dict[str, Setting]


def gather(
    flags: Mapping[str, Any], environ: Mapping[str, str], file: str | None
) -> Settings:
    """What is said of each option, by the strongest source that does.

    ``flags`` are from the command line, ``file`` is that of --config. Raises
    ConfigError.
    """
    found = from_flags(flags)
    for weaker in (from_environment(environ), from_file(environ, file)):
        found = {**_displaced(weaker, found), **found}
    return found


def config_of(settings: Settings) -> Config:
    """The Config of ``settings``. Raises ConfigError that names the source."""
    values = {name: each.value for name, each in settings.items() if each.used}
    try:
        return Config(**values)
    except ConfigError as error:
        if error.option not in settings:
            raise
        raise _wrong(settings[error.option].source, error.reason) from None


def flag_of(name: str) -> str:
    return "--" + name.replace("_", "-")


def flags_of(option: dataclasses.Field[Any]) -> list[str]:
    """All that it is called on the command line, short ones first."""
    others = option.metadata["flags"]
    short = [flag for flag in others if not flag.startswith("--")]
    long = [flag for flag in others if flag.startswith("--")]
    return [*short, flag_of(option.name), *long]


def variable_of(name: str) -> str:
    return PREFIX + name.upper()


def from_flags(flags: Mapping[str, Any]) -> Settings:
    return {
        name: Setting(value, Source(_POSITION.get(name, flag_of(name))))
        for name, value in flags.items()
    }


def from_environment(environ: Mapping[str, str]) -> Settings:
    """The variables XSGI_* and SHARED; an empty one says nothing."""
    found: Settings = {}
    for name in config.names():
        variable = variable_of(name)
        text = environ.get(variable, "")
        if text:
            source = Source(variable)
            found[name] = Setting(_from_text(name, text, source), source)
    for variable, name in SHARED.items():
        if environ.get(variable) and name not in found:
            found[name] = Setting(environ[variable], Source(variable))
    return found


def _from_text(name: str, text: str, source: Source) -> Any:
    """Text for what the command line has a flag or a repetition for."""
    kind = _kind(name)
    if kind is kinds.flag:
        if text.lower() not in _WORDS:
            reason = f"{said(text)} is not one of 1, 0, true, false, yes, no."
            raise _wrong(source, reason)
        return _WORDS[text.lower()]
    if kind.item is not None:
        return [part for part in re.split(r"[\s,]+", text) if part]
    return text


def concurrency(
    environ: Mapping[str, str], settings: Settings
) -> Iterator[str]:
    """A line if there are fewer processes than others would start.

    Platforms set this variable without being asked: no reason not to serve.
    """
    wanted = environ.get(CONCURRENCY, "")
    if wanted not in ("", "1") and "workers" not in settings:
        value = said(wanted)
        yield f"{CONCURRENCY} is {value}, and ignored: xsgi runs one process."


def strangers(environ: Mapping[str, str]) -> Iterator[str]:
    """A line for each variable XSGI_* that is none of ours.

    It may be another version's, or the application's: no reason not to
    serve. But one that asks for what is not there yet, such as TLS, is.
    """
    known = {CONFIG_FILE, *map(variable_of, config.names())}
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable in known:
            continue
        name = variable[len(PREFIX) :].lower()
        if name.startswith("sim_"):
            continue  # of the simulation
        hint = foreign.hint(flag_of(name))
        if hint is not None:
            raise ConfigError(f"{variable}: {hint}")
        guess = foreign.guess(name, config.spellings())
        meant = f" Did you mean {variable_of(guess)}?" if guess else ""
        yield f"{variable} is not an option, and ignored.{meant}"


def from_file(environ: Mapping[str, str], file: str | None) -> Settings:
    """The keys of a TOML file: ``file``, $XSGI_CONFIG, or pyproject.toml.

    Those of the table [tool.xsgi], or all of a file that has none.
    """
    asked = file or environ.get(CONFIG_FILE, "")
    path = asked or PYPROJECT
    table, prefix = _table(path, _load(path, bool(asked)), bool(asked))
    found: Settings = {}
    for key, value in table.items():
        source = Source(plain(prefix + key), plain(path))
        name = key.replace("-", "_")
        if name not in config.names():
            hint = foreign.hint(flag_of(name))
            if hint is not None:
                raise ConfigError(f"{source}: {hint}")
            guess = foreign.guess(name, config.spellings())
            meant = f" Did you mean {guess}?" if guess else ""
            raise ConfigError(f"{source} is not an option.{meant}")
        if name in found:
            raise ConfigError(f"{source} is there twice.")
        # 660 is not 0o660, which TOML's reader would not tell apart.
        if _kind(name) is kinds.permissions and not isinstance(value, str):
            raise _wrong(source, 'write it in quotes, as in "660".')
        if name == "app" and not isinstance(value, str):
            raise _wrong(source, f"{said(value)} is not MODULE:ATTRIBUTE.")
        found[name] = Setting(value, source)
    return found


def _load(path: str, must_exist: bool) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        with open(path, "rb") as stream:
            data = stream.read(FILE_MAX + 1)
    except FileNotFoundError:
        if not must_exist:
            return {}
        raise ConfigError(
            f"cannot read {plain(path)}: there is no such file."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"cannot read {plain(path)}: {reason}.") from None
    if len(data) > FILE_MAX:
        raise ConfigError(f"{plain(path)} is too large for a file of options.")
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"{plain(path)} is not TOML: {reason}.") from None


def _table(
    path: str, data: dict[str, Any], must_have: bool
) -> tuple[dict[str, Any], str]:
    """The options' table, and what stands before their names."""
    tool = data.get("tool")
    if isinstance(tool, dict) and "xsgi" in tool:
        table = tool["xsgi"]
        if not isinstance(table, dict):
            raise ConfigError(f"tool.xsgi in {plain(path)} is not a table.")
        return table, "tool.xsgi."
    if os.path.basename(path) != PYPROJECT:
        return data, ""
    if must_have:
        raise ConfigError(f"{plain(path)} has no table [tool.xsgi].")
    return {}, ""


def _displaced(weaker: Settings, stronger: Settings) -> Settings:
    """``weaker``, of which ``stronger`` displaces places to listen.

    Who says --port 81 does not also want to listen at the file's unix socket.
    """
    taken = {
        _PLACES[name]
        for name, setting in stronger.items()
        if setting.used and name in _PLACES
    }
    if not taken:
        return weaker
    return {
        name: dataclasses.replace(
            setting, used=_PLACES.get(name) in {None, *taken}
        )
        for name, setting in weaker.items()
    }


def _kind(name: str) -> kinds.Kind:
    if name == "app":
        return kinds.text
    kind: kinds.Kind = config.option_of(name).metadata["kind"]
    return kind


def _wrong(source: Source, reason: str) -> ConfigError:
    where = f" in {source.file}" if source.file else ""
    return ConfigError(f"Invalid value for '{source.key}'{where}: {reason}")
