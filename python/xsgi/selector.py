"""A backend in the shape of the standard library's selectors.

``select()`` is the backend's own: it serves HTTP connections from C, and gives
only what asyncio has registered.
"""

from __future__ import annotations

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
