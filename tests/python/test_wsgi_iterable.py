"""The iterable that a PEP 3333 application returns."""

import contextlib
import gc
import io
import pathlib
import threading
import time
import types
import weakref

import pytest

from raw import Client
from serving import PATIENCE
from wsgi_probe import PLAIN, THREADS, Blocks, Probe, answering
from xsgi import _xsgi


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize(
    "blocks",
    [
        [],
        [b""],
        [b"", b""],
        [b"one"],
        [b"one", b"", b"two"],
        [b"x" * 20_000, b"y" * 20_000],
        [b"x" * 300_000],
        [b"a" * 100_000] * 30,
        [b"", b"z" * 50_000, b""],
        [b"%d," % i for i in range(5000)],
    ],
)
def test_list_or_tuple_has_a_content_length(threads, kind, blocks):
    with Probe(answering(lambda: kind(blocks)), threads) as probe:
        response = probe.get()

    body = b"".join(blocks)
    assert response.body == body
    assert response.header("content-length") == str(len(body))
    assert response.header("transfer-encoding") is None


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("length", ["6", "006"])
def test_content_length_of_the_application_is_kept(threads, length):
    headers = [("Content-Length", length)]

    with Probe(
        answering(lambda: [b"abc", b"def"], headers=headers), threads
    ) as p:
        response = p.get()

    assert int(response.header("content-length")) == 6
    assert response.body == b"abcdef"


@pytest.mark.parametrize("threads", THREADS)
def test_generator_without_a_length_is_chunked(threads):
    with Probe(answering(lambda: iter([b"a", b"", b"bc"])), threads) as probe:
        response = probe.get()

    assert response.header("transfer-encoding") == "chunked"
    assert response.header("content-length") is None
    assert (response.body, response.complete) == (b"abc", True)


@pytest.mark.parametrize("threads", THREADS)
def test_generator_without_blocks_has_an_empty_body(threads):
    with Probe(answering(lambda: iter([b"", b""])), threads) as probe:
        response = probe.get()

    assert response.header("content-length") == "0"
    assert response.body == b""


@pytest.mark.parametrize("threads", THREADS)
def test_iterable_of_length_one_has_a_content_length(threads):
    class One:
        def __len__(self):
            return 1

        def __iter__(self):
            return iter([b"only"])

    with Probe(answering(One), threads) as probe:
        response = probe.get()

    assert response.header("content-length") == "4"
    assert response.body == b"only"


@pytest.mark.parametrize("threads", THREADS)
def test_subclass_of_list_is_closed_like_any_iterable(threads):
    closed = []

    class Response(list):
        def close(self):
            closed.append(True)

    with Probe(answering(lambda: Response([b"a", b"b"])), threads) as probe:
        assert probe.get().body == b"ab"

    assert closed == [True]


@pytest.mark.parametrize("threads", THREADS)
def test_http_1_0_gets_no_chunks(threads):
    with (
        Probe(answering(lambda: iter([b"a", b"b"])), threads) as probe,
        probe.connect() as client,
    ):
        client.send(b"GET / HTTP/1.0\r\n\r\n")
        response = client.response()

    assert response.header("transfer-encoding") is None
    assert response.body == b"ab"


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("kind", [list, iter])
def test_head_gets_no_body_and_the_next_response_is_whole(threads, kind):
    app = answering(lambda: kind([b"abc", b"d"]))

    with Probe(app, threads) as probe, probe.connect() as client:
        client.request("HEAD", "/")
        client.request("GET", "/")

        assert client.response("HEAD").body == b""
        assert client.response().body == b"abcd"


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("kind", [list, iter])
@pytest.mark.parametrize("blocks", [[], [b"x"], [b"x" * 99, b"x"]])
def test_length_said_to_a_head_request_needs_no_body(threads, kind, blocks):
    app = answering(lambda: kind(blocks), headers=[("Content-Length", "99")])

    with Probe(app, threads) as probe, probe.connect() as client:
        for _ in range(2):
            client.request("HEAD", "/")
            response = client.response("HEAD")
            assert response.status == 200
            assert response.header("content-length") == "99"

    assert probe.log() == []


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
@pytest.mark.parametrize("blocks", [[], [b""], [b"a" * 9000, b"b" * 9000]])
def test_bodiless_status_has_no_body_and_no_invented_length(
    threads, status, blocks
):
    with (
        Probe(answering(lambda: list(blocks), status, []), threads) as probe,
        probe.connect() as client,
    ):
        first = client.get("/")
        second = client.get("/")

    assert first.status == second.status == int(status[:3])
    assert first.header("content-length") is None
    assert first.header("transfer-encoding") is None


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    "status", ["204 No Content", "205 Reset Content", "304 Not Modified"]
)
def test_bodiless_status_needs_no_body_of_the_length_it_says(threads, status):
    fields = [("Content-Length", "5")]

    with (
        Probe(answering(lambda: [b""], status, fields), threads) as probe,
        probe.connect() as client,
    ):
        statuses = [client.get("/").status for _ in range(2)]

    assert statuses == [int(status[:3])] * 2
    assert probe.log() == []


@pytest.mark.parametrize("threads", THREADS)
def test_block_reaches_the_client_before_the_next_one_is_asked_for(threads):
    got = threading.Event()

    def blocks():
        yield b"first"
        assert got.wait(PATIENCE)
        got.clear()
        yield b"second"
        assert got.wait(PATIENCE)

    with Probe(answering(blocks), threads) as probe, probe.connect() as client:
        client.request("GET", "/")
        client.head()
        chunks = client.chunks()
        assert next(chunks) == b"first"
        got.set()
        assert next(chunks) == b"second"
        got.set()
        assert list(chunks) == []
        assert client.ended


def kernel_buffer():
    """The most that a socket keeps of what is sent."""
    limits = pathlib.Path("/proc/sys/net/ipv4/tcp_wmem")
    return int(limits.read_text().split()[2]) if limits.exists() else 4 << 20


@pytest.mark.parametrize("threads", THREADS)
def test_iterable_is_not_advanced_while_the_client_does_not_read(threads):
    # A worker may be ahead by one block that waits for the loop.
    blocks = Blocks([b"x" * (1 << 20)] * 100)

    with (
        Probe(answering(lambda: blocks), threads) as probe,
        probe.connect(receive_buffer=4096) as client,
    ):
        client.request("GET", "/")
        client.head()
        taken = -1
        while taken != blocks.taken:
            taken = blocks.taken
            time.sleep(0.1)
        # What fits into the kernel's buffer, and little more.
        assert taken < (kernel_buffer() >> 20) + 8
        response_size = sum(map(len, client.chunks()))
        assert client.ended

    assert response_size == 100 << 20
    assert (blocks.taken, blocks.closed) == (100, 1)


@pytest.mark.parametrize("threads", THREADS)
def test_long_blocks_arrive_whole_through_a_narrow_window(threads):
    blocks = [bytes([i]) * 150_000 for i in range(40)]

    with (
        Probe(answering(lambda: iter(blocks)), threads) as probe,
        probe.connect(receive_buffer=4096) as client,
    ):
        response = client.get("/")

    assert response.body == b"".join(blocks)


def test_endless_iterable_leaves_turns_to_others():
    blocks = Blocks(iter(lambda: b"x", None))
    seen = []

    def app(environ, start_response):
        start_response("200 OK", PLAIN)
        if environ["PATH_INFO"] == "/endless":
            return blocks
        seen.append(blocks.taken)
        return [b"short"]

    with Probe(app) as probe, probe.connect() as endless:
        endless.request("GET", "/endless")
        stop = threading.Event()

        def drink():
            while not stop.is_set():
                endless.sock.recv(1 << 20)

        drinker = threading.Thread(target=drink)
        drinker.start()
        with probe.connect() as client:
            for _ in range(20):
                assert client.get("/").body == b"short"
        stop.set()
        drinker.join()

    # How many blocks are between two requests is a matter of speed: client and
    # server share a GIL here. See the next test for the bound.
    assert len(seen) == 20
    assert seen[0] < seen[-1]


def test_one_turn_takes_few_blocks_of_an_iterable():
    blocks = Blocks(iter(lambda: b"x", None))
    backend = _xsgi.Backend("uv")
    config = types.SimpleNamespace(threads=1)
    server = _xsgi.Server(backend, answering(lambda: blocks), "wsgi", config)
    taken = []

    with Client(server.listen()) as client:
        client.request("GET", "/")
        client.sock.setblocking(False)
        while blocks.taken < 1000:
            before = blocks.taken
            backend.select(5)
            taken.append(blocks.taken - before)
            with contextlib.suppress(BlockingIOError):
                client.sock.recv(1 << 20)
    server.close()
    backend.close()

    assert max(taken) <= 3 * 8  # the request, what is posted, what drains


def test_one_turn_takes_few_blocks_of_a_list(sim):
    blocks = [b"x"] * 100_000
    config = types.SimpleNamespace(threads=1)
    server = _xsgi.Server(sim, answering(lambda: blocks), "wsgi", config)
    peer = _xsgi.SimPeer(sim, *server.listen(port=80))
    peer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    came = []

    while sum(came) < len(blocks):
        sim.select(0)
        came.append(len(peer.read(1 << 20) or b""))

    assert max(came) <= 3000
    peer.close()
    server.close()


@pytest.mark.parametrize("threads", THREADS)
def test_pipelined_requests_are_answered_in_order(threads):
    def app(environ, start_response):
        start_response("200 OK", PLAIN)
        if environ["QUERY_STRING"]:
            return iter([environ["PATH_INFO"].encode()])
        return [environ["PATH_INFO"].encode()]

    with Probe(app, threads) as probe, probe.connect() as client:
        lines = [
            f"GET /{i}{('', '?x')[i % 2]} HTTP/1.1\r\nHost: a\r\n\r\n"
            for i in range(100)
        ]
        client.send("".join(lines).encode())
        for i in range(100):
            assert client.response().body == b"/%d" % i


@pytest.mark.parametrize("threads", THREADS)
def test_nothing_of_a_request_is_kept(threads):
    class Result:
        def __iter__(self):
            return iter([b"x"])

    refs = []

    def app(environ, start_response):
        result = Result()
        refs.append(weakref.ref(result))
        start_response("200 OK", PLAIN)
        return result

    gc.disable()
    try:
        with Probe(app, threads) as probe:
            for _ in range(10):
                probe.get()
        assert [ref() for ref in refs] == [None] * 10
    finally:
        gc.enable()


@pytest.mark.parametrize("threads", THREADS)
def test_file_wrapper_gives_the_blocks_of_a_file(threads, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(range(256)) * 2000)
    files = []

    def app(environ, start_response):
        files.append(path.open("rb"))
        start_response("200 OK", PLAIN)
        return environ["wsgi.file_wrapper"](files[-1], 4096)

    with Probe(app, threads) as probe:
        response = probe.get()

    assert response.body == path.read_bytes()
    assert files[0].closed


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("block", [1, 2, 5, 8192])
def test_file_without_a_descriptor_gives_as_much_as_was_said(threads, block):
    def app(environ, start_response):
        file = io.BytesIO(b"0123456789")
        file.seek(2)
        start_response("200 OK", [("Content-Length", "5")])
        return environ["wsgi.file_wrapper"](file, block)

    with Probe(app, threads) as probe:
        assert probe.get().body == b"23456"
        assert probe.get().body == b"23456"


@pytest.mark.parametrize("threads", THREADS)
def test_file_wrapper_takes_anything_with_read(threads):
    class Reader:
        def __init__(self):
            self.blocks = [b"b", b"a"]

        def read(self, size):
            return self.blocks.pop() if self.blocks else b""

    def app(environ, start_response):
        start_response("200 OK", PLAIN)
        return environ["wsgi.file_wrapper"](Reader())

    with Probe(app, threads) as probe:
        assert probe.get().body == b"ab"
