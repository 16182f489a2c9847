"""The two ways to serve: run owns the process, serve is a guest in a loop.

load ─▶ bind ─▶ lifespan ─▶ listen ─▶ serve ─▶ stop ─▶ lifespan ─▶ end
                start-up                               shutdown
"""

from __future__ import annotations

import os
from typing import Any

from xsgi import loader, log
from xsgi.config import Application, Config
from xsgi.errors import ConfigError
from xsgi.service import Service

#: To who asks ``serve`` for a loop.
_LOOP_RUNS = (
    "is not for serving in a loop: the one that runs is used. To choose"
    " another, run the program in it, or call xsgi.run(app, loop=...)."
)


def run(app: str | Application | Config, **options: Any) -> None:
    """Serve ``app`` until SIGINT or SIGTERM. Returns after a graceful stop.

    ``app`` is an application or "module:attribute"; ``options`` are those of
    ``Config``, which may also be given as it is. A second signal ends the
    process at once, but for C code that holds the GIL. Outside the main thread
    no signal is handled.

    Raises ``xsgi.Error`` with one line if there is nothing to serve, nowhere
    to listen, or the application does not start up. With ``reload`` another
    process serves, and ``xsgi.ProcessError`` says that it has ended by itself.
    """
    loader.refuse_nested("xsgi.run()")
    config = _config_of(app, options)
    _fill_standard()
    log.setup(config)
    if config.reload:
        from xsgi import reload

        reload.run(config)
    else:
        _run(config)


def _fill_standard() -> None:
    """Have something where standard streams are closed.

    Else the next socket gets that number: what is printed goes to a client.
    """
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)
    os.close(fd)


def _run(config: Config) -> None:
    service = Service(config)
    try:
        # WSGI alone does not pay for asyncio.
        if service.is_wsgi:
            from xsgi import alone

            alone.run(service)
        else:
            from xsgi import looped

            looped.run(service)
    finally:
        service.close()


async def serve(app: str | Application | Config, **options: Any) -> None:
    """Serve ``app`` inside the running loop until this task is cancelled.

    Takes what ``run`` takes, but for ``loop`` and ``reload``. No signal is
    handled and no logger is set up: that is the program's. Cancelling the
    task that awaits this is a graceful stop: requests that run may finish
    within ``timeout_graceful_shutdown``, then CancelledError goes on. A
    second cancellation ends it at once.
    """
    from xsgi import looped

    loader.refuse_nested("xsgi.serve()")
    # Before all else, because some give it the loop itself.
    loop = app.loop if isinstance(app, Config) else options.get("loop", "auto")
    if loop != "auto":
        raise ConfigError(_LOOP_RUNS, "loop")
    config = _config_of(app, options)
    if config.reload:
        raise ConfigError("is not for serving in a loop.", "reload")
    service = Service(config)
    try:
        await looped.serve(service)
    finally:
        service.close()


def _config_of(
    app: str | Application | Config, options: dict[str, Any]
) -> Config:
    if isinstance(app, Config):
        if options:
            raise TypeError("options belong into the Config")
        return app
    return Config(app, **options)
