"""What serving costs the kernel: one write for a batch, nothing when idle."""

import contextlib
import os
import pathlib
import socket
import struct
import time

import pytest

import raw
import wsgi_probe

WAYS = {
    "asgi": ("examples.hello:app",),
    "asgi-uvloop": ("examples.hello:app", "--loop", "uvloop"),
    "asgi-asyncio": ("examples.hello:app", "--loop", "asyncio"),
    "wsgi": ("examples.hello_wsgi:app",),
    "wsgi-threads": ("examples.hello_wsgi:app", "--threads", "4"),
}
ROOT = pathlib.Path(__file__).parents[2]

REQUEST = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n"

#: Where Linux has the number of segments with data that came, in tcp_info.
SEGMENTS_IN = 152


@pytest.fixture
def server(request, serve):
    if "uvloop" in WAYS[request.param]:
        pytest.importorskip("uvloop")
    return serve(*WAYS[request.param], "--no-access-log", app_dir=ROOT)


def segments_in(client):
    info = client.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160)
    if len(info) < SEGMENTS_IN + 4:
        pytest.skip("the kernel does not count segments")
    return struct.unpack_from("I", info, SEGMENTS_IN)[0]


def naps(server):
    """How often a thread of the server has begun to wait, and its CPU time."""
    waits, ticks = 0, 0
    for task in pathlib.Path(f"/proc/{server.pid}/task").iterdir():
        status = (task / "status").read_text()
        waits += int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return waits, ticks


@pytest.mark.parametrize(
    "server", ["asgi", "asgi-asyncio", "wsgi"], indirect=True
)
def test_pipelined_requests_cost_one_write(server):
    with raw.Client(server.address) as client:
        client.send(REQUEST)
        assert client.response().status == 200
        before = segments_in(client)

        client.send(REQUEST * 16)

        for _ in range(16):
            assert client.response().status == 200
        assert segments_in(client) - before == 1


def writes_for(client, target):
    """How many segments the response to one more request comes in."""
    client.get(target)
    before = segments_in(client)
    assert client.get(target).complete
    return segments_in(client) - before


@pytest.mark.parametrize("loop", ["xsgi", "asyncio"])
@pytest.mark.parametrize("target", ["/hello", "/chunks"])
def test_messages_without_a_wait_between_them_cost_one_write(
    serve, loop, target
):
    server = serve("asgi_app:app", "--loop", loop, "--no-access-log")
    with raw.Client(server.address) as client:
        assert writes_for(client, target) == 1


#: Answers that end in other ways: a 500 and its page, a head alone, a body
#: that the end of the connection ends.
ENDS = {
    "failed": b"GET /returns_nothing HTTP/1.1\r\nHost: t\r\n\r\n",
    "refused": b"GET / HTTP/1.1\r\n\r\n",
    "head": b"HEAD /hello HTTP/1.1\r\nHost: t\r\n\r\n",
    "fixed, 1.0": b"GET /hello HTTP/1.0\r\n\r\n",
    "chunks, 1.0": b"GET /chunks HTTP/1.0\r\n\r\n",
}


@pytest.mark.parametrize("loop", ["xsgi", "asyncio"])
@pytest.mark.parametrize("end", ENDS)
def test_response_costs_one_write_however_it_ends(serve, loop, end):
    server = serve("asgi_app:app", "--loop", loop, "--no-access-log")
    with raw.Client(server.address) as client:
        client.get("/hello")
        before = segments_in(client)

        client.send(ENDS[end])
        client.head()
        if end not in ("failed", "head"):
            client.rest()

        assert segments_in(client) - before == 1


@pytest.mark.parametrize("threads", wsgi_probe.THREADS)
def test_blocks_of_a_list_cost_one_write(threads):
    app = wsgi_probe.answering(lambda: [b"x" * 33] * 3)
    with (
        wsgi_probe.Probe(app, threads) as probe,
        probe.connect() as client,
    ):
        assert writes_for(client, "/") == 1


def accepted(client):
    """The server's side of a connection within this process."""
    ours = client.sock.getsockname()
    for name in os.listdir("/dev/fd"):
        try:
            fd = os.dup(int(name))
        except OSError:
            continue  # it was the list's own
        try:
            sock = socket.socket(fileno=fd)
        except OSError:
            os.close(fd)
            continue
        with contextlib.suppress(OSError):
            if sock.getpeername() == ours:
                return sock
        sock.close()
    raise LookupError(ours)


def test_second_write_does_not_wait_for_the_first_to_be_acknowledged():
    app = wsgi_probe.answering(lambda: [b"x"])
    with wsgi_probe.Probe(app) as probe, probe.connect() as client:
        assert client.get("/").status == 200
        with accepted(client) as sock:
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize("server", WAYS, indirect=True)
def test_idle_server_does_not_wake_up(server, connected):
    with raw.Client(server.address) as client:
        client.send(REQUEST)
        assert client.response().status == 200
        if not connected:
            client.close()
        time.sleep(0.3)
        before = naps(server)

        time.sleep(1)

        assert naps(server) == before
