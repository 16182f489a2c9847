"""Flags that other servers have: what to write instead, or what is missing.

Nothing here is accepted. Whoever comes with a habit gets one line that helps,
and nobody is served without the TLS or the processes that he has asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

_WORKERS = "xsgi runs one process; --threads is for WSGI."
_ONE_LIFE = "it serves until it is stopped; a service manager can renew it."
_TLS = "there is no TLS yet; let a proxy in front of it do that."
_WEBSOCKET = "there are no WebSockets yet."
_HTTP = "HTTP/1.1 is all there is yet."
_PROCESS = "leave that to the service manager."
_OUT = "the access log goes to standard output; --no-access-log is without."
_ERR = "the log goes to standard error; --log-level says what of it."
_LOGGERS = "--log-config sets up Python's logging, which can do that."
_TIMEOUT = "there is a --timeout-... for each thing that may take long."
_INTERFACE = "whether it is ASGI or WSGI is found out: --interface."
_METRICS = "there are no metrics yet; the access log can be JSON."
_STATIC = "there are no static files; let a proxy or the application do that."
_PROXY = "there is no PROXY protocol; --forwarded-header is what is read."
_STRICT = "what is no clean HTTP is refused, and nothing changes that."
_COLOURS = "there are no colours."
_SAYS = "--log-level debug says more."
_PARSER = "there is one, llhttp."
_ENV_FILE = "let the shell or the service manager load it."

_NOT_THERE = {
    "--timeout-worker-healthcheck": _WORKERS,
    "--preload": _WORKERS,
    "--preload-app": _WORKERS,
    "--worker-tmp-dir": _WORKERS,
    "--blocking-threads-idle-timeout": "--threads stay.",
    "--reuse-port": _WORKERS,
    "--respawn-failed-workers": _ONE_LIFE,
    "--respawn-interval": _ONE_LIFE,
    "--limit-max-requests": _ONE_LIFE,
    "--limit-max-requests-jitter": _ONE_LIFE,
    "--max-requests": _ONE_LIFE,
    "--max-requests-jitter": _ONE_LIFE,
    "--workers-lifetime": _ONE_LIFE,
    "--workers-max-rss": _ONE_LIFE,
    "--certfile": _TLS,
    "--keyfile": _TLS,
    "--keyfile-password": _TLS,
    "--ca-certs": _TLS,
    "--cert-reqs": _TLS,
    "--verify-mode": _TLS,
    "--ciphers": _TLS,
    "--do-handshake-on-connect": _TLS,
    "--suppress-ragged-eofs": _TLS,
    "--insecure-bind": _TLS,
    "--http": "HTTP/1.1 is all there is yet; llhttp reads it.",
    "--http-parser": _PARSER,
    "--http1": _HTTP,
    "--h2": _HTTP,
    "--quic-bind": _HTTP,
    "--http-protocols": _HTTP,
    "--protocol": _HTTP,
    "--http1-buffer-size": "--limit-request-head is what may come at once.",
    "--http1-keep-alive": "--timeout-keep-alive says how long.",
    "--no-http1-keep-alive": "--limit-keep-alive-requests 1 does that.",
    "--http1-pipeline-flush": "answers that are ready leave together.",
    "--no-http1-pipeline-flush": "answers that are ready leave together.",
    "--proxy-protocol": _PROXY,
    "--proxy-allow-from": _PROXY,
    "--forwarder-headers": "--forwarded-header says what proxies write.",
    "--header-map": "WSGI leaves fields with an underscore out, always.",
    "--secure-scheme-headers": "--forwarded-header says what proxies write.",
    "--casefold-http-method": _STRICT,
    "--strip-header-spaces": _STRICT,
    "--daemon": _PROCESS,
    "-D": _PROCESS,
    "--pid": _PROCESS,
    "-p": "--port has no short form.",
    "--pid-file": _PROCESS,
    "--pidfile": _PROCESS,
    "--user": _PROCESS,
    "-u": _PROCESS,
    "--group": _PROCESS,
    "-g": _PROCESS,
    "--initgroups": _PROCESS,
    "--umask": _PROCESS,
    "-m": _PROCESS,
    "--name": _PROCESS,
    "-n": _PROCESS,
    "--proc-name": _PROCESS,
    "--process-name": _PROCESS,
    "--env": _PROCESS,
    "--raw-env": _PROCESS,
    "-e": _PROCESS,
    "--env-file": _ENV_FILE,
    "--env-files": _ENV_FILE,
    "--timeout": _TIMEOUT,
    "-t": _TIMEOUT,
    "--read-timeout": _TIMEOUT,
    "--worker-class": _INTERFACE,
    "-k": _INTERFACE,
    "-c": "--config FILE takes options in TOML.",
    "--paste": "name the application as MODULE:ATTRIBUTE.",
    "--paster": "name the application as MODULE:ATTRIBUTE.",
    "--paste-global": "name the application as MODULE:ATTRIBUTE.",
    "--header": "headers are the application's.",
    "--access-logfile": _OUT,
    "--access-log-file": _OUT,
    "--accesslog": _OUT,
    "--error-logfile": _ERR,
    "--error-log": _ERR,
    "--errorlog": _ERR,
    "--log-file": _ERR,
    "--log": _ERR,
    "--no-log": _ERR,
    "--capture-output": "what the application prints is left alone.",
    "--enable-stdio-inheritance": "what the application prints is left alone.",
    "-R": "what the application prints is left alone.",
    "--log-syslog": _LOGGERS,
    "--log-syslog-facility": _LOGGERS,
    "--log-syslog-prefix": _LOGGERS,
    "--log-syslog-to": _LOGGERS,
    "--disable-redirect-access-to-syslog": _LOGGERS,
    "--logger-class": _LOGGERS,
    "--metrics": _METRICS,
    "--enable-backlog-metric": _METRICS,
    "--use-colors": _COLOURS,
    "--no-use-colors": _COLOURS,
    "--spew": _SAYS,
    "--debug": f"{_SAYS} Of asyncio, PYTHONASYNCIODEBUG=1 does.",
    "-v": "--version has no short form.",
    "--check-config": "--show-config checks it, too; it loads no application.",
    "--control-socket": "there is none; signals stop it.",
    "--control-socket-mode": "there is none; signals stop it.",
    "--no-control-socket": "there is none anyway.",
    "--no-sendfile": "files that an application passes are sent so, always.",
    "--reload-engine": "watchfiles is what tells of changes.",
    "--reload-ignore-worker-failure": "it waits for a change, always.",
    "--no-reload-ignore-worker-failure": "it waits for a change, always.",
    "--reset-contextvars": "each request has a context of its own.",
    "--server-name": "it is that of the Host field; see --allowed-hosts.",
    "--server-names": "it is that of the Host field; see --allowed-hosts.",
    "--static-path-mount": _STATIC,
    "--task-impl": "--task-mode says how a request is started.",
    "--asgi-disconnect-grace-period": (
        "the application is told at once that its client has gone."
    ),
}

# What begins like this.
_FAMILIES = {
    "--ssl": _TLS,
    "--tls": _TLS,
    "--no-ssl": _TLS,
    "--ws": _WEBSOCKET,
    "--no-ws": _WEBSOCKET,
    "--websocket": _WEBSOCKET,
    "--http2": _HTTP,
    "--no-http2": _HTTP,
    "--workers-": _WORKERS,
    "--no-respawn": _ONE_LIFE,
    "--dirty-": _WORKERS,
    "--rss-": _ONE_LIFE,
    "--runtime-": "it has one loop; --threads is for WSGI.",
    "--static-": _STATIC,
    "--statsd": _METRICS,
    "--dogstatsd": _METRICS,
    "--metrics-": _METRICS,
    "--no-metrics": _METRICS,
    "--permit-": _STRICT,
    "--uwsgi": _HTTP,
}

_OURS = {
    "--asgi-lifespan": "--lifespan",
    "--asgi-loop": "--loop",
    "--backpressure": "--limit-concurrency",
    "--blocking-threads": "--threads",
    "--chdir": "--app-dir",
    "--h11-max-incomplete-event-size": "--limit-request-field-size",
    "--http1-header-read-timeout": "--timeout-request-head",
    "--keep-alive-timeout": "--timeout-keep-alive",
    "--limit-request-field_size": "--limit-request-field-size",
    "--log-access": "--access-log",
    "--log-config-json": "--log-config",
    "--logconfig": "--log-config",
    "--logconfig-json": "--log-config",
    "--loglevel": "--log-level",
    "--max-request-body": "--limit-request-body",
    "--no-log-access": "--no-access-log",
    "--print-config": "--show-config",
    "--pythonpath": "--app-dir",
    "--reload-extra-file": "--reload-include",
    "--reload-ignore-dirs": "--reload-exclude",
    "--reload-ignore-paths": "--reload-exclude",
    "--reload-ignore-patterns": "--reload-exclude",
    "--reload-paths": "--reload-dir",
    "--reload-tick": "--reload-delay",
    "--script-name": "--root-path",
    "--shutdown-timeout": "--timeout-lifespan-shutdown",
    "--startup-timeout": "--timeout-lifespan-startup",
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
