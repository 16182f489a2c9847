"""xsgi.Loop: asyncio on xsgi's backend.

It is the standard library's selector loop with a selector of ours: transports,
TLS, subprocesses, signals and executors are inherited, and HTTP connections
are served from C inside ``select()`` without ever becoming asyncio handles. On
the simulated backend the same loop runs in virtual time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio import format_helpers

from xsgi import _xsgi
from xsgi.selector import Selector

if sys.version_info < (3, 12):
    # As asyncio does since: the child of a fork would wake its parent's loop,
    # which then takes the child's signals for its own.
    os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))

#: What a loop may do in C.
_IN_C = ("call_soon", "call_at", "call_later", "_run_once")


class Loop(asyncio.SelectorEventLoop):
    """An asyncio loop that drives xsgi's backend.

    ``Loop()`` polls real sockets with libuv. ``Loop("sim", seed=7)`` runs in
    virtual time on the simulated backend: ``sleep(3600)`` takes no time, and
    the same seed gives the same run. ``faults=False`` gives nice weather.
    """

    def __init__(
        self, backend: str = "uv", *, seed: int = 0, faults: bool = True
    ) -> None:
        self.backend = _xsgi.Backend(backend, seed=seed, faults=faults)
        # Asked several times per turn of the loop, so not by a method.
        self.time = self.backend.time  # type: ignore[method-assign]
        self._hears_signals = False
        super().__init__(Selector(self.backend))
        self._turn_in_c(not self.get_debug())

    def set_debug(self, enabled: bool) -> None:
        super().set_debug(enabled)
        if hasattr(self, "_selector"):  # else we are being made
            self._turn_in_c(not enabled)

    def close(self) -> None:
        if not self.is_running() and not self.is_closed():
            self._turn_in_c(False)
            self._stop_the_clock()
        super().close()

    def _stop_the_clock(self) -> None:
        """Have the time without the backend: virtual time ends here."""
        try:
            end = None if self.backend.fileno() >= 0 else self.time()
        except RuntimeError:
            end = 0.0  # somebody has closed it
        del self.time  # to the inherited one: the system's
        if end is not None:
            self.time = lambda: end  # type: ignore[method-assign]

    def _turn_in_c(self, wanted: bool) -> None:
        """Take what each call and each turn needs from C, or from asyncio.

        Which of them runs may change between any two turns.
        """
        for name in _IN_C:
            self.__dict__.pop(name, None)
        own = asyncio.BaseEventLoop
        if not wanted or any(
            getattr(type(self), name) is not getattr(own, name)
            for name in _IN_C
        ):
            return  # to be debugged, or a subclass with its own
        try:
            turns = _xsgi.Turns(self, self.backend, self._report)
        except (NotImplementedError, AttributeError):
            return  # asyncio is not as we know it: its own are slower only
        for name in _IN_C:
            setattr(self, name, getattr(turns, name.lstrip("_")))

    def _report(self, handle: asyncio.Handle, error: BaseException) -> None:
        """Say what asyncio says of a callback that has raised."""
        source = format_helpers._format_callback_source(
            handle._callback, handle._args
        )
        self.call_exception_handler(
            {
                "message": f"Exception in callback {source}",
                "exception": error,
                "handle": handle,
            }
        )

    def run_forever(self) -> None:
        if self.is_closed() or self.is_running():
            super().run_forever()  # which says that this is a fault
            return
        # libuv goes on waiting after a signal: only the wake-up descriptor
        # lets handlers that asyncio has not set run, such as Ctrl-C's.
        before = self._hear_signals()
        self._hears_signals = before is not None
        try:
            super().run_forever()
        finally:
            self._hears_signals = False
            # asyncio's own handlers need it between two runs, too.
            if before is not None and not self._signal_handlers:
                signal.set_wakeup_fd(before)

    def remove_signal_handler(self, sig: int) -> bool:
        removed = super().remove_signal_handler(sig)
        if self._hears_signals:
            self._hear_signals()
        return removed

    def _hear_signals(self) -> int | None:
        """Let signals wake us.

        The descriptor that they woke before; None if they do not come to this
        thread.
        """
        try:
            return signal.set_wakeup_fd(
                self._csock.fileno(), warn_on_full_buffer=False
            )
        except ValueError:
            return None
