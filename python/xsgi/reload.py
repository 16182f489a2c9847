"""--reload: one process holds the sockets and watches, another one serves.

    bind, listen ─▶ start a child ─▶ wait ─┬─ files changed: stop the child ─┐
                      ▲      ▲             ├─ child is broken: wait ──┐      │
                      │      └─────────────┼── files changed ─────────┘      │
                      └────────────────────┼─────────────────────────────────┘
                                           ├─ a signal: stop the child, end
                                           └─ child has ended: so do we

The sockets listen all the time, so a client waits while there is no child,
and is not refused. Each child is a new interpreter: nothing is left of the
old modules.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any

from xsgi import config as options
from xsgi import log, sockets
from xsgi.changes import Watcher
from xsgi.config import Config
from xsgi.errors import ConfigError, Error, ProcessError
from xsgi.lifeline import BROKEN, orders
from xsgi.signals import SIGNALS

#: Seconds that running requests, and the lifespan's shutdown, get for a reload
#: if the options have their defaults. Others stand: somebody may be debugging.
GRACE = 2.0
LIFESPAN = 5.0

#: Seconds in which signals are one. Ctrl-C goes to all processes of a
#: terminal, and whoever has started this one may pass it on as well.
AT_ONCE = 0.5

#: Seconds beyond these until a child that does not stop is killed. It has a
#: watchdog of its own, which cannot bite while C code holds the interpreter.
MARGIN = 13.0


def run(config: Config) -> None:
    """Serve until a signal comes or the child ends by itself. Raises Error."""
    _check(config)
    with ExitStack() as stack:
        news = stack.enter_context(closing(_News()))
        watcher = Watcher(config, news.changed)
        listeners = sockets.bind(config)
        stack.callback(sockets.close_all, listeners)
        descriptors: list[int] = []
        for listener in listeners:
            listener.listen(config.backlog, descriptors.append)
            stack.callback(os.close, descriptors[-1])
        stack.callback(watcher.stop)
        watcher.start()
        log.error.info("watching %s", ", ".join(watcher.folders))
        with news.of_signals():
            _supervise(_for_child(config, descriptors), descriptors, news)
    if watcher.error is not None:
        raise watcher.error
    if len(news.signals) > 1:
        signal.raise_signal(news.signals[-1])


def _check(config: Config) -> None:
    orders(config)
    if threading.current_thread() is not threading.main_thread():
        raise ConfigError("works in the main thread only.", "reload")
    try:
        import watchfiles  # noqa: F401
    except ImportError:
        raise ConfigError(
            "watchfiles is not installed (pip install 'xsgi[reload]').",
            "reload",
        ) from None


def _for_child(config: Config, descriptors: list[int]) -> Config:
    """What a child serves: on the sockets that are there, and soon over."""
    return dataclasses.replace(
        config,
        reload=False,
        bind=[f"fd://{fd}" for fd in descriptors],
        host=None,
        port=None,
        uds=None,
        fd=None,
        timeout_graceful_shutdown=_unless_set(
            config, "timeout_graceful_shutdown", GRACE
        ),
        timeout_lifespan_shutdown=_unless_set(
            config, "timeout_lifespan_shutdown", LIFESPAN
        ),
    )


def _unless_set(config: Config, name: str, value: float) -> Any:
    given = getattr(config, name)
    return value if given == options.option_of(name).default else given


def _patience(config: Config) -> float | None:
    """Seconds that a child may take to stop."""
    grace, lifespan = (
        config.timeout_graceful_shutdown,
        config.timeout_lifespan_shutdown,
    )
    if grace is None or lifespan is None:
        return None
    return grace + lifespan + MARGIN


def _supervise(config: Config, descriptors: list[int], news: _News) -> None:
    while not (news.signals or news.failed):
        news.paths.clear()
        child = _Child(config, descriptors)
        try:
            _wait_for_a_reason(child, news)
        finally:
            child.stop(news)


def _wait_for_a_reason(child: _Child, news: _News) -> None:
    """To stop the child, or to start another. Raises ProcessError."""
    told = False
    while not (news.signals or news.paths or news.failed):
        if not child.runs() and not told:
            if not child.is_broken():
                raise child.ended()
            log.error.warning("not serving: waiting for a change")
            told = True
        news.wait()
    if news.paths and not news.signals:
        log.error.info("reloading: %s", _summary(news.paths))


def _summary(paths: list[str]) -> str:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(map(_short, paths[:3])) + more + " changed"


def _short(path: str) -> str:
    below = os.path.relpath(path)
    return path if below.startswith("..") else below


class _Child:
    """A process that serves, and its lifeline (see lifeline.py)."""

    def __init__(self, config: Config, descriptors: list[int]) -> None:
        self._patience = _patience(config)
        self._lifeline, theirs = socket.socketpair()
        with theirs:
            command = _command(theirs.fileno())
            fds = (*descriptors, theirs.fileno())
            try:
                self._process = subprocess.Popen(command, pass_fds=fds)
            except OSError as error:
                self._lifeline.close()
                reason = f"{command[0]} cannot be started: {error.strerror}."
                raise Error(reason) from None
        # If it has died already, that is seen later.
        with suppress(OSError):
            self._lifeline.sendall(orders(config))

    def runs(self) -> bool:
        return self._process.poll() is None

    def is_broken(self) -> bool:
        """It has ended because the application does not load or start up."""
        self._lifeline.setblocking(False)
        with suppress(OSError):
            return self._lifeline.recv(len(BROKEN)) == BROKEN
        return False

    def ended(self) -> ProcessError:
        """Why there is nothing to go on with."""
        code = self._process.returncode
        if code >= 0:
            text = f"the process that serves has ended with exit code {code}."
            return ProcessError(text, code)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        text = f"the process that serves was ended by {name}."
        return ProcessError(text, 128 - code)

    def stop(self, news: _News) -> None:
        """Ask it to stop, and make it. A second signal makes it at once."""
        number = news.signals[0] if news.signals else signal.SIGTERM
        with suppress(OSError):
            self._lifeline.send(bytes((number,)))
        self._lifeline.close()
        begun, left = time.monotonic(), self._patience
        while self.runs():
            if self._patience is not None:
                left = begun + self._patience - time.monotonic()
            if len(news.signals) > 1 or (left is not None and left <= 0):
                log.error.warning("killing the process that does not stop")
                self._process.kill()
                self._process.wait()
            else:
                news.wait(left)


def _command(lifeline_fd: int) -> list[str]:
    """A new interpreter like this one, with the same modules in reach.

    It writes no bytecode: that is taken for the source's as long as size and
    second are the same, and changes come faster than that.
    """
    path = [each for each in sys.path if isinstance(each, str)]
    code = (
        f"import sys; sys.path[:] = {path!r};"
        f" from xsgi import reloaded; reloaded.main({lifeline_fd})"
    )
    # Private, but what multiprocessing is made of, too.
    flags = subprocess._args_from_interpreter_flags()  # type: ignore
    return [sys.executable, *flags, "-B", "-c", code]


class _News:
    """What the main thread waits for: signals, changes, the child's end."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        #: SIGINT and SIGTERM, in their order.
        self.signals: list[int] = []
        self._first_at = 0.0
        #: Files that have changed since the child was started.
        self.paths: list[str] = []
        #: Nothing more is heard of changes.
        self.failed = False

    def changed(self, paths: list[str] | None) -> None:
        """On the watcher's thread."""
        self.failed = self.failed or paths is None
        self.paths += paths or ()
        with suppress(OSError):
            self._writer.send(b"\0")

    def wait(self, seconds: float | None = None) -> None:
        """Until there is something new, or nothing for so long."""
        self._reader.settimeout(seconds)
        with suppress(TimeoutError):
            numbers = self._reader.recv(64)
            for number in numbers:
                if number in SIGNALS:
                    self._came(number)

    def _came(self, number: int) -> None:
        now = time.monotonic()
        if not self.signals:
            self._first_at = now
        elif now < self._first_at + AT_ONCE:
            return  # one with the first
        self.signals.append(number)

    @contextmanager
    def of_signals(self) -> Iterator[None]:
        """Hear of signals, until the end."""
        wanted = (*SIGNALS, signal.SIGCHLD)
        before = {n: signal.signal(n, _nothing) for n in wanted}
        fd = signal.set_wakeup_fd(
            self._writer.fileno(), warn_on_full_buffer=False
        )
        try:
            yield
        finally:
            signal.set_wakeup_fd(fd)
            for number, old in before.items():
                signal.signal(number, signal.SIG_DFL if old is None else old)

    def close(self) -> None:
        self._reader.close()
        self._writer.close()


def _nothing(number: int, frame: object) -> None:
    """The number comes by the wake-up descriptor."""
