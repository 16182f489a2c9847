"""_xsgi.Server: one application on one backend, driven by hand."""

import asyncio
import gc
import logging
import signal
import socket
import sys
import textwrap
import threading
import types

import pytest

import raw
from xsgi import _xsgi
from xsgi.loop import Loop

GET = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n"


def wsgi(environ, start_response):
    start_response("200 OK", [("Content-Length", "4")])
    return [b"wsgi"]


async def asgi(scope, receive, send):
    await send({"type": "http.response.start", "status": 200})
    await send({"type": "http.response.body", "body": b"asgi"})


def config(**options):
    return types.SimpleNamespace(**options)


@pytest.fixture
def backend():
    backend = _xsgi.Backend()
    yield backend
    backend.close()


@pytest.fixture
def server(backend):
    server = _xsgi.Server(backend, wsgi, "wsgi", config())
    yield server
    server.close()


def beside(backend, talk, *args):
    """Run ``talk`` on a thread, and the backend on this one until it ends."""
    result = []
    thread = threading.Thread(target=lambda: result.append(talk(*args)))
    thread.start()
    while thread.is_alive():
        backend.select(0.01)
    thread.join()
    return result[0]


def ask(address, request=GET):
    with raw.Client(address) as client:
        client.send(request)
        return client.response()


def is_refused(address):
    try:
        socket.create_connection(address, 5).close()
    except ConnectionRefusedError:
        return True
    return False


def test_server_answers_where_it_says_that_it_listens(backend, server):
    address = server.listen()

    assert beside(backend, ask, address).body == b"wsgi"
    assert server.stats()["served"] == 1


def test_stats_count_what_has_happened(backend, server):
    logging.getLogger("xsgi.error").setLevel(logging.CRITICAL)
    address = server.listen()
    beside(backend, ask, address)
    beside(backend, ask, address, b"nonsense\r\n\r\n")

    stats = server.stats()
    logging.getLogger("xsgi.error").setLevel(logging.NOTSET)

    assert stats["accepted"] == 2
    assert stats["served"] == 1
    assert stats["refused"] == 1
    assert stats["requests"] == stats["running"] == 0


def test_refusal_is_logged_with_its_rule_and_its_peer(backend, server, caplog):
    address = server.listen()

    answer = beside(backend, ask, address, b"GET / HTTP/1.1\r\n\r\n")

    assert answer.status == 400
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("xsgi.error", "WARNING")
    assert "(host)" in record.getMessage()
    assert "127.0.0.1:" in record.getMessage()


def test_handler_of_the_log_that_raises_does_no_harm(
    backend, server, monkeypatch, capsys
):
    class Fails(logging.Filter):
        def filter(self, record):
            raise LookupError("no log")

    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    fails = Fails()
    server_log = logging.getLogger("xsgi.error")
    server_log.addFilter(fails)
    address = server.listen()
    try:
        beside(backend, ask, address, b"GET / HTTP/1.1\r\n\r\n")
    finally:
        server_log.removeFilter(fails)

    assert [type(each.exc_value) for each in told] == [LookupError]
    assert beside(backend, ask, address).body == b"wsgi"


def test_stop_is_told_once_and_nobody_is_accepted_any_more(backend, server):
    told = []
    server.on_stopped = lambda: told.append(server.stopped)
    address = server.listen()
    assert not server.stopped

    server.stop(1)
    assert told == []
    backend.select(0)
    backend.select(0)

    assert told == [True]
    assert is_refused(address)
    with pytest.raises(RuntimeError, match="stopping"):
        server.listen()


def test_run_returns_what_is_ready_and_when_it_has_stopped(backend, server):
    reader, writer = socket.socketpair()
    backend.watch(reader.fileno(), 1, "key")
    server.listen()
    writer.send(b"x")

    assert list(server.run()) == [("key", 1)]
    reader.recv(1)
    server.stop(0)
    assert list(server.run()) == []
    assert server.stopped

    backend.unwatch(reader.fileno())
    reader.close()
    writer.close()


def test_closed_server_says_so_and_may_be_closed_again(backend, server):
    server.listen()
    server.close()
    server.close()

    assert server.stopped
    for use in (server.listen, server.run, server.stats, server.cancel):
        with pytest.raises(RuntimeError, match="closed"):
            use()


def test_backend_that_closes_takes_its_server_along(backend, server):
    address = server.listen()
    backend.close()

    assert server.stopped
    assert is_refused(address)


def test_server_that_nobody_holds_is_closed(backend):
    address = _xsgi.Server(backend, wsgi, "wsgi", config()).listen()

    assert is_refused(address)
    other = _xsgi.Server(backend, wsgi, "wsgi", config())
    assert not other.stopped
    other.close()


def test_application_may_drop_the_server_that_calls_it(backend):
    held = []

    def app(environ, start_response):
        held.clear()
        gc.collect()
        return wsgi(environ, start_response)

    held.append(_xsgi.Server(backend, app, "wsgi", config()))
    address = held[0].listen()

    assert beside(backend, ask, address).body == b"wsgi"
    assert held == []
    assert is_refused(address)


@pytest.mark.parametrize("what", ["close", "run", "select", "backend"])
def test_application_cannot_run_or_close_what_runs_it(backend, what):
    faults = []

    def app(environ, start_response):
        act = {
            "close": server.close,
            "run": server.run,
            "select": lambda: backend.select(0),
            "backend": backend.close,
        }[what]
        try:
            act()
        except RuntimeError as fault:
            faults.append(fault)
        return wsgi(environ, start_response)

    server = _xsgi.Server(backend, app, "wsgi", config())
    address = server.listen()

    assert beside(backend, ask, address).body == b"wsgi"
    assert len(faults) == 1
    server.close()


def test_application_may_stop_the_server(backend):
    def app(environ, start_response):
        server.stop(5)
        return wsgi(environ, start_response)

    server = _xsgi.Server(backend, app, "wsgi", config())
    address = server.listen()

    answer = beside(backend, ask, address)

    assert answer.body == b"wsgi"
    assert answer.header("connection") == "close"
    assert list(server.run()) == []
    server.close()


@pytest.mark.parametrize(
    ("seconds", "stopped"),
    [
        (-1, True),
        (float("nan"), True),
        (3, True),
        (1e9 - 1, False),
        (1e9, False),
        (2.0**64, False),  # of which ns are no number that C knows
        (float("inf"), False),
        (None, False),
    ],
)
def test_stop_has_a_grace_or_is_without_limit(sim, seconds, stopped):
    def app(environ, start_response):
        start_response("200 OK", [])
        return [b"x" * 10_000_000]

    server = _xsgi.Server(sim, app, "wsgi", config(timeout_write=None))
    peer = _xsgi.SimPeer(sim, *server.listen(port=80))
    peer.write(GET)
    sim.select(0)
    sim.select(0)

    server.stop(seconds)
    for _ in range(10):
        sim.select(100)

    assert server.stopped == stopped
    peer.close()
    server.close()


def test_backend_has_one_server_at_a_time(backend, server):
    with pytest.raises(ValueError, match="has a server"):
        _xsgi.Server(backend, wsgi, "wsgi", config())
    server.close()
    _xsgi.Server(backend, wsgi, "wsgi", config()).close()


def test_wrong_options_are_told_and_leave_the_backend_free(backend):
    for options, error in (
        ({"timeout_write": 0}, ValueError),
        ({"timeout_write": -1}, ValueError),
        ({"timeout_write": 1e9 + 1}, ValueError),
        ({"timeout_keep_alive": float("inf")}, ValueError),
        ({"timeout_linger": float("nan")}, ValueError),
        ({"timeout_write": "soon"}, TypeError),
        ({"limit_request_fields": 0}, ValueError),
        ({"limit_request_line": -1}, (ValueError, OverflowError)),
        ({"limit_request_body": 1.5}, TypeError),
    ):
        for given in (config(**options), options):
            with pytest.raises(error):
                _xsgi.Server(backend, wsgi, "wsgi", given)
    with pytest.raises(ValueError, match="interface"):
        _xsgi.Server(backend, wsgi, "cgi", config())
    with pytest.raises(TypeError, match="Backend"):
        _xsgi.Server(object(), wsgi, "wsgi", config())
    _xsgi.Server(backend, wsgi, "wsgi", config()).close()


def test_address_in_use_is_an_os_error(backend, server):
    _, port = server.listen()

    with pytest.raises(OSError, match="in use"):
        server.listen(port=port)


def test_exception_that_is_set_survives_a_kick(backend):
    """The core may be called while an exception is on its way."""
    kicks = []
    told = []

    def kick():
        kicks.append(1)
        raise LookupError

    backend.on_kick = kick
    sys.unraisablehook, before = told.append, sys.unraisablehook
    try:
        server = _xsgi.Server(backend, wsgi, "wsgi", config())
        server.listen()
        server.close()
    finally:
        sys.unraisablehook = before

    assert kicks
    assert {type(each.exc_value) for each in told} == {LookupError}


def test_asgi_on_our_loop_is_called_from_within_a_turn():
    loop = Loop()
    server = _xsgi.Server(loop.backend, asgi, "asgi3", config(), loop)
    address = server.listen()

    answer = loop.run_until_complete(asyncio.to_thread(ask, address))

    assert answer.body == b"asgi"
    server.close()
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


SIGNALS = """
    import signal
    got = []
    signal.signal(signal.SIGUSR1, lambda number, frame: got.append(number))

    def wsgi(environ, start_response):
        start_response("200 OK", [])
        return [repr(got).encode()]

    async def asgi(scope, receive, send):
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": repr(got).encode()})
"""


@pytest.mark.parametrize("app", ["wsgi", "asgi"])
def test_signal_of_the_application_is_its_own(serve, tmp_path, app):
    (tmp_path / "signals_app.py").write_text(textwrap.dedent(SIGNALS))
    served = serve(f"signals_app:{app}", "--lifespan", "off", app_dir=tmp_path)

    served.process.send_signal(signal.SIGUSR1)
    with raw.Client(served.address) as client:
        body = b"[]"
        while body == b"[]":
            body = client.get("/").body

    assert body == f"[{signal.SIGUSR1:d}]".encode()
    assert served.stop() == 0


SUBINTERPRETER = """
    import asyncio, xsgi

    async def app(scope, receive, send):
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"inside"})

    async def main():
        serving = asyncio.create_task(
            xsgi.serve(app, fd=FD, lifespan="off", access_log=False)
        )
        reader, writer = await asyncio.open_connection(*ADDRESS)
        writer.write(b"GET / HTTP/1.1\\r\\nHost: test\\r\\n\\r\\n")
        answer = await reader.readuntil(b"inside")
        writer.close()
        serving.cancel()
        await asyncio.wait([serving])

    loop = xsgi.Loop()
    loop.run_until_complete(asyncio.wait_for(main(), 20))
    loop.close()
"""


def test_each_interpreter_serves_by_itself():
    interpreters = pytest.importorskip("_interpreters")
    faults = []

    def serve_in(interpreter):
        sock = socket.create_server(("127.0.0.1", 0))
        code = f"ADDRESS = {sock.getsockname()!r}; FD = {sock.detach()}\n"
        code += textwrap.dedent(SUBINTERPRETER)
        faults.append(interpreters.run_string(interpreter, code))

    created = [interpreters.create() for _ in range(3)]
    threads = [threading.Thread(target=serve_in, args=[i]) for i in created]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for interpreter in created:
        interpreters.destroy(interpreter)

    assert faults == [None] * 3


class TestCloseFromInside:
    """What `on_stopped` does while `close` still runs the backend."""

    @pytest.fixture
    def said(self, monkeypatch):
        said = []
        monkeypatch.setattr(
            sys, "unraisablehook", lambda args: said.append(args.exc_value)
        )
        return said

    @pytest.mark.parametrize("closes", ["server", "backend"])
    @pytest.mark.parametrize("does", ["server", "backend", "select"])
    def test_closing_refuses_another_run(
        self, backend, server, said, closes, does
    ):
        things = {"server": server, "backend": backend}
        server.listen()
        server.on_stopped = (
            (lambda: backend.select(0))
            if does == "select"
            else things[does].close
        )

        things[closes].close()

        assert [type(error) for error in said] == [RuntimeError]
        assert server.stopped

    def test_closing_a_backend_holds_the_server_that_it_closes(self, backend):
        box = [_xsgi.Server(backend, wsgi, "wsgi", config())]
        box[0].listen()
        box[0].on_stopped = box.clear

        backend.close()

        assert box == []


def test_watch_refuses_a_descriptor_that_no_process_has(backend):
    with pytest.raises(ValueError, match="no such fd"):
        backend.watch(2**31 - 1, 1, "key")


@pytest.mark.parametrize(
    "where", [{"port": 70000}, {"port": -1}, {"fd": -7}], ids=str
)
def test_listen_refuses_what_is_no_port_and_no_descriptor(server, where):
    with pytest.raises(ValueError, match="no such fd or port"):
        server.listen(**where)


def test_kick_cannot_run_the_backend(backend):
    seen = []

    def kick():
        with pytest.raises(RuntimeError, match="runs already"):
            backend.select(0)
        seen.append(True)

    backend.on_kick = kick
    server = _xsgi.Server(backend, wsgi, "wsgi", config())
    server.listen()
    server.stop(0)
    backend.on_kick = None
    server.close()

    assert seen
