"""The backend as a guest: run by a loop of somebody else's, such as uvloop."""

from __future__ import annotations

import asyncio

from xsgi import _xsgi


class Guest:
    """A backend of its own, run by ``loop``, which may be any asyncio loop.

    The loop watches the backend's descriptor, wakes it by its deadlines, and
    runs it soon after something has changed outside of a run.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.backend = _xsgi.Backend()
        self._loop = loop
        # Of uvloop, a handle without a time if that is nearly now.
        self._timer: asyncio.Handle | None = None
        self._timer_at = 0.0
        self._soon: asyncio.Handle | None = None
        self.backend.on_kick = self._kick
        loop.add_reader(self.backend.fileno(), self._run)

    def close(self) -> None:
        """End everything on the backend and leave the loop."""
        if self._timer is not None:
            self._timer.cancel()
        if self._soon is not None:
            self._soon.cancel()
        self.backend.on_kick = None
        if not self._loop.is_closed():
            self._loop.remove_reader(self.backend.fileno())
        self.backend.close()

    def _kick(self) -> None:
        if self._soon is None:
            self._soon = self._loop.call_soon(self._run_soon)

    def _run_soon(self) -> None:
        self._soon = None
        self._run()

    def _run(self) -> None:
        try:
            self.backend.select(0)
        finally:
            self._set_timer(self.backend.next())

    def _set_timer(self, wait: float | None) -> None:
        timer = self._timer
        if wait is None:
            return
        at = self._loop.time() + wait
        if timer is not None:
            if self._timer_at <= at:
                return  # it comes early enough, and then looks again
            timer.cancel()
        self._timer_at = at
        self._timer = self._loop.call_later(wait, self._run_timer)

    def _run_timer(self) -> None:
        self._timer = None
        self._run()
