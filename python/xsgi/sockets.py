"""Addresses to listening sockets: parse, resolve, bind, and tidy up.

    "localhost:8000" --parse--> Tcp --bind--> Listener (bound) --listen-->

A socket is bound before the application starts, so that a taken port is told
at once, and listens when it is ready, so that nobody is kept waiting.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xsgi.addresses import (
    DEFAULT_HOST,
    DEFAULT_PORT,
    Address,
    Fd,
    Tcp,
    Unix,
    parse,
)
from xsgi.config import Config
from xsgi.errors import BindError, ConfigError

#: What one server of the core takes (XS_LISTENERS_MAX; see test_config.py).
ADDRESSES_MAX = 16

#: systemd's first descriptor (sd_listen_fds(3)).
LISTEN_FDS_START = 3


def addresses(config: Config) -> list[Address]:
    """Where ``config`` says to listen, in the order of the options.

    Sockets that the service manager passed (LISTEN_FDS) come first; the
    default address is used only if there is nothing else.
    """
    found: list[Address] = [Fd(fd) for fd in _inherited_fds()]
    found += [parse(text) for text in config.bind]
    if config.host is not None or config.port is not None:
        host = DEFAULT_HOST if config.host is None else config.host
        port = DEFAULT_PORT if config.port is None else config.port
        found.append(Tcp(host.removeprefix("[").removesuffix("]"), port))
    if config.uds is not None:
        found.append(Unix(config.uds))
    if config.fd is not None:
        found.append(Fd(config.fd))
    return list(dict.fromkeys(found)) or [Tcp(DEFAULT_HOST, DEFAULT_PORT)]


def _inherited_fds() -> Iterable[int]:
    """The descriptors of LISTEN_FDS, once: children must not see them."""
    pid = os.environ.get("LISTEN_PID", "")
    count = os.environ.get("LISTEN_FDS", "")
    if pid != str(os.getpid()) or not count.isdecimal():
        return ()
    for name in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"):
        os.environ.pop(name, None)
    return range(LISTEN_FDS_START, LISTEN_FDS_START + int(count))


class Listener:
    """A bound socket. ``close`` also removes the file of a unix socket."""

    def __init__(self, sock: socket.socket, inode: os.stat_result | None):
        self._sock = sock
        self._inode = inode
        self._name = sock.getsockname()
        self._is_unix = sock.family == socket.AF_UNIX

    @property
    def url(self) -> str:
        """What to tell people."""
        if self._is_unix:
            return f"unix:{os.fsdecode(self._name)}"
        return f"http://{Tcp(*self._name[:2])}"

    @property
    def port(self) -> int:
        return 0 if self._is_unix else int(self._name[1])

    def listen(self, backlog: int, take: Callable[[int], object]) -> None:
        """Listen, and give the descriptor to ``take``. Raises BindError."""
        try:
            self._sock.listen(backlog)
            take(self._sock.fileno())
        except OSError as error:
            raise _refused(self.url.removeprefix("http://"), error) from None
        self._sock.detach()

    def close(self) -> None:
        """Close what was not given away; unlink what is still ours."""
        self._sock.close()
        if self._inode is None:
            return
        with contextlib.suppress(OSError):
            if os.path.samestat(os.lstat(self._name), self._inode):
                os.unlink(self._name)
        self._inode = None


def bind(config: Config) -> list[Listener]:
    """Bind every address of ``config``, or none. Raises BindError."""
    listeners: list[Listener] = []
    wanted = addresses(config)
    if len(wanted) > ADDRESSES_MAX:
        raise ConfigError(f"bind: at most {ADDRESSES_MAX} addresses.")
    try:
        for address in wanted:
            if isinstance(address, Tcp):
                listeners += _bind_tcp(address, wanted)
            elif isinstance(address, Unix):
                listeners.append(_bind_unix(address, config.uds_permissions))
            else:
                listeners.append(_adopt(address))
    except BaseException:
        close_all(listeners)
        raise
    return listeners


def close_all(listeners: Iterable[Listener]) -> None:
    for listener in listeners:
        listener.close()


def _bind_tcp(address: Tcp, wanted: Sequence[Address]) -> list[Listener]:
    """A socket for each address of the host that this machine has."""
    listeners: list[Listener] = []
    absent: OSError | None = None
    port = address.port
    for family, sockaddr in _resolve(address):
        # The port that the first got if any was asked for.
        sockaddr = (sockaddr[0], port, *sockaddr[2:])
        try:
            listeners.append(_bind_one(family, sockaddr, wanted))
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                absent = error
                continue
            close_all(listeners)
            raise _refused(str(address), error) from None
        port = listeners[-1].port
    if not listeners and absent is not None:
        raise _refused(str(address), absent) from None
    return listeners


def _resolve(address: Tcp) -> list[tuple[int, tuple[Any, ...]]]:
    try:
        found = socket.getaddrinfo(
            address.host or None,
            address.port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE,
            family=socket.AF_UNSPEC if address.host else socket.AF_INET,
        )
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BindError(
            f"cannot listen at {address}: host {address.host!r} cannot be"
            f" resolved ({reason})."
        ) from None
    pairs: dict[tuple[int, tuple[Any, ...]], None] = {
        (entry[0], entry[4]): None for entry in found
    }
    return list(pairs)


def _bind_one(
    family: int, sockaddr: tuple[Any, ...], wanted: Sequence[Address]
) -> Listener:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            only = int(not _takes_ipv4(sockaddr, wanted))
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only)
        sock.bind(sockaddr)
        return Listener(sock, None)
    except BaseException:
        sock.close()
        raise


def _takes_ipv4(sockaddr: tuple[Any, ...], wanted: Sequence[Address]) -> bool:
    """Whether an IPv6 socket takes IPv4 too, the same on every system.

    ``[::]`` does, unless an IPv4 address of the same port is to be bound.
    """
    return sockaddr[0] == "::" and not any(
        isinstance(other, Tcp)
        and ":" not in other.host
        and other.port == sockaddr[1]
        for other in wanted
    )


def _bind_unix(address: Unix, permissions: int) -> Listener:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(address.path)
        sock.bind(address.path)
        # Nobody can connect before listen(), so the mode is never too wide.
        os.chmod(address.path, permissions)
        return Listener(sock, os.lstat(address.path))
    except OSError as error:
        sock.close()
        raise _refused(str(address), error) from None


def _remove_stale(path: str) -> None:
    """Remove a socket that nothing listens at. Raises OSError if it lives."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise OSError(errno.EEXIST, "there is a file that is not a socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
        except BlockingIOError:
            pass  # its backlog is full: it lives
    raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))


def _adopt(address: Fd) -> Listener:
    try:
        sock = socket.socket(fileno=address.fd)
    except OSError as error:
        raise BindError(
            f"cannot listen at {address}: it is not an open socket"
            f" ({os.strerror(error.errno or 0)})."
        ) from None
    if sock.type != socket.SOCK_STREAM or sock.family not in (
        socket.AF_INET,
        socket.AF_INET6,
        socket.AF_UNIX,
    ):
        sock.detach()
        raise BindError(
            f"cannot listen at {address}: it is not a TCP or unix stream"
            " socket."
        )
    return Listener(sock, None)


def _refused(where: str, error: OSError) -> BindError:
    """The one line for an address that cannot be had."""
    reasons = {
        errno.EADDRINUSE: "something else listens there already; --port or"
        " --bind choose another place.",
        errno.EACCES: "no permission; ports below 1024 need a privilege.",
        errno.EADDRNOTAVAIL: "this machine does not have that address.",
        errno.ENOENT: "the folder does not exist.",
    }
    if where.startswith("unix:"):
        reasons[errno.EACCES] = "no permission to create a file there."
        reasons[errno.EADDRINUSE] = "something else listens there already."
    reason = reasons.get(error.errno or 0)
    if reason is None:
        reason = f"{error.strerror or error}."
    return BindError(f"cannot listen at {where}: {reason}")
