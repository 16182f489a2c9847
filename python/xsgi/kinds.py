"""The kinds of option values: text or Python value in, checked value out.

Each kind is called with a value and gives it back as the server wants it, or
raises ValueError with a text that completes the sentence "Invalid value for
--option: ...". The command line, the environment, files and ``xsgi.Config``
share them, so they accept the same things everywhere.
"""

from __future__ import annotations

import ipaddress
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xsgi import addresses
from xsgi import proxies as _proxies
from xsgi.errors import said


@dataclass(frozen=True)
class Kind:
    """What values an option may have."""

    read: Callable[[Any], Any]
    #: What stands for a value in the help; empty for what has none.
    metavar: str
    #: All values that there are, if they can be counted.
    words: tuple[str, ...] = ()
    #: The kind of each value of an option that may be repeated.
    item: Kind | None = None

    def __call__(self, value: Any) -> Any:
        return self.read(value)


_SECONDS = {"": 1.0, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_BYTES = {
    "": 1,
    "b": 1,
    "k": 1 << 10,
    "kb": 10**3,
    "kib": 1 << 10,
    "m": 1 << 20,
    "mb": 10**6,
    "mib": 1 << 20,
    "g": 1 << 30,
    "gb": 10**9,
    "gib": 1 << 30,
}
_NUMBER = re.compile(
    r"(\d{1,18}(?:\.\d{1,18})?)\s*([a-z]{,3})", re.IGNORECASE | re.ASCII
)

#: What switches a limit or a timeout off.
NONE_WORDS = ("none", "off")


def _patience(value: Any) -> float | None:
    if _is_none(value):
        return None
    seconds = _scaled(value, _SECONDS)
    # A day-long year: beyond it nanoseconds in 64 bits come into sight.
    if seconds is None or not seconds <= 366 * 24 * 3600:
        raise ValueError(
            f"{said(value)} is not a duration such as 30, 30s or 5m."
        )
    return seconds


def _duration(value: Any) -> float | None:
    seconds = _patience(value)
    if seconds == 0:
        raise ValueError("must be more than 0; 'none' is without limit.")
    return seconds


def _pause(value: Any) -> float:
    seconds = _scaled(value, _SECONDS)
    if seconds is None or not seconds <= 60:
        raise ValueError(
            f"{said(value)} is not a duration from 0 to 60 seconds."
        )
    return seconds


def _size(value: Any) -> int | None:
    if _is_none(value):
        return None
    count = _scaled(value, _BYTES)
    if count is None or count != int(count) or count >= 1 << 63:
        raise ValueError(
            f"{said(value)} is not a size such as 8190, 64KiB, 1MiB."
        )
    return int(count)


def _permissions(value: Any) -> int:
    mode = value
    if isinstance(value, str):
        digits = value.removeprefix("0o")
        mode = int(digits, 8) if re.fullmatch("[0-7]{1,4}", digits) else None
    if not _is_int(mode) or not 0 <= mode <= 0o777:
        raise ValueError(f"{said(value)} is not an octal mode such as 660.")
    return int(mode)


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"{said(value)} is neither True nor False.")


def _text(value: Any) -> str:
    if isinstance(value, str) and value.isprintable():
        return value
    raise ValueError(f"{said(value)} is not plain text.")


def _path(value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        name = os.fspath(value)
        if isinstance(name, str) and name and "\0" not in name:
            return name
    raise ValueError(f"{said(value)} is not a path.")


def _root_path(value: Any) -> str:
    prefix = _text(value).rstrip("/")
    if prefix and not prefix.startswith("/"):
        raise ValueError(f"{said(value)} does not begin with '/'.")
    return prefix


_HOST = re.compile(r"(?:\*?\.)?[a-z0-9_-][a-z0-9._-]*|\[[0-9a-f:.]+\]")


def _hosts(value: Any) -> tuple[str, ...]:
    """Names and addresses: a sequence, or text with commas; "*" is all."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, Sequence):
        raise ValueError(f"{said(value)} is not a list of hosts.")
    names = [each.strip().lower() for each in map(_text, value) if each]
    for name in names:
        if name != "*" and not _is_host(name):
            raise ValueError(
                f"{said(name)} is not a host: a.example, .example, *.example"
                " or [::1], without a port."
            )
    return () if "*" in names else tuple(names)


def _is_host(name: str) -> bool:
    if _HOST.fullmatch(name) is None:
        return False
    try:
        if name.startswith("["):
            ipaddress.IPv6Address(name[1:-1])
    except ValueError:
        return False
    return True


def _host(value: Any) -> str:
    host = _text(value)
    if addresses.has_port(host):
        raise ValueError(
            f"{said(value)} has a port: that is for port, or bind."
        )
    return host


def _socket_path(value: Any) -> str:
    path = _path(value)
    if path.startswith("unix:"):
        raise ValueError(f"{said(value)}: the path stands alone here.")
    return path


def _access_format(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{said(value)} is not text.")
    if value != "default":  # what reads it is in C, as are the names
        from xsgi import _xsgi

        try:
            _xsgi.check_access_format(value)
        except ValueError as error:
            reason = str(error).replace(repr(value), said(value))
            raise ValueError(reason) from None
    return value


def _log_config(value: Any) -> str | dict[str, Any]:
    return value if isinstance(value, dict) else _path(value)


def _address(value: Any) -> str:
    addresses.parse(_text(value))
    return str(value)


#: Seconds above 0; ``None`` for no limit. Text: 30, 30s, 500ms, 5m, 1h.
duration = Kind(_duration, "TIME")

#: As ``duration``, and 0 is at once.
patience = Kind(_patience, "TIME")

#: Seconds, 0 or more, at most a minute.
pause = Kind(_pause, "TIME")

#: Bytes, 0 or more; ``None`` for no limit. Text: 65536, 64KiB, 1MiB.
size = Kind(_size, "SIZE")

#: The mode of a file: octal digits as text, or a number.
permissions = Kind(_permissions, "MODE")

#: True or False.
flag = Kind(_flag, "", ("true", "false"))

#: Text without control characters.
text = Kind(_text, "TEXT")

#: A file's path: not empty, no NUL.
path = Kind(_path, "PATH")

#: A folder's path, or "" for the current one.
folder = Kind(lambda value: _path(value) if value != "" else "", "FOLDER")

#: The path below which the application is mounted: "" or "/prefix".
root_path = Kind(_root_path, "PATH")

#: The format of the access log; see docs/logging.md.
access_format = Kind(_access_format, "FORMAT")

#: A file, or what would be in it.
log_config = Kind(_log_config, "FILE")

#: Addresses and networks of proxies.
proxies = Kind(_proxies.read, "LIST")

#: Hosts that are served.
hosts = Kind(_hosts, "HOSTS")

#: A host's name or address.
host = Kind(_host, "TEXT")

#: The path of a unix socket.
socket_path = Kind(_socket_path, "PATH")

#: What addresses.py reads; it stays text.
address = Kind(_address, "ADDRESS")


def whole(low: int, high: int) -> Kind:
    """A whole number from ``low`` to ``high``."""

    def read(value: Any) -> int:
        number = _whole(value)
        if number is None or not low <= number <= high:
            raise ValueError(
                f"{said(value)} is not a whole number from {low} to {high}."
            )
        return number

    return Kind(read, "N")


def _workers(value: Any) -> int:
    if _whole(value) != 1:
        raise ValueError(
            f"xsgi runs one process, so {said(value)} cannot be: --threads is"
            " for WSGI, and a service manager can run several of it."
        )
    return 1


#: Other servers have more, so people say that they want one.
workers = Kind(_workers, "1")


def optional(kind: Kind) -> Kind:
    """``kind``, or ``None`` ("none" as text)."""

    def read(value: Any) -> Any:
        return None if _is_none(value) else kind(value)

    return replace(kind, read=read)


def sized(low: int, high: int) -> Kind:
    """A size from ``low`` to ``high`` bytes."""

    def read(value: Any) -> int:
        count = size(value)
        if count is None or not low <= count <= high:
            raise ValueError(f"must be from {low} to {high} bytes.")
        return int(count)

    return Kind(read, "SIZE")


def choice(*words: str, **others: str) -> Kind:
    """One of ``words``; ``others`` are further names for some of them."""

    def read(value: Any) -> str:
        word = value.lower() if isinstance(value, str) else ""
        word = others.get(word, word)
        if word in words:
            return word
        raise ValueError(f"{said(value)} is not one of {', '.join(words)}.")

    return Kind(read, "|".join(words), words)


def several(kind: Kind) -> Kind:
    """A sequence of ``kind``, or one of it."""

    def read(value: Any) -> tuple[Any, ...]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            value = (value,)
        return tuple(kind(item) for item in value)

    return replace(kind, read=read, item=kind)


def _is_none(value: Any) -> bool:
    if isinstance(value, str):
        return value.lower() in NONE_WORDS
    return value is None


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _whole(value: Any) -> int | None:
    if _is_int(value):
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"\d{1,18}", value, re.ASCII):
        return int(value)
    return None


def _scaled(value: Any, units: dict[str, Any]) -> float | None:
    """``value`` in units of one, or None if it is no such thing."""
    if _is_int(value):
        return value if 0 <= value < 1 << 63 else None
    if isinstance(value, float):
        return value if math.isfinite(value) and value >= 0 else None
    match = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[2].lower() not in units:
        return None
    number = float(match[1]) if "." in match[1] else int(match[1])
    scaled: float = number * units[match[2].lower()]
    return scaled
