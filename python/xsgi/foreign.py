"""Flags that other servers have: what to write instead, or what is missing.

Nothing here is accepted. Whoever comes with a habit gets one line that helps,
and nobody is served without the TLS or the processes that he has asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

_WORKERS = "there are no worker processes yet; --threads is for WSGI."
_TLS = "there is no TLS yet; let a proxy in front of it do that."
_WEBSOCKET = "there are no WebSockets yet."
_HTTP = "HTTP/1.1 is all there is yet."
_PROCESS = "leave that to the service manager."
_OUT = "the access log goes to standard output; --no-access-log is without."
_ERR = "the log goes to standard error; --log-level says what of it."

_NOT_THERE = {
    "--workers": _WORKERS,
    "-w": _WORKERS,
    "--limit-max-requests": _WORKERS,
    "--limit-max-requests-jitter": _WORKERS,
    "--max-requests": _WORKERS,
    "--max-requests-jitter": _WORKERS,
    "--workers-lifetime": _WORKERS,
    "--workers-max-rss": _WORKERS,
    "--timeout-worker-healthcheck": _WORKERS,
    "--preload": _WORKERS,
    "--certfile": _TLS,
    "--keyfile": _TLS,
    "--ca-certs": _TLS,
    "--ciphers": _TLS,
    "--http": _HTTP,
    "--http1": _HTTP,
    "--http2": _HTTP,
    "--h2": _HTTP,
    "--quic-bind": _HTTP,
    "--insecure-bind": _TLS,
    "--daemon": _PROCESS,
    "-D": _PROCESS,
    "--pid": _PROCESS,
    "-p": "--port has no short form.",
    "--pid-file": _PROCESS,
    "--pidfile": _PROCESS,
    "--user": _PROCESS,
    "--group": _PROCESS,
    "--umask": _PROCESS,
    "--name": _PROCESS,
    "--process-name": _PROCESS,
    "--env": _PROCESS,
    "--env-file": "let the shell or the service manager load it.",
    "--timeout": "there is a --timeout-... for each thing that may take long.",
    "-t": "there is a --timeout-... for each thing that may take long.",
    "--worker-class": "whether it is ASGI or WSGI is found out: --interface.",
    "-k": "whether it is ASGI or WSGI is found out: --interface.",
    "-c": "--config FILE takes options in TOML.",
    "--header": "headers are the application's.",
    "--access-logfile": _OUT,
    "--access-log-file": _OUT,
    "--error-logfile": _ERR,
    "--error-log": _ERR,
    "--log-file": _ERR,
    "--use-colors": "there are no colours.",
    "--no-use-colors": "there are no colours.",
}

# What begins like this.
_FAMILIES = {
    "--ssl": _TLS,
    "--tls": _TLS,
    "--ws": _WEBSOCKET,
    "--websocket": _WEBSOCKET,
    "--workers-": _WORKERS,
}

_OURS = {
    "--asgi-lifespan": "--lifespan",
    "--asgi-loop": "--loop",
    "--backpressure": "--limit-concurrency",
    "--blocking-threads": "--threads",
    "--chdir": "--app-dir",
    "--h11-max-incomplete-event-size": "--limit-request-field-size",
    "--http1-header-read-timeout": "--timeout-request-head",
    "--limit-request-field_size": "--limit-request-field-size",
    "--max-request-body": "--limit-request-body",
    "--pythonpath": "--app-dir",
    "--reload-extra-file": "--reload-include",
    "--reload-ignore-dirs": "--reload-exclude",
    "--reload-ignore-paths": "--reload-exclude",
    "--reload-ignore-patterns": "--reload-exclude",
    "--reload-paths": "--reload-dir",
    "--reload-tick": "--reload-delay",
    "--script-name": "--root-path",
    "--unix-socket": "--uds",
    "--url-path-prefix": "--root-path",
    "--worker-connections": "--limit-connections",
    "--working-dir": "--app-dir",
}


def hint(flag: str) -> str | None:
    """What to tell somebody who has written ``flag``, which is not ours."""
    if flag in _OURS:
        return f"it is called {_OURS[flag]} here."
    if flag in _NOT_THERE:
        return _NOT_THERE[flag]
    for start, text in _FAMILIES.items():
        if flag.startswith(start):
            return text
    return None


def guess(wrong: str, ours: Mapping[str, str]) -> str | None:
    """The option that ``wrong`` may mean; ``ours`` is config.spellings()."""
    import difflib  # slow

    close = difflib.get_close_matches(wrong, list(ours), n=1)
    return ours[close[0]] if close else None


def stranger(name: str, ours: Mapping[str, str]) -> str:
    """What to tell somebody who gives an option that is not there."""
    known = hint("--" + name.replace("_", "-"))
    if known is not None:
        return known
    nearest = guess(name, ours)
    meant = f" Did you mean {nearest}?" if nearest else ""
    return f"there is no such option.{meant}"


def flags() -> list[str]:
    """All that are known by their whole name."""
    return [*_NOT_THERE, *_OURS]


def renamed() -> dict[str, str]:
    """What is called something else here."""
    return dict(sorted(_OURS.items()))
