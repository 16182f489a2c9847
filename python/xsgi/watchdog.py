"""What ends the process if its shutdown does not: nothing can hold it up."""

from __future__ import annotations

import os
import sys
import threading

from xsgi import log

#: Seconds beyond what a shutdown may take until the watchdog bites.
MARGIN = 3.0

#: Seconds that its last words may take: maybe nobody reads the log any more,
#: or the application holds a lock of the logging for ever.
LAST_WORDS = 1.0


class Watchdog:
    """Ends the process when a shutdown takes longer than it may."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def start(self, seconds: float | None) -> None:
        """Bite in so many seconds, and not when it was to before."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(
            # Without a limit it is there to be renewed, and never bites.
            threading.TIMEOUT_MAX if seconds is None else seconds + MARGIN,
            _bite,
        )
        self._timer.daemon = True
        self._timer.start()

    def renew(self, seconds: float | None) -> None:
        """The next part of the shutdown may take so long, if it is one."""
        if self._timer is not None:
            self.start(seconds)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _bite() -> None:
    """End the process: nothing that is said before can hold that up."""
    try:
        words = threading.Thread(target=_say_last_words, daemon=True)
        words.start()
        words.join(LAST_WORDS)
    finally:
        os._exit(1)


def _say_last_words() -> None:
    log.error.critical("The application does not stop: ending the process")
    sys.stdout.flush()
    sys.stderr.flush()
