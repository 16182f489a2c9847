"""WSGI needs no asyncio: the backend runs alone on the main thread."""

from __future__ import annotations

import signal

from xsgi import _xsgi, log, signals
from xsgi.service import Service
from xsgi.watchdog import Watchdog


def run(service: Service) -> None:
    """Serve until a signal comes."""
    backend = _xsgi.Backend()
    server = service.open(backend)
    watchdog = Watchdog()
    patience = service.config.timeout_graceful_shutdown
    try:
        with signals.on_descriptor(watchdog, patience) as signalled:
            backend.watch(signalled.fileno(), 1, signalled)
            service.listen()
            while not server.stopped:
                for reader, _ in server.run():
                    # The application may have handlers of its own.
                    came = [n for n in reader.recv(64) if n in signals.SIGNALS]
                    if came:
                        service.interrupted = signal.SIGINT in came
                        service.stop()
            backend.unwatch(signalled.fileno())
            # Applications on threads may run on behind a closed connection.
            server.close()
    finally:
        server.close()
        backend.close()
        watchdog.stop()
    log.error.info("stopped")
