"""The process that serves while another one watches (see reload.py).

It lives as long as its lifeline, a socket to its parent, is open and silent.
"""

from __future__ import annotations

import signal
import socket
import sys
import threading
import time
from contextlib import suppress

from xsgi import complaints, runner, signals
from xsgi.config import Config
from xsgi.errors import AppError, Error, StartupError
from xsgi.lifeline import BROKEN, ordered

#: Seconds until a signal that was not heard is sent again.
AGAIN = 0.1


def main(lifeline_fd: int) -> None:
    """Serve what the first line of the lifeline says, and exit."""
    lifeline = socket.socket(fileno=lifeline_fd)
    lifeline.set_inheritable(False)
    with lifeline.makefile("rb") as stream:
        sys.argv[:], config = ordered(stream)
    watch = threading.Thread(target=_watch, args=(lifeline,), daemon=True)
    watch.start()
    code = 0
    try:
        runner.run(Config(**config))
    except Error as error:
        if isinstance(error, (AppError, StartupError)):
            with suppress(OSError):
                lifeline.sendall(BROKEN)
        complaints.of(error)
        code = error.exit_code
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _watch(lifeline: socket.socket) -> None:
    order = b""
    with suppress(OSError):
        order = lifeline.recv(1)
    number = order[0] if order else signal.SIGTERM
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    # Ctrl-C on a terminal is for both processes. The first signal has given
    # the next one its default action: it would end what is already stopping.
    # Until then the same signal once more is the same, and is sent until it is
    # heard: one that comes when the main thread is about to wait, as it does
    # when it lets this thread run, does not wake it.
    while not signals.came:
        signal.pthread_kill(main_thread, number)
        time.sleep(AGAIN)
