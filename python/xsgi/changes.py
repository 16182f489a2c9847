"""Which changes of files matter, and a thread that waits for them.

A file counts if its name is *.py or fits a --reload-include, unless it, or a
folder that it is in, is hidden, holds what is made from files, or fits a
--reload-exclude. Patterns are matched with the name of each file and folder,
and with its path below the watched folder.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from itertools import islice

from xsgi.config import Config
from xsgi.errors import ConfigError, Error

INCLUDED = ("*.py",)

# As in a shell, "*" is not for these: an include of the user's that begins
# with their first letter is. His excludes beat everything.
EXCLUDED = (".*", "~*", "__pycache__", "node_modules")

#: watchfiles.Change.added
ADDED = 1

#: How many files of a new folder are looked at.
FILES_MAX = 10_000

#: Milliseconds. However long changes go on, then it is told of them.
BATCH_MAX = 1600

#: Seconds until the folders must be watched.
START_MAX = 60.0


class Filter:
    """Whether a change at an absolute path counts."""

    def __init__(self, config: Config) -> None:
        self.folders = _folders(config)
        self._included = (*INCLUDED, *config.reload_include)
        self._asked_for = [
            p for p in config.reload_include if p[:1] not in "*?["
        ]
        self._refused = [_below(p, self.folders) for p in config.reload_exclude]
        # Packages of the virtual environment change when some are installed.
        self._environment = os.path.realpath(sys.prefix)

    def __call__(self, change: int, path: str) -> bool:
        for folder in self.folders:
            if path.startswith(os.path.join(folder, "")):
                # Nothing is heard of the files with which a folder comes.
                files = _files(path) if change == ADDED else [path]
                return any(
                    self._counts(os.path.relpath(file, folder), folder)
                    for file in files
                )
        return False

    def _counts(self, path: str, folder: str) -> bool:
        places = list(_places(path))
        if not _fits(places[-1:], self._included):
            return False
        if _fits(places, self._refused):
            return False
        if _fits(places, self._asked_for):
            return True
        inside = os.path.join(folder, path)
        is_package = inside.startswith(os.path.join(self._environment, ""))
        if is_package and not folder.startswith(self._environment):
            return False
        return not _fits(places, EXCLUDED)


def _folders(config: Config) -> list[str]:
    """What to watch: absolute, none below another."""
    found: list[str] = []
    wanted = config.reload_dir or (config.app_dir,)
    for path in sorted({os.path.realpath(each) for each in wanted}):
        if not os.path.isdir(path):
            raise ConfigError(f"there is no folder {path}.", "reload_dir")
        if not any(path.startswith(os.path.join(each, "")) for each in found):
            found.append(path)
    return found


def _files(path: str) -> Iterator[str]:
    """``path``, or the files in it if it is a folder."""
    if not os.path.isdir(path):
        yield path
        return
    inside = (
        os.path.join(folder, name)
        for folder, _, names in os.walk(path)
        for name in names
    )
    yield from islice(inside, FILES_MAX)


def _below(pattern: str, folders: list[str]) -> str:
    """A pattern that is a path, "./build" or absolute, from its folder on."""
    if "/" not in pattern:
        return pattern
    path = os.path.realpath(pattern)
    for folder in folders:
        if path.startswith(os.path.join(folder, "")):
            return os.path.relpath(path, folder)
    return pattern.rstrip("/")


def _places(path: str) -> Iterator[tuple[str, str]]:
    """(path, name) of each folder on the way to a file, and of the file."""
    end = 0
    while end != -1:
        end = path.find("/", end + 1)
        place = path if end == -1 else path[:end]
        yield place, os.path.basename(place)


def _fits(places: list[tuple[str, str]], patterns: Iterable[str]) -> bool:
    return any(
        fnmatch(each, pattern)
        for place in places
        for each in place
        for pattern in patterns
    )


class Watcher:
    """A thread that calls ``tell`` with the paths of each batch of changes.

    ``tell(None)`` says that it has failed; ``error`` has the reason.
    """

    def __init__(
        self, config: Config, tell: Callable[[list[str] | None], object]
    ) -> None:
        self._filter = Filter(config)
        self._tell = tell
        self._step = max(int(config.reload_delay * 500), 10)
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.error: Error | None = None

    @property
    def folders(self) -> list[str]:
        return self._filter.folders

    def start(self) -> None:
        """Returns when no change from now on can be missed. Raises Error."""
        self._thread.start()
        if not self._ready.wait(START_MAX):
            where = ", ".join(self.folders)
            raise Error(f"{where}: too many files to watch; see --reload-dir.")
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """May be called when it has not been started."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(2)

    def _run(self) -> None:
        try:
            self._watch()
        except Exception as error:
            # watchfiles' own class of these is not public.
            where = ", ".join(self.folders)
            self.error = Error(f"cannot watch {where}: {error}.")
            self._tell(None)
        finally:
            self._ready.set()

    def _watch(self) -> None:
        from watchfiles import watch

        # Two steps without a further change are the delay. It yields nothing
        # after each step in which nothing happens, and so says that it runs.
        for changes in watch(
            *self.folders,
            watch_filter=self._filter,
            step=self._step,
            debounce=max(BATCH_MAX, 4 * self._step),
            rust_timeout=1,
            yield_on_timeout=True,
            stop_event=self._stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            self._ready.set()
            if changes:
                self._tell(sorted({path for _, path in changes}))
