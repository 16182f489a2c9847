"""Backend and Server take what Python does in the middle of a call."""

import os
import select
import signal
import socket
import sys
import threading
import types

import pytest

import raw
from xsgi import _xsgi
from xsgi.loop import Loop

GET = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n"

#: Longer than any test may wait for what comes at once.
PATIENCE = 20


def wsgi(environ, start_response):
    start_response("200 OK", [("Content-Length", "4")])
    return [b"wsgi"]


def new_server(backend):
    return _xsgi.Server(backend, wsgi, "wsgi", types.SimpleNamespace())


class Acts:
    """A number that does something when it is asked for its value."""

    def __init__(self, act):
        self.act = act

    def __float__(self):
        self.act()
        return 1.0

    def __index__(self):
        self.act()
        return 1


@pytest.mark.parametrize(
    "call",
    [
        lambda backend, server, number: backend.select(number),
        lambda backend, server, number: server.stop(number),
        lambda backend, server, number: server.listen(port=number),
        lambda backend, server, number: backend.watch(number, 1, "key"),
        lambda backend, server, number: backend.watch(0, number, "key"),
    ],
    ids=["select", "stop", "listen", "watch", "events"],
)
def test_argument_that_closes_the_backend_is_heard(uv, call):
    server = new_server(uv)

    with pytest.raises(RuntimeError, match="closed"):
        call(uv, server, Acts(uv.close))

    assert server.stopped


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no __buffer__")
def test_buffer_that_closes_its_peer_is_heard(sim):
    class Buffer:
        def __buffer__(self, flags):
            peer.close()
            return memoryview(b"x")

    server = new_server(sim)
    peer = _xsgi.SimPeer(sim, *server.listen(port=80))

    with pytest.raises(ValueError, match="closed"):
        peer.write(Buffer())


class Key:
    """What is given for a watch; acts when nobody holds it any more."""

    def __init__(self, act):
        self.act = act

    def __del__(self):
        self.act()


@pytest.mark.parametrize("kind", ["uv", "sim"])
def test_key_that_goes_may_end_the_watch_that_it_had(kind, fd):
    backend = _xsgi.Backend(kind)
    backend.watch(fd, 1, Key(lambda: backend.unwatch(fd)))
    backend.watch(fd, 2, "key")

    assert list(backend.select(0)) == []

    backend.close()


@pytest.mark.parametrize("kind", ["uv", "sim"])
def test_key_that_goes_with_the_backend_finds_it_closed(kind, fd):
    found = []

    def act():
        try:
            backend.watch(fd, 1, "key")
        except RuntimeError as error:
            found.append(str(error))

    backend = _xsgi.Backend(kind)
    backend.watch(fd, 1, Key(act))

    backend.close()

    assert found == ["the backend is closed"]


def test_key_that_goes_cannot_close_the_backend_that_drops_it(uv, fd):
    raised = []

    def act():
        try:
            uv.close()
        except RuntimeError as error:
            raised.append(str(error))

    uv.watch(fd, 1, Key(act))
    uv.watch(fd, 2, "key")

    assert len(raised) == 1
    assert "runs already" in raised[0]
    assert list(uv.select(0)) == [("key", 2)]


@pytest.mark.parametrize("kind", ["uv", "sim"])
def test_key_that_goes_may_watch_the_descriptor_again(kind, fd):
    backend = _xsgi.Backend(kind)
    backend.watch(fd, 2, Key(lambda: backend.watch(fd, 2, "again")))
    backend.unwatch(fd)

    assert list(backend.select(0)) == [("again", 2)]

    backend.close()


def test_watch_that_cannot_be_renewed_is_over(sim, fd):
    """The simulation looks whether the descriptor is still there."""
    again = os.dup(fd)
    sim.watch(again, 2, "key")
    os.close(again)

    with pytest.raises(ValueError, match="watch"):
        sim.watch(again, 2, "again")

    os.dup2(fd, again)  # a new one, that would be ready
    assert list(sim.select(0)) == []
    os.close(again)


@pytest.mark.parametrize("does", ["unwatch", "watch"])
def test_what_was_found_ready_is_forgotten_with_its_watch(sim, fd, does):
    """The application ends the watch in the run that has found it ready."""

    def app(environ, start_response):
        ended.append(True)
        if does == "unwatch":
            sim.unwatch(fd)
        else:
            sim.watch(fd, 1, "another")  # and nothing is there to be read
        return wsgi(environ, start_response)

    ended = []
    server = _xsgi.Server(sim, app, "wsgi", types.SimpleNamespace())
    peer = _xsgi.SimPeer(sim, *server.listen(port=80))
    sim.watch(fd, 2, "key")
    peer.write(GET)
    ready = []
    while not ended:
        ready.append(list(sim.select(1)))

    assert ready == [[("key", 2)]] * (len(ready) - 1) + [[]]


def test_loop_whose_backend_is_closed_in_a_turn_says_so(fd):
    class Closes(Loop):
        def _process_events(self, events):
            super()._process_events(events)
            if any(key.fd == fd for key, _ in events):
                self.backend.close()

    loop = Closes()
    loop.add_writer(fd, lambda: None)
    loop.call_later(PATIENCE, lambda: None)
    assert isinstance(loop._run_once.__self__, _xsgi.Turns)

    with pytest.raises(RuntimeError, match="closed"):
        loop.run_forever()

    loop.close()


def test_loop_whose_backend_is_closed_takes_no_timer(fd):
    class Closes(Loop):
        closes = False

        @property
        def _stopping(self):
            if self.closes:
                self.backend.close()
            return False

        @_stopping.setter
        def _stopping(self, value):
            pass

    loop = Closes()
    loop.call_later(PATIENCE, lambda: None)
    loop.closes = True

    with pytest.raises(RuntimeError, match="closed"):
        loop.run_forever()

    loop.close()


def test_timers_that_are_no_list_are_told(fd):
    loop = Loop()
    loop._scheduled = ()

    with pytest.raises(TypeError, match="not a list"):
        loop.call_later(1, print)
    with pytest.raises(TypeError, match="not a list"):
        loop.call_at(1.0, print)

    loop._scheduled = []
    loop.close()


# ---- numbers that do not fit ----


@pytest.mark.parametrize("port", [-1, 65536, 65616, 2**40])
def test_peer_refuses_what_is_no_port(sim, port):
    new_server(sim).listen(port=80)

    with pytest.raises((ValueError, OverflowError)):
        _xsgi.SimPeer(sim, "127.0.0.1", port)


@pytest.mark.parametrize("seed", [-1, 2**64, 2**64 + 7])
def test_backend_refuses_a_seed_of_more_than_64_bits(seed):
    with pytest.raises(OverflowError):
        _xsgi.Backend("sim", seed=seed)


def test_backend_takes_the_largest_seed():
    _xsgi.Backend("sim", seed=2**64 - 1).close()


@pytest.mark.parametrize("events", [0, 4, -1, 2**32 + 1])
def test_watch_refuses_what_is_no_event(uv, fd, events):
    with pytest.raises((ValueError, OverflowError)):
        uv.watch(fd, events, "key")


# ---- how long, and what ends it ----


@pytest.mark.parametrize(
    ("timeout", "passed"),
    [
        (0, 0),
        (-5, 0),
        (float("nan"), 0),
        (1e-9, 1e-9),
        (1.5e-9, 2e-9),  # never too short
        (0.25, 0.25),
        (86400, 86400),
    ],
)
def test_select_waits_as_long_as_it_was_told(sim, timeout, passed):
    start = sim.time()

    sim.select(timeout)

    assert round((sim.time() - start) * 1e9) == round(passed * 1e9)


@pytest.mark.parametrize("timeout", [1e9, 1e10, 2.0**64, float("inf")])
def test_select_waits_without_limit_beyond_all_clocks(sim, timeout):
    start = sim.time()
    server = new_server(sim)
    server.listen(port=80)
    peer = _xsgi.SimPeer(sim, "127.0.0.1", 80)
    sim.select(0)

    sim.select(timeout)

    assert 10 < sim.time() - start < 60  # the deadline of the first head
    peer.close()
    server.close()


class HeardError(Exception):
    pass


@pytest.fixture
def interrupt():
    """``interrupt()`` sends a signal whose handler raises HeardError.

    It returns the event that is set when the handler has run.
    """

    def handler(number, frame):
        heard.set()
        raise HeardError

    def send():
        os.kill(os.getpid(), signal.SIGUSR1)
        return heard

    heard = threading.Event()
    before = signal.signal(signal.SIGUSR1, handler)
    yield send
    signal.signal(signal.SIGUSR1, before)


def test_handler_of_a_signal_ends_a_run_that_serves_on(uv, interrupt):
    """The run calls no Python code that would do it by the way."""

    def disturb():
        with raw.Client(address) as client:
            client.get("/")
        # The application was the last Python code that the run has called.
        heard = interrupt()
        # libuv waits on after a signal: here is what it waits for.
        with socket.create_connection(address, PATIENCE):
            found.append(heard.wait(PATIENCE))
        writer.send(b"x")

    server = new_server(uv)
    address = server.listen()
    reader, writer = socket.socketpair()
    uv.watch(reader.fileno(), 1, "rescue")
    found = []
    thread = threading.Thread(target=disturb)
    thread.start()
    with pytest.raises(HeardError):
        server.run()
    thread.join(2 * PATIENCE)

    assert found == [True]
    assert select.select([reader], [], [], PATIENCE)[0]
    server.close()
    uv.close()
    reader.close()
    writer.close()


def test_handler_that_raises_leaves_what_is_ready_for_the_next_run(
    uv, interrupt
):
    def disturb():
        with raw.Client(address) as client:
            client.get("/")
            interrupt()
            writer.send(b"x")

    server = new_server(uv)
    address = server.listen()
    reader, writer = socket.socketpair()
    uv.watch(reader.fileno(), 1, "key")
    thread = threading.Thread(target=disturb)
    thread.start()
    with pytest.raises(HeardError):
        server.run()
    thread.join(PATIENCE)

    assert list(uv.select(0)) == [("key", 1)]
    server.close()
    uv.close()
    reader.close()
    writer.close()


# ---- the kick ----


def test_kick_comes_when_the_call_is_over(uv):
    """In the middle of it, stop would miss the listener that is coming."""
    server = new_server(uv)
    uv.on_kick = lambda: server.stop(0)

    address = server.listen()
    uv.select(0)

    assert server.stopped
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, PATIENCE)


def test_kick_comes_once_until_the_next_run(uv):
    kicks = []
    server = new_server(uv)
    uv.on_kick = lambda: kicks.append(True)

    server.listen()
    uv.next()
    server.listen()
    assert len(kicks) == 1

    uv.select(0)
    server.listen()
    assert len(kicks) == 2
