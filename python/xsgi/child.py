"""A child of the application that has forked: how it ends.

It shares the server's descriptors and has copies of its objects. So it ends
as the children of ``multiprocessing`` do, without cleaning any of that up.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from xsgi import log


def leave(error: BaseException | None) -> NoReturn:
    """End this process: its call of the application has raised or returned."""
    code = 1
    try:
        if isinstance(error, SystemExit):
            code = _code_of(error)
        else:
            log.error.error(
                "a forked child of the application (process %d) %s: ending it,"
                " the response is its parent's",
                os.getpid(),
                "returned" if error is None else "raised",
                exc_info=error,
            )
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _code_of(error: SystemExit) -> int:
    """As the interpreter has it."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1
