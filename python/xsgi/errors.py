"""What can go wrong before and around serving, and the exit code of each."""

from __future__ import annotations


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
