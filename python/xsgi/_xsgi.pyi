"""The extension: the server core, its backends, and the gateways.

Not for applications: what they use is in ``xsgi``.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Any, Literal, final

__version__: str

def check_access_format(text: str, /) -> None:
    """Raise ValueError that says what is wrong with it, and where."""

def keep_for_ever(object: object, /) -> None:
    """It is not freed, not even when the interpreter ends."""

class ClientDisconnected(OSError):
    """What ``send()`` and ``write()`` raise when the client has gone."""

@final
class Backend:
    """What polls sockets (``"uv"``), or plays at it (``"sim"``).

    It is used by one thread at a time, and with a server by the one that made
    that. On others, and in a run what runs or closes, raises RuntimeError;
    clocks and counts may be read anywhere.
    """

    on_kick: Callable[[], Any] | None

    def __new__(
        cls,
        kind: Literal["uv", "sim"] | str = "uv",
        *,
        seed: int = 0,
        faults: bool = True,
    ) -> Backend: ...
    def select(self, timeout: float | None, /) -> Sequence[tuple[Any, int]]:
        """Run once, waiting at most ``timeout`` seconds; ready watches."""

    def watch(self, fd: int, events: int, key: Any, /) -> None:
        """Give ``key`` from ``select`` when ``fd`` is ready."""

    def unwatch(self, fd: int, /) -> None:
        """End the watch, before ``fd`` is closed."""

    def time(self) -> float:
        """The clock: monotonic seconds, virtual ones in a simulation."""

    def fileno(self) -> int:
        """Readable when ``select`` has work; -1 for a simulation."""

    def next(self) -> float | None:
        """Seconds until ``select`` wants to be called."""

    def trace_hash(self) -> int:
        """A number that sums up all that has happened in a simulation."""

    def calm(self) -> None:
        """A simulation has no more faults from now on."""

    def close(self) -> None:
        """End everything on it."""

@final
class Server:
    """One application on one backend."""

    on_stopped: Callable[[], Any] | None

    def __new__(
        cls,
        backend: Backend,
        app: Callable[..., Any],
        interface: Literal["asgi3", "wsgi"] | str,
        config: Any,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> Server: ...
    @property
    def stopped(self) -> bool:
        """No listener and no connection is left."""

    def listen(
        self,
        fd: int = -1,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        backlog: int = 2048,
    ) -> tuple[str, int]:
        """Listen on a socket, which is the server's from then on."""

    def stop(self, grace: float | None, /) -> None:
        """Let what runs finish within ``grace`` seconds, abort the rest."""

    def run(self) -> Sequence[tuple[Any, int]]:
        """Run until stopped or a watched descriptor is ready."""

    def cancel(self) -> None:
        """Cancel the tasks of all ASGI requests."""

    def close(self) -> None:
        """End everything at once."""

    def stats(self) -> dict[str, int]:
        """connections, requests, accepted, served, refused, running."""

@final
class SimPeer:
    """A client connected to a server in the simulation."""

    on_event: Callable[[], Any] | None

    def __new__(cls, backend: Backend, host: str, port: int) -> SimPeer: ...
    def write(self, data: bytes, /) -> int:
        """How many bytes fitted."""

    def read(self, max: int, /) -> bytes | None:
        """What has arrived, ``b""`` at the end, ``None`` if nothing now."""

    def shutdown(self) -> None:
        """End our stream."""

    def reset(self) -> None:
        """Reset the connection."""

    def close(self) -> None:
        """End both streams."""

@final
class Turns:
    """What a loop does for each callback and each turn, in C."""

    def __new__(
        cls,
        loop: asyncio.AbstractEventLoop,
        backend: Backend,
        failed: Callable[[asyncio.Handle, BaseException], Any],
    ) -> Turns: ...
    def call_soon(
        self,
        callback: Callable[..., Any],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """As ``loop.call_soon``."""

    def call_at(
        self,
        when: float,
        callback: Callable[..., Any],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """As ``loop.call_at``."""

    def call_later(
        self,
        delay: float,
        callback: Callable[..., Any],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """As ``loop.call_later``."""

    def run_once(self) -> None:
        """As ``loop._run_once``."""
