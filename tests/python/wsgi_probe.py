"""A WSGI application served inside the test's own process, on a thread.

So the application may be a closure, and the test sees what it saw.
"""

import contextlib
import logging
import socket
import threading
import types

from raw import Client
from serving import PATIENCE
from xsgi import _xsgi

#: One thread is the loop's own, more are a pool's: every test runs on both.
THREADS = (1, 4)

PLAIN = [("Content-Type", "text/plain")]


class Probe:
    """A running server of ``app``. Use it as a context manager."""

    def __init__(self, app, threads=1, fd=-1, **options):
        self.config = types.SimpleNamespace(threads=threads, **options)
        self.app = app
        self._fd = fd  # a bound socket, which is the server's then
        self.records = []
        self.stats = None
        self._failure = None
        self._ready = threading.Event()
        self._ours, self._theirs = socket.socketpair()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        try:
            self._serve()
        except BaseException as error:
            self._failure = error
        finally:
            self._ready.set()

    def _serve(self):
        backend = _xsgi.Backend("uv")
        server = _xsgi.Server(backend, self.app, "wsgi", self.config)
        self.address = server.listen(self._fd)
        backend.watch(self._theirs.fileno(), 1, "stop")
        self._ready.set()
        while not server.stopped:
            for _ in server.run():
                grace = float(self._theirs.recv(16))
                backend.unwatch(self._theirs.fileno())
                server.stop(grace)
        self.stats = server.stats()
        server.close()
        backend.close()

    def __enter__(self):
        self._handler = logging.Handler()
        self._handler.emit = self.records.append
        logger = logging.getLogger("xsgi.error")
        self._old = (logger.level, logger.propagate)
        logger.addHandler(self._handler)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        self._thread.start()
        assert self._ready.wait(PATIENCE)
        if self._failure is not None:
            self.stop()
        return self

    def __exit__(self, kind, *_):
        self.stop()
        if kind is not None:
            print("\n".join(self.log()))

    def stop(self, grace=PATIENCE):
        """Stop; the server has ended when this returns."""
        with contextlib.suppress(OSError):
            self._ours.sendall(str(grace).encode())
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the server does not end"
        logger = logging.getLogger("xsgi.error")
        logger.removeHandler(self._handler)
        logger.setLevel(self._old[0])
        logger.propagate = self._old[1]
        self._ours.close()
        self._theirs.close()
        if self._failure is not None:
            raise self._failure

    def connect(self, **options):
        return Client(self.address, **options)

    def get(self, target="/", *fields):
        """The response to one request on a connection of its own."""
        with self.connect() as client:
            return client.get(target, *fields)

    def post(self, body, *fields, target="/"):
        with self.connect() as client:
            client.request("POST", target, *fields, body=body)
            return client.response()

    def log(self, level=logging.WARNING):
        """What was logged at that level or above, as text."""
        formatter = logging.Formatter("%(levelname)s %(message)s")
        return [
            formatter.format(each)
            for each in self.records
            if each.levelno >= level
        ]


def seen_environ(*fields, line="GET / HTTP/1.1", threads=1, **options):
    """The environ that a request of these lines gives."""
    seen = []

    def app(environ, start_response):
        seen.append(dict(environ))
        start_response("200 OK", [])
        return []

    with Probe(app, threads, **options) as probe, probe.connect() as client:
        client.send("\r\n".join([line, *fields, "", ""]).encode("latin-1"))
        assert client.head().status == 200
    (environ,) = seen
    return environ


def answering(make, status="200 OK", headers=PLAIN):
    """An application that returns make()."""

    def app(environ, start_response):
        start_response(status, list(headers))
        return make()

    return app


def reading(read):
    """An application that answers with the repr of read(wsgi.input)."""

    def app(environ, start_response):
        result = repr(read(environ["wsgi.input"])).encode()
        start_response("200 OK", [])
        return [result]

    return app


class Blocks:
    """An iterable with close(), which counts."""

    def __init__(self, blocks, raising=None):
        self.blocks = blocks
        self.closed = 0
        self.taken = 0
        self.raising = raising

    def __iter__(self):
        for block in self.blocks:
            self.taken += 1
            yield block

    def close(self):
        self.closed += 1
        if self.raising is not None:
            raise self.raising
