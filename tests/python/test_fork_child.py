"""What a forked child may do with a backend, a server and a loop: nothing.

It shares the poll's descriptor: what the child closes, the parent does not
hear of any more.
"""

import gc
import os
import socket
import types

import pytest

import raw
from xsgi import _xsgi
from xsgi.loop import Loop

GET = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n"

#: The end of a child that came back to the server.
LEFT = (1, "")


def app(environ, start_response):
    start_response("200 OK", [("Content-Length", "5")])
    return [b"hello"]


def in_child(act):
    """The exit code of a child that calls ``act``, and what that gave."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            said = str(act())
        except BaseException as error:
            said = repr(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        said = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said


class Site(types.SimpleNamespace):
    """A server on a backend of its own, with a client and a watch."""

    def __init__(self):
        super().__init__()
        self.backend = _xsgi.Backend()
        config = types.SimpleNamespace(threads=1)
        self.server = _xsgi.Server(self.backend, app, "wsgi", config)
        self.address = self.server.listen()
        self.client = raw.Client(self.address)
        self.ours, self.theirs = socket.socketpair()
        self.backend.watch(self.ours.fileno(), 1, "key")
        self.serve(self.client)

    def serve(self, client):
        client.request("GET", "/")
        client.sock.setblocking(False)
        for _ in range(100):
            self.backend.select(0.1)
            try:
                return client.sock.recv(1000)
            except BlockingIOError:
                continue
        raise AssertionError("no answer")

    def check(self):
        """Everything goes on."""
        assert self.serve(self.client).endswith(b"hello")
        with raw.Client(self.address) as another:
            assert self.serve(another).endswith(b"hello")
        self.theirs.send(b"x")
        told = [self.backend.select(0.1) for _ in range(10)]
        assert [("key", 1)] in told

    def close(self):
        self.backend.unwatch(self.ours.fileno())
        self.ours.close()
        self.theirs.close()
        self.client.close()
        self.server.close()
        self.backend.close()


@pytest.fixture
def site():
    site = Site()
    yield site
    site.close()


@pytest.mark.parametrize(
    "act",
    [
        lambda site: site.backend.watch(0, 1, "key"),
        lambda site: site.backend.unwatch(site.ours.fileno()),
        lambda site: site.backend.next(),
        lambda site: site.server.listen(),
        lambda site: site.server.stop(0),
    ],
)
def test_call_in_a_child_is_refused(site, act):
    code, said = in_child(lambda: act(site))

    assert code == 0
    assert "RuntimeError" in said
    assert "parent process's" in said
    site.check()


@pytest.mark.parametrize(
    "run",
    [
        lambda site: site.backend.select(0),
        lambda site: list(site.server.run()),
    ],
)
def test_child_that_would_run_the_backend_is_ended(site, run):
    assert in_child(lambda: run(site)) == LEFT

    site.check()


def drop(site, *names):
    """Let go of them, and of what only they hold."""
    for name in names:
        setattr(site, name, None)
    gc.collect()
    return "dropped"


@pytest.mark.parametrize(
    "names",
    [["server"], ["server", "backend"], ["client", "ours", "theirs"]],
    ids="-".join,
)
def test_child_that_drops_its_copies_takes_nothing_with_them(site, names):
    assert in_child(lambda: drop(site, *names)) == (0, "dropped")

    site.check()


def test_child_that_collects_a_cycle_takes_nothing_with_it(site):
    """The backend is in a cycle of its own, by the key of a watch."""
    ours, theirs = socket.socketpair()
    backend = _xsgi.Backend()
    backend.watch(ours.fileno(), 1, [backend])
    backend.select(0)  # the poll knows of it from here on
    held = [backend]
    del backend

    assert in_child(lambda: (held.clear(), gc.collect())[0]) == (0, "None")

    theirs.send(b"x")
    told = [held[0].select(0.1) for _ in range(10)]
    assert any(told)
    held[0].unwatch(ours.fileno())
    held[0].close()
    ours.close()
    theirs.close()


def test_child_that_drops_a_peer_leaves_no_error_behind(sim):
    server = _xsgi.Server(sim, app, "wsgi", types.SimpleNamespace())
    peers = [_xsgi.SimPeer(sim, *server.listen(port=80))]

    assert in_child(peers.clear) == (0, "None")

    peers[0].close()
    server.close()


@pytest.mark.parametrize("what", ["stops", "goes on"])
def test_child_of_a_callback_does_not_come_back_from_the_loop(what):
    loop = Loop()
    parent = os.getpid()
    codes = []

    def fork():
        pid = os.fork()
        if pid == 0 and what == "goes on":
            return
        loop.stop()
        if pid > 0:
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    loop.call_soon(fork)
    try:
        loop.run_forever()
    finally:
        if os.getpid() != parent:
            os._exit(5)  # it came back
    loop.close()

    assert codes == [1]


def test_child_may_serve_with_a_backend_of_its_own(site):
    def serve():
        own = Site()
        own.check()
        own.close()
        return "served"

    assert in_child(serve) == (0, "served")

    site.check()
