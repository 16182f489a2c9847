"""What can go wrong before and around serving, and the exit code of each."""

from __future__ import annotations

from typing import Any

#: Characters of a value, and of a name, that are shown.
SHOWN_MAX = 60
NAME_MAX = 255


class Error(Exception):
    """Base of all errors that xsgi raises on its own account.

    ``str(error)`` is one line that says what to do about it.
    """

    #: The exit code of ``xsgi serve``.
    exit_code = 1


class ConfigError(Error, ValueError):
    """An option has a value that cannot be."""

    exit_code = 2

    def __init__(self, reason: str, option: str | None = None) -> None:
        """``option`` is the one whose value is meant, if it is one's."""
        super().__init__(f"{option}: {reason}" if option else reason)
        self.reason = reason
        self.option = option


class AppError(Error):
    """The application cannot be found, imported or called.

    ``__cause__`` is the application's own exception, if there was one.
    """


class BindError(Error):
    """An address cannot be listened at."""


class StartupError(Error):
    """The application's lifespan start-up failed or took too long."""

    exit_code = 3


class ProcessError(Error):
    """The process that serves has ended by itself; so does this one."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text)
        self.exit_code = exit_code


def said(value: Any) -> str:
    """``value``, as it may stand in a line: in quotes if it is text."""
    try:
        text = repr(value)
    except ValueError:  # of a number with thousands of digits
        return "this number"
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."


def plain(text: str) -> str:
    """A name, such as that of a file, in quotes only if it needs them."""
    fits = 0 < len(text) <= NAME_MAX and text.isprintable()
    return text if fits else said(text)
