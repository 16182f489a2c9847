"""asyncio on xsgi's backend: the loop that drives it, and the guest's way.

``Loop`` is the standard library's selector loop with a selector of ours:
transports, TLS, subprocesses, signals and executors are inherited, and HTTP
connections are served from C inside ``select()`` without ever becoming asyncio
handles. On the simulated backend the same loop runs in virtual time.

``Guest`` runs the backend in a loop of somebody else's, such as uvloop.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Iterator, Mapping
from typing import Any

from xsgi import _xsgi


class _Map(Mapping[Any, selectors.SelectorKey]):
    """What is registered, by descriptor or by the object that has one."""

    def __init__(self, selector: Selector) -> None:
        self._selector = selector

    def __len__(self) -> int:
        return len(self._selector._keys)

    def __iter__(self) -> Iterator[int]:
        return iter(self._selector._keys)

    def __getitem__(self, fileobj: Any) -> selectors.SelectorKey:
        return self._selector.get_key(fileobj)


class Selector(selectors.BaseSelector):
    """What asyncio asks of a selector, answered by a backend."""

    def __init__(self, backend: _xsgi.Backend) -> None:
        self._backend = backend
        self._keys: dict[int, selectors.SelectorKey] = {}
        self._map = _Map(self)
        # Called once per turn of the loop: no Python frame in between.
        self.select = backend.select  # type: ignore[method-assign]

    def register(
        self, fileobj: Any, events: int, data: Any = None
    ) -> selectors.SelectorKey:
        fd = _descriptor(fileobj)
        if fd in self._keys:
            raise KeyError(f"descriptor {fd} is registered already")
        return self._set(fileobj, fd, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        fd = self._find(fileobj)
        key = self._keys.pop(fd)
        self._backend.unwatch(fd)
        return key

    def modify(
        self, fileobj: Any, events: int, data: Any = None
    ) -> selectors.SelectorKey:
        return self._set(fileobj, self._find(fileobj), events, data)

    def select(self, timeout: float | None = None) -> Any:
        raise AssertionError("replaced by the backend's")

    def close(self) -> None:
        self._keys.clear()
        self._backend.close()

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._map

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys[self._find(fileobj)]

    def _set(
        self, fileobj: Any, fd: int, events: int, data: Any
    ) -> selectors.SelectorKey:
        key = selectors.SelectorKey(fileobj, fd, events, data)
        try:
            self._backend.watch(fd, events, key)
        except BaseException:
            self._keys.pop(fd, None)
            raise
        self._keys[fd] = key
        return key

    def _find(self, fileobj: Any) -> int:
        """The descriptor under which ``fileobj`` is registered.

        A file object that was closed has no descriptor any more: it is looked
        for, as in the standard library.
        """
        try:
            fd = _descriptor(fileobj)
        except ValueError:
            for fd, key in self._keys.items():
                if key.fileobj is fileobj:
                    return fd
            raise KeyError(f"{fileobj!r} is not registered") from None
        if fd not in self._keys:
            raise KeyError(f"{fileobj!r} is not registered")
        return fd


def _descriptor(fileobj: Any) -> int:
    if isinstance(fileobj, int):
        fd = fileobj
    else:
        try:
            fd = int(fileobj.fileno())
        except (AttributeError, TypeError):
            raise ValueError(f"{fileobj!r} is not a file") from None
    if fd < 0:
        raise ValueError(f"{fileobj!r} has no descriptor")
    return fd


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
        super().__init__(Selector(self.backend))


class Guest:
    """A backend of its own, run by ``loop``, which may be any asyncio loop.

    The loop watches the backend's descriptor, wakes it by its deadlines, and
    runs it soon after something has changed outside of a run.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.backend = _xsgi.Backend()
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self._soon: asyncio.Handle | None = None
        self.backend.on_kick = self._kick
        loop.add_reader(self.backend.fileno(), self._run)

    def close(self) -> None:
        """End everything on the backend and leave the loop."""
        if self._timer is not None:
            self._timer.cancel()
        if self._soon is not None:
            self._soon.cancel()
        self._loop.remove_reader(self.backend.fileno())
        self.backend.on_kick = None
        self.backend.close()

    def _kick(self) -> None:
        if self._soon is None:
            self._soon = self._loop.call_soon(self._run_soon)

    def _run_soon(self) -> None:
        self._soon = None
        self._run()

    def _run(self) -> None:
        self.backend.select(0)
        wait = self.backend.next()
        timer = self._timer
        if wait is None:
            return
        at = self._loop.time() + wait
        if timer is not None:
            if timer.when() <= at:
                return  # it comes early enough, and then looks again
            timer.cancel()
        self._timer = self._loop.call_later(wait, self._run_timer)

    def _run_timer(self) -> None:
        self._timer = None
        self._run()
