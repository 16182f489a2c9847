"""Who may use a backend, and when: one thread, and not from inside of a run."""

import asyncio
import gc
import socket
import sys
import threading
import types

import pytest

import raw
from xsgi import _xsgi
from xsgi.guest import Guest
from xsgi.loop import Loop

REQUEST = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n"

#: Longer than any test may wait for what comes at once.
PATIENCE = 20

OF_ANOTHER_THREAD = "another thread"


def wsgi(environ, start_response):
    start_response("200 OK", [("Content-Length", "4")])
    return [b"wsgi"]


def new_server(backend, app=wsgi):
    return _xsgi.Server(backend, app, "wsgi", types.SimpleNamespace())


def elsewhere(act):
    """Call ``act`` on another thread: what it raises, or None."""
    raised = []

    def run():
        try:
            act()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    return raised[0] if raised else None


def refused(error):
    return isinstance(error, RuntimeError) and OF_ANOTHER_THREAD in str(error)


class World:
    """A simulation with a server and a client, and one of each thing."""

    def __init__(self, backend, fd, app):
        self.backend = backend
        self.fd = fd
        self.server = new_server(backend, app)
        self.address = self.server.listen(port=80)
        self.peer = _xsgi.SimPeer(backend, *self.address)

    def ask(self):
        self.peer.write(REQUEST)
        got = b""
        while b"\r\n\r\nwsgi" not in got:
            self.backend.select(1)
            got += self.peer.read(1000) or b""


#: What touches a backend, by type and name. None of it is for other threads.
TOUCHES = {
    "Backend.select": lambda w: w.backend.select(0),
    "Backend.watch": lambda w: w.backend.watch(w.fd, 1, "key"),
    "Backend.unwatch": lambda w: w.backend.unwatch(w.fd),
    "Backend.next": lambda w: w.backend.next(),
    "Backend.trace_hash": lambda w: w.backend.trace_hash(),
    "Backend.calm": lambda w: w.backend.calm(),
    "Backend.close": lambda w: w.backend.close(),
    "Server.listen": lambda w: w.server.listen(port=81),
    "Server.stop": lambda w: w.server.stop(1),
    "Server.run": lambda w: w.server.run(),
    "Server.cancel": lambda w: w.server.cancel(),
    "Server.close": lambda w: w.server.close(),
    "SimPeer": lambda w: _xsgi.SimPeer(w.backend, *w.address),
    "SimPeer.write": lambda w: w.peer.write(b"x"),
    "SimPeer.read": lambda w: w.peer.read(1),
    "SimPeer.shutdown": lambda w: w.peer.shutdown(),
    "SimPeer.reset": lambda w: w.peer.reset(),
    "SimPeer.close": lambda w: w.peer.close(),
}

#: What only reads numbers, or sets what is called.
READS = {
    "Backend.time": lambda w: w.backend.time(),
    "Backend.fileno": lambda w: w.backend.fileno(),
    "Backend.on_kick": lambda w: w.backend.on_kick,
    "Server.stats": lambda w: w.server.stats(),
    "Server.stopped": lambda w: w.server.stopped,
    "Server.on_stopped": lambda w: w.server.on_stopped,
    "SimPeer.on_event": lambda w: w.peer.on_event,
}

#: What runs or closes, and so is not for the inside of a run either.
ALONE = ["select", "run", "close"]


def test_every_method_is_known_to_touch_or_to_read():
    names = {
        f"{kind.__name__}.{name}"
        for kind in (_xsgi.Backend, _xsgi.Server, _xsgi.SimPeer)
        for name in vars(kind)
        if not name.startswith("__")
    }

    assert names == {name for name in (*TOUCHES, *READS) if "." in name}


@pytest.mark.parametrize("name", TOUCHES)
def test_call_on_another_thread_is_refused_while_it_runs(sim, fd, name):
    raised = []

    def app(environ, start_response):
        raised.append(elsewhere(lambda: TOUCHES[name](world)))
        return wsgi(environ, start_response)

    world = World(sim, fd, app)
    world.ask()

    assert [refused(error) for error in raised] == [True], raised


@pytest.mark.parametrize("name", TOUCHES)
def test_call_on_another_thread_is_refused_between_two_runs(sim, fd, name):
    """It has a server: whose that is must not depend on the moment."""
    world = World(sim, fd, wsgi)

    error = elsewhere(lambda: TOUCHES[name](world))

    assert refused(error), error
    world.ask()


@pytest.mark.parametrize("name", READS)
def test_what_only_reads_may_be_asked_on_any_thread(sim, fd, name):
    raised = []

    def app(environ, start_response):
        raised.append(elsewhere(lambda: READS[name](world)))
        return wsgi(environ, start_response)

    world = World(sim, fd, app)
    world.ask()

    assert raised == [None]


@pytest.mark.parametrize("name", TOUCHES)
def test_call_from_inside_is_refused_if_it_runs_or_closes(sim, fd, name):
    raised = []

    def app(environ, start_response):
        # The one that asks goes on to be used.
        world.peer, peer = _xsgi.SimPeer(sim, *world.address), world.peer
        try:
            TOUCHES[name](world)
        except RuntimeError as error:
            raised.append(str(error))
        world.peer = peer
        return wsgi(environ, start_response)

    world = World(sim, fd, app)
    world.ask()

    kind, _, method = name.partition(".")
    alone = method in ALONE and kind != "SimPeer"
    assert ["runs already" in text for text in raised] == [True] * alone


def test_select_that_blocks_on_one_thread_is_refused_on_another(uv):
    """And what blocks is woken by what it watches, not by the attempts."""
    reader, writer = socket.socketpair()
    uv.watch(reader.fileno(), 1, "key")
    raised = []

    def disturb():
        # Until the other one is inside, this is a run like any other.
        while not refused(error := elsewhere(lambda: uv.select(0))):
            assert error is None
        raised.append(elsewhere(lambda: new_server(uv)))
        raised.append(elsewhere(uv.close))
        raised.append(elsewhere(lambda: uv.unwatch(reader.fileno())))
        writer.send(b"x")

    thread = threading.Thread(target=disturb)
    thread.start()
    ready = uv.select(None)
    thread.join(PATIENCE)

    assert list(ready) == [("key", 1)]
    assert len(raised) == 3
    assert all(map(refused, raised)), raised
    uv.close()
    reader.close()
    writer.close()


def test_backend_without_a_server_goes_from_thread_to_thread(uv, fd):
    for act in (
        lambda: uv.watch(fd, 1, "key"),
        lambda: uv.select(0),
        lambda: uv.unwatch(fd),
        uv.close,
    ):
        assert elsewhere(act) is None


def test_server_of_a_thread_that_has_ended_is_anybodys(uv):
    made = []
    assert elsewhere(lambda: made.append(new_server(uv))) is None

    address = made[0].listen()
    with raw.Client(address) as client:
        client.send(REQUEST)
        while not made[0].stats()["served"]:
            uv.select(PATIENCE)
        assert client.response().body == b"wsgi"

    assert refused(elsewhere(made[0].close))  # it is this thread's by now
    made[0].close()


# ---- the last reference goes ----


def test_server_dropped_on_another_thread_is_closed_by_its_own(uv):
    told = []
    held = [new_server(uv)]
    held[0].on_stopped = lambda: told.append(threading.get_ident())
    address = held[0].listen()

    assert elsewhere(held.clear) is None
    assert told == []
    uv.select(PATIENCE)  # it was woken for that

    assert told == [threading.get_ident()]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, PATIENCE)
    new_server(uv).close()


def test_server_dropped_on_another_thread_serves_until_the_run_is_over(uv):
    def app(environ, start_response):
        assert elsewhere(held.clear) is None
        return wsgi(environ, start_response)

    held = [new_server(uv, app)]
    address = held[0].listen()
    with raw.Client(address) as client:
        client.send(REQUEST)
        while held:
            uv.select(PATIENCE)

        assert client.response().body == b"wsgi"
        assert client.is_closed()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, PATIENCE)


def test_server_dropped_by_its_worker_is_closed_by_its_own_thread(
    uv, monkeypatch
):

    def app(environ, start_response):
        began.set()
        assert goes_on.wait(PATIENCE)
        held.clear()
        dropped.set()
        return wsgi(environ, start_response)

    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    began, goes_on, dropped = (threading.Event() for _ in range(3))
    config = types.SimpleNamespace(threads=3)
    held = [_xsgi.Server(uv, app, "wsgi", config)]
    address = held[0].listen()
    with raw.Client(address) as client:
        client.send(REQUEST)
        while not began.is_set():
            uv.select(0.01)

        goes_on.set()
        assert dropped.wait(PATIENCE)
        uv.select(PATIENCE)

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, PATIENCE)
    assert told == []


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_peer_dropped_inside_a_run_is_closed_with_it(sim, fd, where):
    """The server's end of its connection is closed in turn."""

    def app(environ, start_response):
        drop = dropped.clear
        assert drop() is None if where == "here" else elsewhere(drop) is None
        return wsgi(environ, start_response)

    world = World(sim, fd, app)
    dropped = [_xsgi.SimPeer(sim, *world.address)]
    world.ask()
    sim.select(1)

    assert world.server.stats()["accepted"] == 2
    assert world.server.stats()["connections"] == 1


def test_peer_dropped_on_another_thread_is_closed_between_runs(sim, fd):
    world = World(sim, fd, wsgi)
    dropped = [_xsgi.SimPeer(sim, *world.address)]
    world.ask()
    assert world.server.stats()["connections"] == 2

    assert elsewhere(dropped.clear) is None
    sim.select(1)
    sim.select(1)

    assert world.server.stats()["connections"] == 1


def test_peer_dropped_on_another_thread_goes_with_its_backend(sim, fd):
    world = World(sim, fd, wsgi)
    dropped = [_xsgi.SimPeer(sim, *world.address) for _ in range(3)]

    assert elsewhere(dropped.clear) is None
    sim.close()

    assert world.server.stopped


def test_kick_may_drop_the_server_that_kicks(uv):
    held = [new_server(uv)]
    uv.on_kick = held.clear

    address = held[0].listen()

    assert held == []
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, PATIENCE)


def test_kick_of_a_response_may_drop_the_server_that_gives_it():
    """The core goes on after the kick: the server stays until the next run."""

    async def app(scope, receive, send):
        await asyncio.sleep(0)  # a step of a task, outside of any run
        guest.backend.on_kick = drop
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"asgi"})

    def drop():
        held.clear()
        gc.collect()
        guest.backend.on_kick = guest._kick
        guest._kick()

    async def main():
        with raw.Client(address) as client:
            client.send(REQUEST)
            await asyncio.to_thread(client.rest)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, PATIENCE)

    loop = asyncio.SelectorEventLoop()
    guest = Guest(loop)
    held = [
        _xsgi.Server(guest.backend, app, "asgi3", types.SimpleNamespace(), loop)
    ]
    address = held[0].listen()
    loop.run_until_complete(asyncio.wait_for(main(), PATIENCE))
    assert held == []
    guest.close()
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def test_server_whose_thread_does_not_come_goes_with_its_backend():
    held = [_xsgi.Backend()]
    held.append(new_server(held[0]))
    address = held[1].listen()
    assert elsewhere(lambda: held.pop(1) and None) is None

    held.clear()
    assert elsewhere(gc.collect) is None

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, PATIENCE)


def test_server_that_only_its_backend_holds_is_garbage():
    """After a kick it is held until the next run, and there is none."""

    async def app(scope, receive, send):
        await asyncio.sleep(0)  # a step of a task, outside of any run
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"asgi"})
        loop.stop()

    loop = asyncio.SelectorEventLoop()
    backend = _xsgi.Backend()
    server = _xsgi.Server(backend, app, "asgi3", types.SimpleNamespace(), loop)
    address = server.listen()
    backend.on_kick = lambda: None
    with raw.Client(address) as client:
        client.send(REQUEST)
        while not server.stats()["running"]:
            backend.select(PATIENCE)
        loop.run_forever()

        del server, backend
        gc.collect()

        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, PATIENCE)
    loop.close()


@pytest.mark.parametrize("interface", ["asgi3", "wsgi"])
def test_access_log_cannot_close_the_server_that_calls_it(interface):
    """It is told of a response by the core, here in a step of a task."""

    async def app(scope, receive, send):
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"asgi"})

    def emit(*told):
        with pytest.raises(RuntimeError, match="runs already"):
            server.close()
        with pytest.raises(RuntimeError, match="runs already"):
            loop.backend.select(0)
        said.append(told)

    async def main():
        with raw.Client(address) as client:
            client.send(REQUEST)
            return await asyncio.to_thread(client.response)

    said = []
    loop = Loop()
    server = _xsgi.Server(
        loop.backend,
        wsgi if interface == "wsgi" else app,
        interface,
        types.SimpleNamespace(access_log=True, access_emit=emit),
        loop,
    )
    address = server.listen()

    answer = loop.run_until_complete(asyncio.wait_for(main(), PATIENCE))

    assert answer.status == 200
    assert len(said) == 1
    server.close()
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
