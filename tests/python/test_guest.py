"""The backend on a loop of somebody else's."""

import asyncio

import pytest

from xsgi.guest import Guest


class Due:
    """A backend that has something to do very soon, three times."""

    def __init__(self, backend):
        self._backend = backend
        self.looks = 0

    def select(self, timeout):
        self.looks += 1

    def next(self):
        return 0.0001 if self.looks < 4 else None

    def __getattr__(self, name):
        return getattr(self._backend, name)


@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_what_is_due_nearly_now_is_waited_for(kind):
    """uvloop then gives a handle that does not know when."""
    loop = pytest.importorskip(kind).new_event_loop()
    guest = Guest(loop)
    guest.backend = backend = Due(guest.backend)
    try:
        guest._run()
        guest._run()  # it has come before the timer
        while backend.looks < 4:
            loop.run_until_complete(asyncio.sleep(0.001))
    finally:
        guest.close()
        loop.close()
