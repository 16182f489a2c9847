"""SIGINT and SIGTERM: the first stops the server, the second the process.

The handler runs between two bytecodes of whatever the main thread does, so it
works while the application blocks the loop, unless that is C code that holds
the GIL: no handler of Python's works then. It only

 1. gives both signals their default action, which nothing can hold up, and
 2. starts a watchdog: whatever hangs, the process ends in bounded time.

The loop learns of the signal by its wake-up descriptor and stops the server.
Signals that come before the first has been handled are one with it: who sends
them has not seen it stop yet, and ``timeout`` and terminals send several.

A child that the application forks has the handlers and the descriptor, too. It
gets back what was there before: its signals are its own affair.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from xsgi.watchdog import Watchdog

SIGNALS = (signal.SIGINT, signal.SIGTERM)

#: The signals that have begun to stop this process.
came: list[int] = []

_Handlers = dict[signal.Signals, Any]

#: What ours stand in for, while they are there: a list because it is written.
_before: list[_Handlers] = []


def _give_back() -> None:
    """In a forked child: have signals as if there were no server."""
    if not _before:
        return
    signal.set_wakeup_fd(-1)  # else the parent would hear of ours
    for number, old in _before[0].items():
        signal.signal(number, signal.SIG_DFL if old is None else old)
    _before.clear()


os.register_at_fork(after_in_child=_give_back)


@contextmanager
def _remembered() -> Iterator[_Handlers]:
    """The handlers that are there now, which a forked child gets back."""
    before: _Handlers = {each: signal.getsignal(each) for each in SIGNALS}
    _before.append(before)
    try:
        yield before
    finally:
        if before in _before:  # not so in a child
            _before.remove(before)


def _settle(number: int) -> None:
    """Have done with all that has come so far.

    Python calls the handlers of all of them one after the other, and prints a
    traceback for one that has none by then.
    """
    for each in SIGNALS:
        signal.signal(each, _is_one_with_it)
    interrupt_main(number)  # go through all of them once more, right now


def _is_one_with_it(number: int, frame: FrameType | None) -> None:
    """The stop that it asks for has begun."""


@contextmanager
def _installed(watchdog: Watchdog, patience: float | None) -> Iterator[None]:
    """Our handlers, until the end."""

    def first(number: int, frame: FrameType | None) -> None:
        came.append(number)  # before another one would end the process
        _settle(number)
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        watchdog.start(patience)

    before = {each: signal.signal(each, first) for each in SIGNALS}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, signal.SIG_DFL if old is None else old)


@contextmanager
def on_loop(
    loop: asyncio.AbstractEventLoop,
    stop: Callable[[int], object],
    watchdog: Watchdog,
    patience: float | None,
) -> Iterator[None]:
    """Call ``stop(signal)`` on ``loop`` when one comes, in the main thread.

    ``patience`` is how long the shutdown may take from then on.
    """
    if not _is_main_thread():
        yield
        return
    with _remembered() as before:
        for each in SIGNALS:
            # For the loop's wake-up descriptor and its reader ...
            loop.add_signal_handler(each, stop, each)
        try:
            # ... and the handler itself is ours.
            with _installed(watchdog, patience):
                yield
        finally:
            for number, old in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, signal.SIG_DFL if old is None else old)


@contextmanager
def on_descriptor(
    watchdog: Watchdog, patience: float | None
) -> Iterator[socket.socket]:
    """A socket that gives the number of each signal that comes; likewise."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    with reader, writer:
        if not _is_main_thread():
            yield reader
            return
        with _remembered(), _installed(watchdog, patience):
            before = signal.set_wakeup_fd(
                writer.fileno(), warn_on_full_buffer=False
            )
            try:
                yield reader
            finally:
                signal.set_wakeup_fd(before)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
