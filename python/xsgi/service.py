"""An application, its addresses and its server: what all ways share."""

from __future__ import annotations

import platform
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from xsgi import __version__, interface, loader, log, proxies, sockets
from xsgi.config import Config, option_of

if TYPE_CHECKING:
    import asyncio

    from xsgi import _xsgi


#: Options that only one kind of application has a use for.
_ONLY_FOR = {
    "lifespan": "asgi3",
    "loop": "asgi3",
    "task_mode": "asgi3",
    "threads": "wsgi",
}


class Service:
    """Bound and loaded at first, then ``open``, ``listen``, ``stop``.

    ``close`` may come at any time. Raises ``xsgi.Error``.
    """

    #: From ``open`` on.
    server: _xsgi.Server

    #: Ctrl-C is why it stops, and the next one ends the process.
    interrupted = False

    def __init__(self, config: Config) -> None:
        self.config = config
        # First, because it is quick and importing the application may not be.
        self._listeners = sockets.bind(config)
        try:
            self.loaded = loader.load(config)
        except BaseException:
            self.close()
            raise
        self._tell_idle()

    @property
    def is_wsgi(self) -> bool:
        return self.loaded.interface == "wsgi"

    @property
    def running(self) -> int:
        """Requests whose application has not returned."""
        return self.server.stats()["running"]

    def open(
        self,
        backend: _xsgi.Backend,
        loop: asyncio.AbstractEventLoop | None = None,
        state: dict[str, Any] | None = None,
    ) -> _xsgi.Server:
        """Put the core under the application. It does not listen yet."""
        from xsgi import _xsgi

        settings = SimpleNamespace(**vars(self.config), state=state)
        settings.access_log, settings.access_emit = log.access_way(self.config)
        if self.config.proxy_headers:
            trusted = self.config.forwarded_allow_ips
            settings.trusted_networks = proxies.table(trusted)
            settings.trusted_unix = proxies.trusts_unix(trusted)
        app, interface = self.loaded.app, self.loaded.interface
        self.server = _xsgi.Server(backend, app, interface, settings, loop)
        return self.server

    def listen(self, loop_name: str = "") -> None:
        """Begin to accept, and say where."""
        for listener in self._listeners:
            listener.listen(self.config.backlog, self.server.listen)
        how = f"asgi, {loop_name} loop"
        if self.is_wsgi:
            threads = self.config.threads
            how = f"wsgi, {threads} thread{'s' if threads > 1 else ''}"
        log.error.info(
            "xsgi %s: listening on %s (%s, %s %s)",
            __version__,
            ", ".join(listener.url for listener in self._listeners),
            how,
            platform.python_implementation(),
            platform.python_version(),
        )

    def stop(self) -> None:
        """Accept nothing more; what runs may finish within the grace."""
        grace = self.config.timeout_graceful_shutdown
        limit = "" if grace is None else f" within {grace:g} s"
        count = self.running
        again = "; Ctrl-C again ends it now" if self.interrupted else ""
        work = f", {count} running may finish{limit}{again}" if count else ""
        log.error.info("stopping%s", work)
        self.server.stop(grace)
        self.close()

    def close(self) -> None:
        """Give the addresses back."""
        sockets.close_all(self._listeners)

    def _tell_idle(self) -> None:
        """Which options have been given in vain."""
        loaded = self.loaded
        for name, kind in _ONLY_FOR.items():
            given = getattr(self.config, name)
            if kind != loaded.interface and given != option_of(name).default:
                log.error.warning(
                    "the option %s does nothing: %s is %s, and that is for %s",
                    name,
                    loaded.name,
                    interface.TITLES[loaded.interface],
                    interface.TITLES[kind],
                )
