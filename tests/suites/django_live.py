"""Run Django's tests of its live server with xsgi as the server.

Called by run.py inside Django's tests/. A live server is an object with the
interface of socketserver that runs on a thread of the test's own process.
"""

import runpy
import socket
import sys
import threading
import unittest
from wsgiref.simple_server import WSGIRequestHandler

from django.db import connections
from django.test import testcases

import wsgi_probe

THREADS = 8

_IGNORES_CLOSE = "it wants a server that does not heed Connection: close"

#: Tests that fail, and why they should.
EXPECTED = {
    "test_closes_connection_without_content_length": (
        "it wants a server that knows no chunks"
    ),
    "test_keep_alive_on_connection_with_content_length": _IGNORES_CLOSE,
    "test_keep_alive_connection_clears_previous_request_data": _IGNORES_CLOSE,
}


class Server:
    """What LiveServerThread wants of its ``server_class``."""

    def __init__(
        self,
        address,
        handler=WSGIRequestHandler,
        allow_reuse_address=True,
        connections_override=None,
    ):
        self._connections = connections_override or {}
        self._app = None
        self._over = threading.Event()
        with socket.socket() as sock:
            if allow_reuse_address:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            self.server_address = sock.getsockname()
            fd = sock.detach()
        self._probe = wsgi_probe.Probe(self._call, THREADS, fd)
        self._probe.__enter__()

    def set_app(self, app):
        self._app = app

    def _call(self, environ, start_response):
        for alias, connection in self._connections.items():
            connections[alias] = connection
        return self._app(environ, start_response)

    def serve_forever(self):
        self._over.wait()

    def shutdown(self):
        self._probe.stop()
        self._over.set()

    def server_close(self):
        pass


_init = unittest.TestCase.__init__


def _expect(test, name="runTest"):
    """In the place of ``TestCase.__init__``."""
    _init(test, name)
    if name in EXPECTED:
        test.__unittest_expecting_failure__ = True


if __name__ == "__main__":
    unittest.TestCase.__init__ = _expect
    testcases.LiveServerThread.server_class = Server
    sys.argv[1:] = ["--parallel=1", *sys.argv[1:]]
    sys.path.insert(0, ".")
    runpy.run_path("runtests.py", run_name="__main__")
