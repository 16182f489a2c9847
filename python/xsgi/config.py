"""Every option of the server, once: name, kind, default and help text.

An option that is added here exists on the command line (cli.py), in the
environment and in files (sources.py), in the Python interface, and, once
tools/options.py has been run, in docs/options.md.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from xsgi import foreign, kinds
from xsgi.errors import ConfigError

Application = Callable[..., Any]

# The groups of the help text, in order.
ADDRESSES = "Where to listen"
APPLICATION = "The application"
RUNNING = "Running it"
RELOADING = "While you work on it"
TIMEOUTS = "Timeouts (30, 30s, 500ms, 5m; 'none' is without limit)"
LIMITS = "Limits (sizes: 8190, 64KiB, 1MiB; 'none' is without limit)"
PROXIES = "Proxies in front of it"
LOGGING = "Logging and headers"

GROUPS = (
    ADDRESSES,
    APPLICATION,
    RUNNING,
    RELOADING,
    TIMEOUTS,
    LIMITS,
    PROXIES,
    LOGGING,
)

# A request head must fit into one receive block of the core (XS_RX_BLOCK).
# These are the core's, which test_config.py compares: so that tools can read
# the options without the extension.
HEAD_MAX = 64 * 1024
FIELDS_MAX = 1000  # XS_FIELDS_MAX


def _option(
    default: Any,
    kind: kinds.Kind,
    group: str,
    text: str,
    *flags: str,
) -> Any:
    """A field of Config; ``flags`` are further names on the command line."""
    return field(
        default=default,
        metadata={
            "kind": kind,
            "group": group,
            "help": text,
            "flags": flags,
        },
    )


_CONNECTIONS = kinds.optional(kinds.whole(1, 1_000_000))


_Class = TypeVar("_Class", bound=type)


def _refusing_strangers(cls: _Class) -> _Class:
    """Have ``cls`` say what was meant by an option that is not there."""
    init: Callable[..., None] = cls.__init__  # type: ignore[misc]

    @functools.wraps(init)
    def checked(self: Any, /, *args: Any, **given: Any) -> None:
        for name in given:
            if name not in cls.__dataclass_fields__:
                raise ConfigError(foreign.stranger(name, spellings()), name)
        init(self, *args, **given)

    cls.__init__ = checked  # type: ignore[misc]
    return cls


@_refusing_strangers
@dataclass(frozen=True, kw_only=True)
class Config:
    """What to serve and how. Every option has a default.

    Durations are seconds (``30``, ``0.5``) or text (``"30s"``, ``"5m"``),
    sizes are bytes or text (``"64KiB"``), ``None`` is without limit.
    Raises ``ConfigError`` if a value cannot be, or there is no such option.
    """

    #: The application, or ``"module:attribute"`` to import it from.
    app: str | Application = field(kw_only=False)

    bind: Sequence[str] = _option(
        (),
        kinds.several(kinds.address),
        ADDRESSES,
        "HOST:PORT, :PORT (all IPv4), [IPV6]:PORT, unix:PATH or fd://N;"
        " repeatable.",
        "-b",
    )
    host: str | None = _option(
        None,
        kinds.optional(kinds.host),
        ADDRESSES,
        "Host name or address. [default: 127.0.0.1]",
    )
    port: int | None = _option(
        None,
        kinds.optional(kinds.whole(0, 65535)),
        ADDRESSES,
        "Port; 0 is any free one. [default: 8000]",
    )
    uds: str | None = _option(
        None,
        kinds.optional(kinds.socket_path),
        ADDRESSES,
        "Unix domain socket; the same as --bind unix:PATH.",
    )
    uds_permissions: int = _option(
        0o666,
        kinds.permissions,
        ADDRESSES,
        "Octal mode of unix domain sockets. [default: 666]",
    )
    fd: int | None = _option(
        None,
        kinds.optional(kinds.whole(0, 1_000_000)),
        ADDRESSES,
        "Inherited socket; the same as --bind fd://N.",
    )
    backlog: int = _option(
        2048,
        kinds.whole(1, 1 << 20),
        ADDRESSES,
        "Connections that may wait to be accepted.",
    )

    interface: Literal["auto", "asgi3", "wsgi", "asgi"] = _option(
        "auto",
        kinds.choice("auto", "asgi3", "wsgi", asgi="asgi3"),
        APPLICATION,
        "How the application is called; auto finds it out.",
    )
    factory: bool = _option(
        False,
        kinds.flag,
        APPLICATION,
        "ATTRIBUTE is a function that returns the application.",
    )
    app_dir: str = _option(
        "",
        kinds.folder,
        APPLICATION,
        "Where to look for MODULE first. [default: the current folder]",
    )
    root_path: str = _option(
        "",
        kinds.root_path,
        APPLICATION,
        "The path below which a proxy mounts the application.",
    )
    early_hints: bool = _option(
        False,
        kinds.flag,
        APPLICATION,
        "Early hints (103) are sent; some proxies and clients mistake them.",
    )
    lifespan: Literal["auto", "on", "off"] = _option(
        "auto",
        kinds.choice("auto", "on", "off"),
        APPLICATION,
        "ASGI lifespan; auto goes on without if it is not supported.",
    )

    loop: Literal["auto", "xsgi", "uvloop", "asyncio"] = _option(
        "auto",
        kinds.choice("auto", "xsgi", "uvloop", "asyncio"),
        RUNNING,
        "The asyncio loop of ASGI applications; auto is xsgi.",
    )
    task_mode: Literal["auto", "lazy", "eager", "task"] = _option(
        "auto",
        kinds.choice("auto", "lazy", "eager", "task"),
        RUNNING,
        "Start an ASGI request at once (lazy; eager: 3.12) or by the loop.",
    )
    threads: int = _option(
        1,
        kinds.whole(1, 1024),
        RUNNING,
        "Threads for a WSGI application; 1 is the loop's own.",
    )
    workers: int = _option(
        1,
        kinds.workers,
        RUNNING,
        "Processes; more than one is not there yet.",
        "-w",
    )

    reload: bool = _option(
        False,
        kinds.flag,
        RELOADING,
        "Start the application anew when its files change.",
    )
    reload_dir: Sequence[str] = _option(
        (),
        kinds.several(kinds.folder),
        RELOADING,
        "Folder to watch; may be repeated. [default: that of --app-dir]",
    )
    reload_include: Sequence[str] = _option(
        (),
        kinds.several(kinds.text),
        RELOADING,
        "Pattern of files that count as *.py do; may be repeated.",
    )
    reload_exclude: Sequence[str] = _option(
        (),
        kinds.several(kinds.text),
        RELOADING,
        "Pattern of files and folders that do not; may be repeated.",
    )
    reload_delay: float = _option(
        0.25,
        kinds.pause,
        RELOADING,
        "Without a further change before it starts anew.",
    )

    timeout_keep_alive: float | None = _option(
        65.0,
        kinds.duration,
        TIMEOUTS,
        "Between two requests of a connection.",
        "--keep-alive",
    )
    timeout_request_head: float | None = _option(
        30.0,
        kinds.duration,
        TIMEOUTS,
        "For the whole head of a request.",
    )
    timeout_request_body: float | None = _option(
        30.0,
        kinds.duration,
        TIMEOUTS,
        "Without progress of a request body that is waited for.",
    )
    timeout_write: float | None = _option(
        30.0,
        kinds.duration,
        TIMEOUTS,
        "Without progress of a client that takes a response.",
    )
    timeout_linger: float | None = _option(
        5.0,
        kinds.duration,
        TIMEOUTS,
        "For a client that sends still to take the last answer.",
    )
    timeout_graceful_shutdown: float | None = _option(
        30.0,
        kinds.patience,
        TIMEOUTS,
        "For what runs after SIGTERM or SIGINT; new connections have 1s.",
        "--graceful-timeout",
    )
    timeout_lifespan_startup: float | None = _option(
        60.0,
        kinds.duration,
        TIMEOUTS,
        "For the application's lifespan start-up.",
    )
    timeout_lifespan_shutdown: float | None = _option(
        30.0,
        kinds.duration,
        TIMEOUTS,
        "For the application's lifespan shutdown.",
    )

    limit_request_line: int = _option(
        8190,
        kinds.sized(16, HEAD_MAX),
        LIMITS,
        "Size of method, target and version.",
    )
    limit_request_fields: int = _option(
        100,
        kinds.whole(1, FIELDS_MAX),
        LIMITS,
        "Number of header fields.",
    )
    limit_request_field_size: int = _option(
        8190,
        kinds.sized(16, HEAD_MAX),
        LIMITS,
        "Size of one header field.",
    )
    limit_request_head: int = _option(
        HEAD_MAX,
        kinds.sized(16, HEAD_MAX),
        LIMITS,
        "Size of a whole request head.",
    )
    limit_request_trailer: int = _option(
        8 * 1024,
        kinds.sized(16, 1 << 30),
        LIMITS,
        "Size of the fields behind a chunked request body.",
    )
    limit_chunk_extensions: int = _option(
        8 * 1024,
        kinds.sized(16, 1 << 30),
        LIMITS,
        "Bytes of chunks beyond data and plain framing; 1/16 of data is free.",
    )
    limit_request_body: int | None = _option(
        None,
        kinds.size,
        LIMITS,
        "Size of a request body.",
    )
    limit_keep_alive_requests: int | None = _option(
        None,
        kinds.optional(kinds.whole(1, 1_000_000_000)),
        LIMITS,
        "Requests of one connection; the last answer ends it.",
    )
    limit_concurrency: int | None = _option(
        None,
        _CONNECTIONS,
        LIMITS,
        "Requests at the application at once; 503 above it.",
    )
    allowed_hosts: Sequence[str] = _option(
        (),
        kinds.hosts,
        LIMITS,
        "Hosts that are served (.a.b: and all below); else 421. [default: all]",
    )
    limit_connections: int | None = _option(
        None,
        _CONNECTIONS,
        LIMITS,
        "Open connections; others wait to be accepted.",
    )
    limit_write_buffer: int = _option(
        64 * 1024,
        kinds.sized(1024, 1 << 30),
        LIMITS,
        "Bytes of a response that wait for its client while more are taken.",
    )
    limit_write_backlog: int | None = _option(
        1 << 30,
        kinds.size,
        LIMITS,
        "Bytes that wait for all clients of a worker; the slowest pay above.",
    )

    proxy_headers: bool = _option(
        True,
        kinds.flag,
        PROXIES,
        "Believe trusted proxies about address and scheme of the client.",
    )
    forwarded_allow_ips: Sequence[str] = _option(
        ("127.0.0.1", "::1", "unix"),
        kinds.proxies,
        PROXIES,
        "Whom to trust: addresses, networks, unix, *."
        " [default: 127.0.0.1,::1,unix]",
    )
    forwarded_header: Literal["x-forwarded-for", "forwarded"] = _option(
        "x-forwarded-for",
        kinds.choice("x-forwarded-for", "forwarded"),
        PROXIES,
        "Which headers they write: X-Forwarded-For and -Proto, or RFC 7239's.",
    )

    log_level: Literal["critical", "error", "warning", "info", "debug"] = (
        _option(
            "info",
            kinds.choice("critical", "error", "warning", "info", "debug"),
            LOGGING,
            "What is worth a line on standard error.",
        )
    )
    access_log: bool = _option(
        True,
        kinds.flag,
        LOGGING,
        "A line on standard output for each request.",
    )
    access_log_format: str = _option(
        "default",
        kinds.access_format,
        LOGGING,
        "default, common, combined, json, or a text with %(h)s ... in it.",
        "--access-logformat",
        "--access-log-fmt",
    )
    log_config: str | Mapping[str, Any] | None = _option(
        None,
        kinds.optional(kinds.log_config),
        LOGGING,
        "Set up Python's logging from a .json, .yaml or .ini file.",
    )
    server_header: bool = _option(
        True, kinds.flag, LOGGING, "Send a Server header."
    )
    date_header: bool = _option(
        True, kinds.flag, LOGGING, "Send a Date header."
    )

    def __post_init__(self) -> None:
        for option in options():
            try:
                value = option.metadata["kind"](getattr(self, option.name))
            except ValueError as error:
                raise ConfigError(str(error), option.name) from None
            object.__setattr__(self, option.name, value)
        if self.task_mode == "eager" and sys.version_info < (3, 12):
            reason = "'eager' needs Python 3.12 or newer."
            raise ConfigError(reason, "task_mode")
        if self.reload and not isinstance(self.app, str):
            reason = 'needs the application as "module:attribute".'
            raise ConfigError(reason, "reload")
        backlog = self.limit_write_backlog
        if backlog is not None and backlog < self.limit_write_buffer:
            reason = "must not be below limit_write_buffer; 'none' is off."
            raise ConfigError(reason, "limit_write_backlog")


def options() -> list[dataclasses.Field[Any]]:
    """The fields of Config that are options, in the order of the help."""
    return [each for each in dataclasses.fields(Config) if each.metadata]


def option_of(name: str) -> dataclasses.Field[Any]:
    """The option of that name."""
    return Config.__dataclass_fields__[name]


def names() -> list[str]:
    """The names that flags, variables and keys are made of."""
    return ["app", *(option.name for option in options())]


def spellings() -> dict[str, str]:
    """The option by its name, and by what a flag of its is called."""
    found = {name: name for name in names()}
    for option in options():
        for flag in option.metadata["flags"]:
            if flag.startswith("--"):
                found[flag[2:].replace("-", "_")] = option.name
    return found
