"""What is logged, and where it goes.

messages       ▶  the logger "xsgi.error"  ▶  standard error
a request each ▶  made and written in C    ▶  standard output
               ▶  the logger "xsgi.access", if the user has set it up
"""

from __future__ import annotations

import logging
import pathlib
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from xsgi.config import Config, option_of
from xsgi.errors import ConfigError

error = logging.getLogger("xsgi.error")
access = logging.getLogger("xsgi.access")


class _Formatter(logging.Formatter):
    """``INFO:     message``, as uvicorn's users know it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return f"{record.levelname + ':':<10}{record.getMessage()}"


if TYPE_CHECKING:
    _Stream = logging.StreamHandler[Any]
else:  # before Python 3.11 it takes no type
    _Stream = logging.StreamHandler


class _Handler(_Stream):
    """Ours: a user has not asked for it."""


def setup(config: Config) -> None:
    """Do what ``--log-config`` says, and show messages from ``--log-level`` on.

    Where they go is left alone if the program has said so already. A
    log_config that says it has the levels, too, unless the log level is
    another than usual.
    """
    logger = logging.getLogger("xsgi")
    if config.log_config is not None:
        _configure(config.log_config)
    said = logger.handlers or error.handlers or logging.getLogger().handlers
    usual = config.log_level == option_of("log_level").default
    if config.log_config is None or not usual or not said:
        logger.setLevel(config.log_level.upper())
    if said:
        return
    handler = _Handler()
    handler.setFormatter(_Formatter())
    logger.addHandler(handler)
    logger.propagate = False


def access_way(config: Config) -> tuple[bool, Callable[..., None] | None]:
    """Whether requests are logged, and the function that does it if not C.

    Python's logging gets them if "xsgi.access" has handlers or filters of its
    own, or if a log_config has set up what it hands its records on to.
    """
    if not config.access_log or access.disabled:
        return False, None
    if access.level > logging.INFO:
        return False, None
    chosen = bool(access.handlers or access.filters)
    if not chosen and not (config.log_config and _has_users_handler(access)):
        # Was it closed, its descriptor may be anything by now.
        return sys.__stdout__ is not None, None
    if access.level == logging.NOTSET:
        access.setLevel(logging.INFO)  # log_level is for messages
    return True, _log_access


def _has_users_handler(logger: logging.Logger | None) -> bool:
    while logger is not None:
        if any(type(each) is not _Handler for each in logger.handlers):
            return True
        logger = logger.parent if logger.propagate else None
    return False


def _log_access(
    client: str,
    method: str,
    target: str,
    version: str,
    status: int,
    size: int,
    seconds: float,
    end: str,
    connection: int,
    line: str | None,
) -> None:
    """One record as uvicorn makes it, with more attributes."""
    extra = {
        "client_addr": client,
        "request_line": f"{method} {target} HTTP/{version}",
        "status_code": status,
        "response_bytes": size,
        "duration": seconds,
        "end": end,
        "connection": connection,
    }
    if line is not None:
        access.info("%s", line, extra=extra)
        return
    args = (client, method, target, version, status)
    access.info('%s - "%s %s HTTP/%s" %d', *args, extra=extra)


def _configure(source: str | Mapping[str, Any]) -> None:
    """Set up logging. Raises ConfigError with what is wrong on one line."""
    import logging.config  # slow

    name = "the dict" if isinstance(source, Mapping) else source
    try:
        if isinstance(source, Mapping):
            settings = source
        elif source.endswith((".json", ".yaml", ".yml")):
            settings = _read(pathlib.Path(source))
        else:
            # To fileConfig a file that cannot be read may be an empty one.
            with open(source, "rb"):
                pass
            logging.config.fileConfig(source, disable_existing_loggers=False)
            return
        # Without this, logging switches off all loggers that are there already.
        logging.config.dictConfig(
            {"disable_existing_loggers": False, **settings}
        )
    except ConfigError:
        raise
    except Exception as failure:
        reason = _reason(failure)
        raise ConfigError(f"{name}: {reason}", "log_config") from None


def _read(path: pathlib.Path) -> dict[str, Any]:
    import json

    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        settings = json.loads(text)
    else:
        try:
            import yaml
        except ImportError:
            raise ConfigError(
                f"{path}: YAML needs PyYAML (pip install pyyaml).",
                "log_config",
            ) from None
        settings = yaml.safe_load(text)
    if not isinstance(settings, dict):
        raise ValueError("it holds no mapping")
    return settings


def _reason(failure: BaseException) -> str:
    """One line: what logging says, and why."""
    parts = []
    each: BaseException | None = failure
    while each is not None and len(parts) < 4:
        text = " ".join(str(each).split()) or type(each).__name__
        if isinstance(each, OSError) and each.strerror:
            text = each.strerror
        elif isinstance(each, KeyError):
            text = f"{text} is missing"
        if text not in parts:
            parts.append(text)
        each = each.__cause__
    return ": ".join(parts)
