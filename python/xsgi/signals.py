"""SIGINT and SIGTERM: the first stops the server, the second the process.

The handler runs between two bytecodes of whatever the main thread does, so it
works while the application blocks the loop. It only

 1. gives both signals their default action, which nothing can hold up, and
 2. starts a watchdog: whatever hangs, the process ends in bounded time.

The loop learns of the signal by its wake-up descriptor and stops the server.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from xsgi import log

SIGNALS = (signal.SIGINT, signal.SIGTERM)

#: Seconds beyond what a shutdown may take until the watchdog bites.
MARGIN = 3.0


def _handler(patience: float | None) -> Callable[[int, Any], None]:
    def first(number: int, frame: FrameType | None) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        if patience is not None:
            watchdog = threading.Timer(patience + MARGIN, _bite)
            watchdog.daemon = True
            watchdog.start()

    return first


def _bite() -> None:
    log.error.critical("The application does not stop: ending the process")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


@contextmanager
def _installed(patience: float | None) -> Iterator[bool]:
    """Our handlers, until the end. False: not the main thread, none are."""
    if threading.current_thread() is not threading.main_thread():
        yield False
        return
    handler = _handler(patience)
    before = {each: signal.signal(each, handler) for each in SIGNALS}
    try:
        yield True
    finally:
        for number, old in before.items():
            signal.signal(number, signal.SIG_DFL if old is None else old)


@contextmanager
def on_loop(
    loop: asyncio.AbstractEventLoop,
    stop: Callable[[], object],
    patience: float | None,
) -> Iterator[None]:
    """Call ``stop`` on ``loop``, once, when a signal comes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.getsignal(each) for each in SIGNALS}
    for each in SIGNALS:
        # For the loop's wake-up descriptor and its reader ...
        loop.add_signal_handler(each, stop)
    try:
        # ... and the handler itself is ours.
        with _installed(patience):
            yield
    finally:
        for number, old in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL if old is None else old)


@contextmanager
def on_descriptor(patience: float | None) -> Iterator[socket.socket | None]:
    """A socket that becomes readable when a signal comes."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    with reader, writer, _installed(patience) as installed:
        if not installed:
            yield None
            return
        before = signal.set_wakeup_fd(
            writer.fileno(), warn_on_full_buffer=False
        )
        try:
            yield reader
        finally:
            signal.set_wakeup_fd(before)
