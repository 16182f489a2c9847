"""What an application raises ends its request; Ctrl-C ends the loop, too.

In every way in which an application is run: on the loop's thread, on workers,
in tasks of each kind.
"""

import asyncio
import contextlib
import logging
import signal
import socket
import types

import pytest

import raw
from serving import PATIENCE, Served
from xsgi import _xsgi
from xsgi.loop import Loop

WSGI_WAYS = ["threads=1", "threads=4"]
ASGI_WAYS = ["lazy", "eager", "task"]
WAYS = [*WSGI_WAYS, *ASGI_WAYS]


def raising(error):
    """Applications that raise it, but at /fine; (WSGI, ASGI)."""

    def wsgi(environ, start_response):
        if environ["PATH_INFO"] != "/fine":
            raise error
        start_response("200 OK", [("Content-Length", "4")])
        return [b"fine"]

    async def asgi(scope, receive, send):
        if scope["path"] == "/later":
            await asyncio.sleep(0)
        if scope["path"] != "/fine":
            raise error
        head = {"headers": [(b"content-length", b"4")], "status": 200}
        await send({"type": "http.response.start", **head})
        await send({"type": "http.response.body", "body": b"fine"})

    return wsgi, asgi


class Here(contextlib.ExitStack):
    """A server that runs on this thread, the main one, turn by turn."""

    def __init__(self, how, apps):
        super().__init__()
        self.loop = None if how in WSGI_WAYS else Loop()
        if self.loop is None:
            self.backend = _xsgi.Backend()
            self.callback(self.backend.close)
            config = types.SimpleNamespace(threads=int(how[-1]))
            made = (apps[0], "wsgi", config)
        else:
            self.callback(self.loop.close)
            self.backend = self.loop.backend
            config = types.SimpleNamespace(task_mode=how)
            made = (apps[1], "asgi3", config, self.loop)
        server = _xsgi.Server(self.backend, *made)
        self.callback(server.close)
        self.address = server.listen()
        self.interrupts = 0

    def turn(self):
        try:
            if self.loop is None:
                self.backend.select(0.01)
            else:
                self.loop.call_later(0.01, self.loop.stop)
                self.loop.run_forever()
        except KeyboardInterrupt:
            self.interrupts += 1

    def ask(self, path):
        """A connection with a request under way."""
        client = self.enter_context(raw.Client(self.address))
        client.request("GET", path)
        return client

    def status(self, client):
        """That of the answer, which comes while the server runs."""
        client.sock.setblocking(False)
        for _ in range(100 * PATIENCE):
            with contextlib.suppress(BlockingIOError):
                client.sock.recv(1, socket.MSG_PEEK)
                client.sock.settimeout(PATIENCE)
                return client.response().status
            self.turn()
        raise AssertionError("no answer")

    def run_until_interrupted(self):
        """At the end of the turn in which the answer left, or of the next."""
        for _ in range(100 * PATIENCE):
            if self.interrupts:
                return
            self.turn()
        raise AssertionError("no interrupt")


@pytest.fixture
def log():
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logger = logging.getLogger("xsgi.error")
    logger.addHandler(handler)
    logger.propagate = False
    yield records
    logger.removeHandler(handler)
    logger.propagate = True


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("path", ["/at-once", "/later"])
def test_interrupt_is_a_500_and_leaves_the_loop_once(how, path, log):
    with Here(how, raising(KeyboardInterrupt())) as here:
        assert here.status(here.ask(path)) == 500
        here.run_until_interrupted()
        here.turn()

        assert here.interrupts == 1
        assert [each.exc_info[0] for each in log] == [KeyboardInterrupt]


@pytest.mark.parametrize("how", WAYS)
def test_interrupt_of_one_request_does_not_reach_the_others(how, log):
    with Here(how, raising(KeyboardInterrupt())) as here:
        first = here.ask("/fine")
        bad = here.ask("/bad")
        last = here.ask("/fine")

        assert here.status(bad) == 500
        here.run_until_interrupted()
        assert here.status(first) == 200
        assert here.status(last) == 200
        assert len(log) == here.interrupts == 1


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("path", ["/at-once", "/later"])
@pytest.mark.parametrize(
    "error", [SystemExit(3), GeneratorExit(), BaseException("own")], ids=repr
)
def test_other_exceptions_are_a_500_and_the_server_goes_on(
    how, path, error, log
):
    with Here(how, raising(error)) as here:
        assert here.status(here.ask(path)) == 500
        assert here.status(here.ask("/fine")) == 200

        assert here.interrupts == 0
        assert [each.exc_info[0] for each in log] == [type(error)]


@pytest.mark.parametrize("how", WAYS)
def test_interrupt_is_only_a_500_where_the_signal_is_ignored(how, log):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Here(how, raising(KeyboardInterrupt())) as here:
            assert here.status(here.ask("/bad")) == 500
            assert here.status(here.ask("/fine")) == 200

            assert here.interrupts == 0
    finally:
        signal.signal(signal.SIGINT, before)


class Closing(list):
    def close(self):
        raise KeyboardInterrupt


class Unsized:
    def __len__(self):
        raise KeyboardInterrupt

    def __iter__(self):
        return iter([b"fine"])


@pytest.mark.parametrize("how", WSGI_WAYS)
@pytest.mark.parametrize(
    ("result", "status"), [(Closing([b"fine"]), 200), (Unsized(), 500)]
)
def test_interrupt_inside_the_iterable_leaves_the_loop(
    how, result, status, log
):
    def app(environ, start_response):
        start_response("200 OK", [("Content-Length", "4")])
        return result

    with Here(how, (app, None)) as here:
        assert here.status(here.ask("/")) == status
        here.run_until_interrupted()

        assert len(log) == here.interrupts == 1


@pytest.mark.parametrize(
    "args",
    [
        ("interrupts_app:wsgi", "--threads", "1"),
        ("interrupts_app:wsgi", "--threads", "4"),
        ("interrupts_app:asgi", "--task-mode", "lazy"),
        ("interrupts_app:asgi", "--task-mode", "task"),
        ("interrupts_app:asgi", "--loop", "asyncio"),
    ],
    ids=" ".join,
)
def test_interrupt_of_the_application_stops_serve_as_ctrl_c_does(args):
    with Served(*args) as served, raw.Client(served.address) as client:
        assert client.get("/").status == 500

        assert served.wait() == 0
