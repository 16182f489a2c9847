"""A server that only its own application holds is garbage, and is found."""

import contextlib
import gc
import os
import socket
import types

import pytest

from xsgi import _xsgi
from xsgi.loop import Loop

GET = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n"


class Wsgi:
    """An application that knows its server, as frameworks do."""

    interface = "wsgi"

    def __call__(self, environ, start_response):
        start_response("200 OK", [("Content-Length", "4")])
        return [b"fine"]


class Asgi:
    interface = "asgi3"
    waits_for = None

    async def __call__(self, scope, receive, send):
        if self.waits_for is not None:
            await self.waits_for
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"fine"})


class Keeper:
    """Keeps environ and start_response; or scope, receive and send."""

    def __init__(self, app):
        self.app = app
        self.interface = app.interface

    def __call__(self, *given):
        self.given = given
        return self.app(*given)


def alive(kind):
    """How many there are. A weak reference would not tell: it is gone before
    it is known whether its object has to stay."""
    return sum(type(each) is kind for each in gc.get_objects())


def descriptors():
    return set(os.listdir("/proc/self/fd"))


def serve(app, **options):
    """Its server, on a backend that nobody else holds; and the address."""
    loop = Loop() if app.interface == "asgi3" else None
    backend = _xsgi.Backend() if loop is None else loop.backend
    config = types.SimpleNamespace(**options)
    app.server = _xsgi.Server(backend, app, app.interface, config, loop)
    app.backend = backend
    app.loop = loop
    return app.server.listen()


def run(app):
    """One turn of the server."""
    if app.loop is None:
        app.backend.select(0.05)
    else:
        app.loop.call_later(0.05, app.loop.stop)
        app.loop.run_forever()


def read_answer(client, app):
    received = b""
    client.setblocking(False)
    for _ in range(400):
        if received.endswith(b"fine"):
            break
        run(app)
        with contextlib.suppress(BlockingIOError):
            received += client.recv(4096)
    client.settimeout(10)
    assert received.endswith(b"fine")


def close_what_asyncio_opened(app):
    """Its sockets are not the server's, and asyncio warns of them."""
    if app.loop is not None:
        app.loop._close_self_pipe()
        app.loop._closed = True
        app.loop._selector = None


@pytest.fixture(autouse=True)
def only_what_is_asked_for():
    # libuv's first loop opens a pipe for signals, which stays.
    _xsgi.Backend().close()
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(
    params=[(Wsgi, 1), (Wsgi, 4), (Asgi, 1)], ids=["wsgi", "pool", "asgi"]
)
def make(request):
    kind, threads = request.param
    return kind, {"threads": threads}


def test_server_in_a_cycle_with_its_application_is_collected(make):
    kind, options = make
    before = descriptors()
    app = kind()
    serve(app, **options)
    close_what_asyncio_opened(app)

    del app
    assert alive(kind) == 1
    gc.collect()

    assert alive(kind) == 0
    assert descriptors() == before


def test_server_in_a_cycle_closes_its_connections_when_collected(make):
    kind, options = make
    before = descriptors()
    app = kind()
    with socket.create_connection(serve(app, **options)) as client:
        client.sendall(GET)
        read_answer(client, app)
        close_what_asyncio_opened(app)

        del app
        gc.collect()

        assert alive(kind) == 0
        with pytest.raises(ConnectionResetError):
            client.recv(1)
    assert descriptors() == before


def test_server_is_collected_whose_application_keeps_what_it_was_given(make):
    kind, options = make
    app = kind()
    keeper = Keeper(app)
    with socket.create_connection(serve(keeper, **options)) as client:
        client.sendall(GET)
        read_answer(client, keeper)
        close_what_asyncio_opened(keeper)

        del app, keeper
        gc.collect()

        assert alive(kind) == 0


def test_server_is_collected_while_a_request_body_arrives():
    before = descriptors()
    app = Wsgi()
    with socket.create_connection(serve(app)) as client:
        client.sendall(
            b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n1"
        )
        for _ in range(3):
            run(app)
        assert app.server.stats()["running"] == 1

        del app
        gc.collect()

        assert alive(Wsgi) == 0
    assert descriptors() == before


def test_server_is_collected_while_its_application_waits():
    before = descriptors()
    app = Asgi()
    with socket.create_connection(serve(app)) as client:
        app.waits_for = app.loop.create_future()
        client.sendall(GET)
        for _ in range(3):
            run(app)
        assert app.server.stats()["running"] == 1
        close_what_asyncio_opened(app)

        del app
        gc.collect()

        assert alive(Asgi) == 0
    assert descriptors() == before


def test_server_that_is_still_held_is_not_collected(make):
    kind, options = make
    app = kind()
    server_address = serve(app, **options)
    server = app.server
    backend = app.backend
    loop = app.loop

    del app
    gc.collect()

    with socket.create_connection(server_address) as client:
        client.sendall(GET)
        read_answer(client, types.SimpleNamespace(loop=loop, backend=backend))
    server.close()
    if loop is not None:
        loop.close()
    backend.close()


def test_server_is_collected_without_calling_on_stopped(make):
    kind, options = make
    app = kind()
    serve(app, **options)
    close_what_asyncio_opened(app)
    called = []
    app.server.on_stopped = lambda app=app: called.append(app)

    del app
    gc.collect()

    assert called == []
