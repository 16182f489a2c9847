"""No descriptors are left for new clients: the log says so, once a minute."""

import itertools
import logging
import types

import pytest

import raw
from xsgi import _xsgi

WAIT = "new clients wait"


def app(environ, start_response):
    start_response("200 OK", [("Content-Length", "0")])
    return []


@pytest.fixture
def said():
    """What the log says."""
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logger = logging.getLogger("xsgi.error")
    logger.addHandler(handler)
    logger.propagate = False
    yield lines
    logger.removeHandler(handler)
    logger.propagate = True


def come_and_go(backend, address):
    """A client, while the weather is odd. Gives the time now and then."""
    peer = _xsgi.SimPeer(backend, *address)
    for _ in range(20):
        backend.select(0.01)
        yield backend.time()
    peer.close()


def test_server_without_descriptors_says_so_and_serves_those_it_has(serve):
    launcher = ("sh", "-c", 'ulimit -n 40; exec "$@"', "sh")
    server = serve("life_app:wsgi", launcher=launcher)
    clients = [raw.Client(server.address) for _ in range(60)]

    line = server.wait_for_line(WAIT)

    assert line.startswith("WARNING:  new clients wait (open connections: ")
    assert line.endswith("): no descriptors left (ulimit -n is 40)")
    assert clients[0].get("/").body == b"hello"
    for client in clients:
        client.close()
    with raw.Client(server.address) as client:
        assert client.get("/").body == b"hello"
    assert server.stop() == 0


def test_failing_accepts_are_said_once_a_minute(said):
    seen = 0

    for seed in range(200):
        backend = _xsgi.Backend("sim", seed=seed)
        server = _xsgi.Server(backend, app, "wsgi", types.SimpleNamespace())
        address = server.listen()
        times = []
        for _ in range(20):
            for now in come_and_go(backend, address):
                times += [now for line in said if WAIT in line]
                said.clear()
        server.close()
        backend.close()
        seen += len(times)
        assert all(b - a > 59 for a, b in itertools.pairwise(times)), seed

    assert seen > 0
