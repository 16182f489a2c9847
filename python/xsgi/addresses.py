"""Where to listen, as text and as a value: "localhost:8000" is a Tcp."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xsgi.errors import ConfigError, said

#: Where to listen if nothing else is said.
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000

_HOST_PORT = re.compile(r"(?:\[(?P<v6>[^\]]*)\]|(?P<host>[^:\[\]]*)):(\d{1,5})")
_FD = re.compile(r"fd://(\d{1,6})")

# What is no address, but a part of one.
_PORT = re.compile(r"\d{1,5}", re.ASCII)
_PATH = re.compile(r"[\w.-]{0,60}/[\w./-]{1,60}")
_HOST = re.compile(r"(?=.*[A-Za-z.])[A-Za-z0-9.-]{1,60}")


@dataclass(frozen=True)
class Tcp:
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True)
class Unix:
    path: str

    def __str__(self) -> str:
        return f"unix:{self.path}"


@dataclass(frozen=True)
class Fd:
    fd: int

    def __str__(self) -> str:
        return f"fd://{self.fd}"


Address = Tcp | Unix | Fd


def has_port(host: str) -> bool:
    """Whether it is a host with a port: an IPv6 address alone is not."""
    return _HOST_PORT.fullmatch(host) is not None


def parse(text: str) -> Address:
    """The address that ``text`` names. Raises ConfigError."""
    if text.startswith("unix:") and len(text) > len("unix:"):
        return Unix(text[len("unix:") :])
    match = _FD.fullmatch(text)
    if match is not None:
        return Fd(int(match[1]))
    match = _HOST_PORT.fullmatch(text)
    if match is not None and int(match[3]) <= 65535:
        host = match["v6"] if match["v6"] is not None else match["host"]
        return Tcp(host, int(match[3]))
    raise ConfigError(
        f"{said(text)} is not an address: write HOST:PORT, [IPV6]:PORT,"
        f" unix:PATH or fd://N{_as_in(text)}."
    )


def _as_in(text: str) -> str:
    """What may have been meant by a part of an address that stands alone."""
    if _PORT.fullmatch(text) and int(text) <= 65535:
        return f", as in 127.0.0.1:{text}"
    if _PATH.fullmatch(text):
        return f", as in unix:{text}"
    if _HOST.fullmatch(text):
        return f", as in {text}:8000"
    return ""
