"""Options for people: defaults in the help, all values as a TOML file."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from xsgi import __version__, addresses, config, kinds, sources
from xsgi.config import Config
from xsgi.errors import plain
from xsgi.sources import Settings

Option = dataclasses.Field[Any]

#: The column of the sources, if the values leave it free.
COLUMN = 38


def default(option: Option) -> str:
    """The default as one would write it; empty if its help says it."""
    value = option.default
    meta = option.metadata
    if "[default" in meta["help"] or value is False:
        return ""
    if value is None and meta["group"] in (config.LIMITS, config.TIMEOUTS):
        return "none"
    if value in ((), None, ""):
        return ""
    if value is True:
        return "yes"
    if meta["kind"].metavar == "TIME":
        return f"{value:g}s"
    return str(value)


def as_toml(settings: Settings) -> str:
    """Each option, its value and its source, as a file for --config."""
    app = settings.get("app")
    checked = sources.config_of({**_NO_APP, **settings})
    from xsgi import sockets  # slow

    lines = [
        f"# xsgi {__version__}: every option, and where its value comes from.",
        "# This is a file for --config.",
        "",
        _line("app", _value(checked.app), settings)
        if app
        else "# app: not set",
    ]
    for group in config.GROUPS:
        lines += ["", f"# {group}"]
        if group == config.ADDRESSES:
            places = map(str, sockets.addresses(checked))
            lines.append(f"# This is at {', '.join(map(plain, places))}")
        for option in config.options():
            if option.metadata["group"] == group:
                lines.append(_option_line(option, checked, settings))
    return "\n".join(lines) + "\n"


_NO_APP = {"app": sources.Setting("", sources.Source("app"))}


def _option_line(option: Option, checked: Config, settings: Settings) -> str:
    value = getattr(checked, option.name)
    if option.metadata["kind"] is kinds.permissions:
        value = f"{value:o}"
    default = _default_place(option.name, checked)
    return _line(option.name, _value(value), settings, default)


#: What stands for a place that is not set.
_PLACES = {"host": addresses.DEFAULT_HOST, "port": addresses.DEFAULT_PORT}


def _default_place(name: str, checked: Config) -> str:
    """The source of an option that has not been set.

    Host and port are a place if there is no other, or one of them is set. The
    default is not shown as their value: a file that has it would listen there
    next to sockets that the service manager passes.
    """
    if name not in _PLACES or getattr(checked, name) is not None:
        return "default"
    others = [each for each in ("bind", "uds", "fd") if _is_set(checked, each)]
    if others and not any(_is_set(checked, each) for each in _PLACES):
        return f"not used, as there is {' and '.join(others)}"
    return f"default: {_PLACES[name]}"


def _is_set(checked: Config, name: str) -> bool:
    return getattr(checked, name) not in ((), None)


def _line(
    name: str, value: str, settings: Settings, default: str = "default"
) -> str:
    setting = settings.get(name)
    source = default
    if setting is not None and setting.used:
        source = f"from {setting.source}"
    elif setting is not None:
        source = f"{default}; {setting.source} has given way"
    return f"{f'{name} = {value}':<{COLUMN}} # {source}"


def _value(value: Any) -> str:
    """TOML for ``value``, such as its kind reads again."""
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        # A string of JSON is one of TOML, but for this character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
