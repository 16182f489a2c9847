"""What the server says: the logger "xsgi.error", on standard error.

The access log is not here: its lines are made and written in C.
"""

from __future__ import annotations

import logging

error = logging.getLogger("xsgi.error")


class _Formatter(logging.Formatter):
    """``INFO:     message``, as uvicorn's users know it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return f"{record.levelname + ':':<10}{record.getMessage()}"


def setup(level: str) -> None:
    """Show messages from ``level`` on.

    Where they go is left alone if the program has said so already.
    """
    logger = logging.getLogger("xsgi")
    logger.setLevel(level.upper())
    if logger.handlers or error.handlers or logging.getLogger().handlers:
        return
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter())
    logger.addHandler(handler)
    logger.propagate = False
