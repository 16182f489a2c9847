"""wsgi.input of PEP 3333: the request body as a stream."""

import threading
import time

import pytest

from serving import PATIENCE
from wsgi_probe import THREADS, Probe, reading

CHUNKED = "Transfer-Encoding: chunked"


def sent_in_pieces(client, *pieces):
    for piece in pieces:
        client.send(piece)
        time.sleep(0.01)  # so that they arrive apart; nothing depends on it


def answer(read, body, threads, *fields):
    with Probe(reading(read), threads) as probe:
        return eval(probe.post(body, *fields).body)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("size", [0, 1, 1000, 70_000, 600_000, 3_000_000])
def test_read_gives_the_whole_body(threads, size):
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    digest = []

    def app(environ, start_response):
        digest.append(environ["wsgi.input"].read() == body)
        digest.append(environ["wsgi.input"].read())
        start_response("200 OK", [])
        return []

    with Probe(app, threads) as probe:
        probe.post(body, *([] if body else ["Content-Length: 0"]))

    assert digest == [True, b""]


@pytest.mark.parametrize("threads", THREADS)
def test_read_n_gives_exactly_n_until_the_end(threads):
    def read(stream):
        return [stream.read(n) for n in (0, 1, 3, 100, 100)]

    assert answer(read, b"abcdefghij", threads) == [
        b"",
        b"a",
        b"bcd",
        b"efghij",
        b"",
    ]


@pytest.mark.parametrize("threads", THREADS)
def test_read_n_crosses_blocks(threads):
    body = b"".join(b"%07d\n" % i for i in range(50_000))

    def read(stream):
        parts = []
        while part := stream.read(30_011):
            parts.append(part)
        sizes = {len(part) for part in parts[:-1]}
        return sizes, b"".join(parts) == body

    assert answer(read, body, threads) == ({30_011}, True)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("size", [None, -1, -7])
def test_size_none_or_negative_is_everything(threads, size):
    assert answer(lambda s: s.read(size), b"abc", threads) == b"abc"


@pytest.mark.parametrize("threads", THREADS)
def test_readline_ends_at_line_ends(threads):
    def read(stream):
        return [stream.readline() for _ in range(5)]

    assert answer(read, b"a\r\n\nbc\nd", threads) == [
        b"a\r\n",
        b"\n",
        b"bc\n",
        b"d",
        b"",
    ]


@pytest.mark.parametrize("threads", THREADS)
def test_readline_is_cut_at_its_size(threads):
    def read(stream):
        return [stream.readline(n) for n in (0, 2, 9, 1, 1)]

    assert answer(read, b"abc\nd\n", threads) == [
        b"",
        b"ab",
        b"c\n",
        b"d",
        b"\n",
    ]


@pytest.mark.parametrize("threads", THREADS)
def test_line_longer_than_a_block_is_one_line(threads):
    body = b"x" * 300_000 + b"\n" + b"y" * 10

    def read(stream):
        return [len(line) for line in stream]

    assert answer(read, body, threads) == [300_001, 10]


@pytest.mark.parametrize("threads", THREADS)
def test_iteration_gives_lines(threads):
    assert answer(list, b"a\nb\nc", threads) == [b"a\n", b"b\n", b"c"]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    ("hint", "lines"),
    [
        ((), [b"aa\n", b"bb\n", b"cc\n"]),
        ((None,), [b"aa\n", b"bb\n", b"cc\n"]),
        ((0,), [b"aa\n", b"bb\n", b"cc\n"]),
        ((1,), [b"aa\n"]),
        ((3,), [b"aa\n"]),
        ((4,), [b"aa\n", b"bb\n"]),
        ((99,), [b"aa\n", b"bb\n", b"cc\n"]),
    ],
)
def test_readlines_stops_after_its_hint(threads, hint, lines):
    body = b"aa\nbb\ncc\n"

    assert answer(lambda s: s.readlines(*hint), body, threads) == lines


@pytest.mark.parametrize("threads", THREADS)
def test_close_forgets_the_rest(threads):
    def read(stream):
        return stream.read(1), stream.close(), stream.read(), stream.close()

    assert answer(read, b"abc", threads) == (b"a", None, b"", None)


@pytest.mark.parametrize("threads", THREADS)
def test_wrong_arguments_are_type_errors(threads):
    def read(stream):
        errors = []
        for call in (
            lambda: stream.read("1"),
            lambda: stream.read(1, 2),
            lambda: stream.readline(b""),
            lambda: stream.readlines({}),
            lambda: stream.read(1.5),
        ):
            with pytest.raises(TypeError) as error:
                call()
            errors.append(str(error.value) != "")
        return errors, stream.read()

    assert answer(read, b"abc", threads) == ([True] * 5, b"abc")


@pytest.mark.parametrize("threads", THREADS)
def test_no_body_is_an_empty_stream(threads):
    def read(stream):
        return (
            stream.read(),
            stream.read(5),
            stream.readline(),
            stream.readlines(),
            list(stream),
        )

    with Probe(reading(read), threads) as probe:
        assert eval(probe.get().body) == (b"", b"", b"", [], [])


@pytest.mark.parametrize("threads", THREADS)
def test_body_never_reaches_into_the_next_request(threads):
    with (
        Probe(reading(lambda s: s.read()), threads) as probe,
        probe.connect() as client,
    ):
        one = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n"
        client.send(one + b"abc" + one + b"def")

        assert client.response().body == b"b'abc'"
        assert client.response().body == b"b'def'"


@pytest.mark.parametrize("threads", THREADS)
def test_unread_body_does_not_disturb_the_next_request(threads):
    def app(environ, start_response):
        start_response("200 OK", [])
        return [environ["PATH_INFO"].encode()]

    with Probe(app, threads) as probe, probe.connect() as client:
        client.request("POST", "/a", body=b"x" * 100_000)
        assert client.response().body == b"/a"
        client.request("POST", "/b", body=b"y" * 10)
        assert client.response().body == b"/b"


@pytest.mark.parametrize("threads", THREADS)
def test_chunked_body_has_no_length_and_ends_where_it_ends(threads):
    def app(environ, start_response):
        start_response("200 OK", [])
        data = environ["wsgi.input"].read()
        return [b"%s %r" % (data, "CONTENT_LENGTH" in environ)]

    with Probe(app, threads) as probe, probe.connect() as client:
        client.request("POST", "/", CHUNKED)
        sent_in_pieces(client, b"3\r\nabc\r\n", b"2\r\nde", b"\r\n0\r\n\r\n")

        assert client.response().body == b"abcde False"
        assert client.get("/").body == b" False"


@pytest.mark.parametrize("threads", THREADS)
def test_long_chunked_body_arrives_whole(threads):
    def app(environ, start_response):
        total = sum(
            map(len, iter(lambda: environ["wsgi.input"].read(9999), b""))
        )
        start_response("200 OK", [])
        return [b"%d" % total]

    with Probe(app, threads) as probe, probe.connect() as client:
        client.request("POST", "/", CHUNKED)
        for _ in range(100):
            client.send(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
        client.send(b"0\r\n\r\n")

        assert client.response().body == b"%d" % (100 * 0x4000)


@pytest.mark.parametrize("threads", THREADS)
def test_body_in_pieces_is_read_as_one(threads):
    with (
        Probe(reading(lambda s: s.readlines()), threads) as probe,
        probe.connect() as client,
    ):
        client.request("POST", "/", "Content-Length: 9")
        sent_in_pieces(client, b"a", b"b\n", b"cd", b"e\nf", b"\n")

        assert eval(client.response().body) == [b"ab\n", b"cde\n", b"f\n"]


@pytest.mark.parametrize("threads", THREADS)
def test_expect_continue_is_answered_when_the_body_is_wanted(threads):
    with (
        Probe(reading(lambda s: s.read()), threads) as probe,
        probe.connect() as client,
    ):
        client.request("POST", "/", "Content-Length: 3", "Expect: 100-continue")
        assert client.head().status == 100
        client.send(b"abc")

        assert client.response().body == b"b'abc'"


def test_expect_continue_is_not_answered_if_a_worker_does_not_read():
    def app(environ, start_response):
        start_response("403 Forbidden", [])
        return [b"no"]

    with Probe(app, threads=2) as probe, probe.connect() as client:
        client.request("POST", "/", "Content-Length: 3", "Expect: 100-continue")

        assert client.head().status == 403


def test_expect_continue_is_answered_before_the_call_if_nobody_can_wait():
    called = threading.Event()

    def app(environ, start_response):
        called.set()
        start_response("403 Forbidden", [])
        return [b"no"]

    with Probe(app, threads=1) as probe, probe.connect() as client:
        client.request("POST", "/", "Content-Length: 3", "Expect: 100-continue")
        assert client.head().status == 100
        assert not called.is_set()
        client.send(b"abc")

        assert client.response().status == 403
        assert client.get("/").status == 403


@pytest.mark.parametrize("threads", THREADS)
def test_expect_continue_is_not_answered_if_the_body_is_there(threads):
    with (
        Probe(reading(lambda s: s.read()), threads) as probe,
        probe.connect() as client,
    ):
        client.request("POST", "/", "Expect: 100-continue", body=b"abc")

        response = client.response()
        assert response.status == 200
        assert response.body == b"b'abc'"


@pytest.mark.parametrize("threads", THREADS)
def test_expect_continue_is_not_answered_if_the_body_will_be_refused(threads):
    app = reading(lambda s: s.read())
    with (
        Probe(app, threads, limit_request_body=2) as probe,
        probe.connect() as client,
    ):
        client.request("POST", "/", "Content-Length: 3", "Expect: 100-continue")

        assert client.head().status == 413


def test_worker_reads_what_has_arrived_before_the_rest_is_sent():
    first_line = threading.Event()
    lines = []

    def app(environ, start_response):
        lines.append(environ["wsgi.input"].readline())
        first_line.set()
        lines.append(environ["wsgi.input"].readline())
        start_response("200 OK", [])
        return []

    with Probe(app, threads=2) as probe, probe.connect() as client:
        client.request("POST", "/", "Content-Length: 4")
        client.send(b"a\n")
        assert first_line.wait(PATIENCE)
        client.send(b"b\n")
        client.response()

    assert lines == [b"a\n", b"b\n"]


def test_worker_that_does_not_read_holds_the_client_back():
    go_on = threading.Event()
    size = 64 * 1024 * 1024

    def app(environ, start_response):
        assert go_on.wait(PATIENCE)
        total = 0
        while data := environ["wsgi.input"].read(1 << 16):
            total += len(data)
        start_response("200 OK", [])
        return [b"%d" % total]

    with Probe(app, threads=2) as probe, probe.connect() as client:
        client.request("POST", "/", f"Content-Length: {size}")
        client.sock.settimeout(0.3)
        sent = 0
        block = b"x" * (1 << 16)
        with pytest.raises(TimeoutError):
            while sent < size:
                sent += client.sock.send(block)
        assert sent < size // 2
        go_on.set()
        client.sock.settimeout(PATIENCE)
        while sent < size:
            sent += client.sock.send(block[: size - sent])

        assert client.response().body == b"%d" % size


def test_client_that_leaves_inside_its_body_raises_in_read_on_a_worker():
    caught = []
    begun = threading.Event()
    done = threading.Event()

    def app(environ, start_response):
        begun.set()
        try:
            environ["wsgi.input"].read()
        except OSError as error:
            caught.append(error)
            raise
        finally:
            done.set()

    with Probe(app, threads=2) as probe, probe.connect() as client:
        client.request("POST", "/", "Content-Length: 10")
        client.send(b"abc")
        assert begun.wait(PATIENCE)
        client.close()
        assert done.wait(PATIENCE)

    assert type(caught[0]).__name__ == "ClientDisconnected"
    assert isinstance(caught[0], ConnectionError)
    assert probe.log() == []


def test_client_that_leaves_inside_its_body_is_not_shown_to_one_thread():
    calls = []

    def app(environ, start_response):
        calls.append(environ["PATH_INFO"])
        start_response("200 OK", [])
        return []

    with Probe(app) as probe:
        with probe.connect() as client:
            client.request("POST", "/half", "Content-Length: 600000")
            client.send(b"x" * 550_000)
        probe.get("/next")

    assert calls == ["/next"]


@pytest.mark.parametrize("threads", THREADS)
def test_input_kept_after_its_request_is_harmless(threads):
    kept = []

    def app(environ, start_response):
        kept.append(environ["wsgi.input"])
        start_response("200 OK", [])
        return []

    with Probe(app, threads) as probe:
        probe.post(b"a\nb\n")
        probe.post(b"x" * 300_000)
        probe.get()

    assert kept[0].readline() in (b"a\n", b"")
    for stream in kept:
        try:
            stream.read()
        except ValueError:
            assert threads > 1  # what did not arrive is gone
        stream.close()
        assert stream.read() == b""
