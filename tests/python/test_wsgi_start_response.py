"""start_response and write of PEP 3333."""

import sys
import threading

import pytest

from serving import PATIENCE
from wsgi_probe import PLAIN, THREADS, Probe, answering


def raised_by(call, threads):
    """What call(start_response) raises."""
    caught = []

    def app(environ, start_response):
        try:
            call(start_response)
        except Exception as error:
            caught.append(error)
        start_response("200 OK", [], None)
        return [b"ok"]

    with Probe(app, threads) as probe:
        response = probe.get()
        assert (response.status, response.body) == (200, b"ok")
    return caught[0]


@pytest.mark.parametrize("threads", THREADS)
def test_status_line_is_as_given(threads):
    def app(environ, start_response):
        start_response("299 Quite \xe4 Reason", PLAIN)
        return [b"x"]

    with Probe(app, threads) as probe, probe.connect() as client:
        client.request("GET", "/")

        assert client.until(b"\r\n") == b"HTTP/1.1 299 Quite \xe4 Reason"


@pytest.mark.parametrize("threads", THREADS)
def test_status_may_lack_its_reason(threads):
    def app(environ, start_response):
        start_response("404", PLAIN)
        return [b"x"]

    with Probe(app, threads) as probe:
        assert probe.get().status == 404


@pytest.mark.parametrize("threads", THREADS)
def test_headers_are_sent_as_given_in_order(threads):
    given = [
        ("X-One", "1"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("X-Latin", "\xe4"),
        ("X-Empty", ""),
    ]

    def app(environ, start_response):
        start_response("200 OK", given)
        return [b"x"]

    with Probe(app, threads) as probe:
        headers = probe.get().headers

    expected = [(name.lower(), value) for name, value in given]
    assert [each for each in headers if each in expected] == expected


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    ("status", "headers", "kind"),
    [
        (200, [], TypeError),
        (b"200 OK", [], TypeError),
        (None, [], TypeError),
        ("", [], ValueError),
        ("OK", [], ValueError),
        ("20 OK", [], ValueError),
        ("2000 OK", [], ValueError),
        ("200OK", [], ValueError),
        ("100 Continue", [], ValueError),
        ("099 Odd", [], ValueError),
        ("200 O\r\nK: 1", [], ValueError),
        ("200 \u20ac", [], ValueError),
        ("200 OK", None, TypeError),
        ("200 OK", {"a": "b"}, TypeError),
        ("200 OK", iter([]), TypeError),
        ("200 OK", "ab", TypeError),
        ("200 OK", [["a", "b"]], TypeError),
        ("200 OK", ["ab"], TypeError),
        ("200 OK", [("a",)], TypeError),
        ("200 OK", [("a", "b", "c")], TypeError),
        ("200 OK", [("a", 1)], TypeError),
        ("200 OK", [(b"a", "b")], TypeError),
        ("200 OK", [("a", b"b")], TypeError),
        ("200 OK", [("", "b")], ValueError),
        ("200 OK", [("a b", "b")], ValueError),
        ("200 OK", [("a:", "b")], ValueError),
        ("200 OK", [("a", "b\r\nc: d")], ValueError),
        ("200 OK", [("a", "b\nc")], ValueError),
        ("200 OK", [("a", "b\0")], ValueError),
        ("200 OK", [("\xe4", "b")], ValueError),
        ("200 OK", [("a", "\u20ac")], ValueError),
        ("200 OK", [("Content-Length", "-1")], ValueError),
        ("200 OK", [("Content-Length", "1 2")], ValueError),
        (
            "200 OK",
            [("Content-Length", "1"), ("content-length", "2")],
            ValueError,
        ),
    ],
)
def test_wrong_head_is_an_error_in_the_call_and_forgotten(
    threads, status, headers, kind
):
    error = raised_by(lambda start: start(status, headers), threads)

    assert type(error) is kind
    assert str(error)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    ("headers", "rule"),
    [
        ([("a b", "c")], "a name is a token"),
        ([("a", "b\n")], "no CR, LF or NUL"),
        ([("Content-Length", "-1")], "is one number"),
        ([("Content-Length", "1"), ("content-length", "1")], "said once"),
        ([("Transfer-Encoding", "gzip")], "the only coding is chunked"),
    ],
)
def test_header_that_is_refused_is_told_with_the_rule(threads, headers, rule):
    error = raised_by(lambda start: start("200 OK", headers), threads)

    assert repr(headers[-1]) in str(error)
    assert rule in str(error)


@pytest.mark.parametrize(
    "call",
    [
        lambda start: start(),
        lambda start: start("200 OK"),
        lambda start: start("200 OK", [], None, None),
        lambda start: start("200 OK", [], nonsense=1),
        lambda start: start("200 OK", [], status="200 OK"),
        lambda start: start("200 OK", exc_info=None),
        lambda start: start("200 OK", [], "exc_info"),
        lambda start: start("200 OK", [], (1, 2)),
    ],
)
def test_wrong_arguments_are_type_errors(call):
    assert type(raised_by(call, 1)) is TypeError


def test_arguments_may_be_named():
    def app(environ, start_response):
        start_response(headers=PLAIN, status="201 Created", exc_info=None)
        return [b"x"]

    with Probe(app) as probe:
        assert probe.get().status == 201


@pytest.mark.parametrize("threads", THREADS)
def test_second_call_without_exc_info_is_an_error(threads):
    def app(environ, start_response):
        start_response("200 OK", PLAIN)
        with pytest.raises(AssertionError):
            start_response("500 Oops", PLAIN)
        return [b"first"]

    with Probe(app, threads) as probe:
        response = probe.get()

    assert (response.status, response.body) == (200, b"first")


@pytest.mark.parametrize("threads", THREADS)
def test_exc_info_replaces_a_head_that_has_not_left(threads):
    def app(environ, start_response):
        start_response("200 OK", [("X-First", "1"), ("Content-Length", "99")])
        try:
            raise LookupError
        except LookupError:
            start_response("503 Later", [("X-Second", "2")], sys.exc_info())
        return [b"error ", b"page"]

    with Probe(app, threads) as probe:
        response = probe.get()

    assert (response.status, response.body) == (503, b"error page")
    assert response.header("x-first") is None
    assert response.header("x-second") == "2"


@pytest.mark.parametrize("threads", THREADS)
def test_exc_info_replaces_the_head_inside_an_iterable_before_its_block(
    threads,
):
    def app(environ, start_response):
        start_response("200 OK", PLAIN)
        yield b""
        try:
            raise LookupError
        except LookupError:
            start_response("503 Later", PLAIN, sys.exc_info())
        yield b"error page"

    with Probe(app, threads) as probe:
        response = probe.get()

    assert (response.status, response.body) == (503, b"error page")


@pytest.mark.parametrize("threads", THREADS)
def test_exc_info_is_raised_again_when_the_head_has_left(threads):
    caught = []

    def app(environ, start_response):
        start_response("200 OK", PLAIN)
        yield b"begun"
        error = LookupError("mine")
        try:
            try:
                raise error
            except LookupError:
                start_response("500 Oops", PLAIN, sys.exc_info())
        except LookupError as again:
            caught.append(again is error)
            raise

    with Probe(app, threads) as probe:
        response = probe.get()

    assert caught == [True]
    assert (response.status, response.body) == (200, b"begun")
    assert not response.complete
    assert any("mine" in line for line in probe.log())


@pytest.mark.parametrize("threads", THREADS)
def test_start_response_may_come_with_the_first_block(threads):
    def app(environ, start_response):
        yield b""
        start_response("202 Accepted", PLAIN)
        yield b"late"

    with Probe(app, threads) as probe:
        response = probe.get()

    assert (response.status, response.body) == (202, b"late")


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("result", [[], [b"x"], iter([b"x"]), iter([])])
def test_body_without_start_response_is_an_error_500(threads, result):
    with Probe(lambda environ, start: result, threads) as probe:
        assert probe.get().status == 500

    assert any("start_response" in line for line in probe.log())


@pytest.mark.parametrize("threads", THREADS)
def test_write_sends_before_it_returns(threads):
    written = threading.Event()
    go_on = threading.Event()

    def app(environ, start_response):
        write = start_response("200 OK", [("Content-Length", "6")])
        assert write(b"one") is None
        written.set()
        assert go_on.wait(PATIENCE)
        write(b"")
        write(b"two")
        return []

    with Probe(app, threads) as probe, probe.connect() as client:
        client.request("GET", "/")
        client.head()
        assert client.exactly(3) == b"one"
        assert written.wait(PATIENCE)
        go_on.set()
        assert client.exactly(3) == b"two"


@pytest.mark.parametrize("threads", THREADS)
def test_written_blocks_come_before_those_of_the_iterable(threads):
    def app(environ, start_response):
        write = start_response("200 OK", PLAIN)
        write(b"a")
        write(b"b")
        return [b"c", b"d"]

    with Probe(app, threads) as probe:
        response = probe.get()

    assert response.body == b"abcd"
    assert response.complete


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("block", ["text", None, 1, bytearray(b"x"), [b"x"]])
def test_write_takes_bytes_only(threads, block):
    def app(environ, start_response):
        write = start_response("200 OK", PLAIN)
        with pytest.raises(TypeError) as caught:
            write(block)
        return [type(caught.value).__name__.encode()]

    with Probe(app, threads) as probe:
        assert probe.get().body == b"TypeError"


@pytest.mark.parametrize("threads", THREADS)
def test_much_written_to_a_client_that_waits_arrives_in_order(threads):
    block = bytes(range(256)) * 256
    count = 400  # 25 MiB

    def app(environ, start_response):
        write = start_response("200 OK", PLAIN)
        for i in range(count):
            write(b"%8d" % i + block)
        return [b"end"]

    with (
        Probe(app, threads) as probe,
        probe.connect(receive_buffer=4096) as client,
    ):
        client.request("GET", "/")
        threading.Event().wait(0.1)
        response = client.response()

    expected = b"".join(b"%8d" % i + block for i in range(count)) + b"end"
    assert response.body == expected
    assert response.complete


@pytest.mark.parametrize("threads", THREADS)
def test_write_after_the_client_left_raises_quietly(threads):
    caught = []
    begun = threading.Event()
    left = threading.Event()
    done = threading.Event()

    def app(environ, start_response):
        write = start_response("200 OK", PLAIN)
        write(b"x")
        begun.set()
        assert left.wait(PATIENCE)
        try:
            for _ in range(1000):
                write(b"x" * 100_000)
        except OSError as error:
            caught.append(error)
            raise
        finally:
            done.set()

    with Probe(app, threads) as probe, probe.connect() as client:
        client.request("GET", "/")
        client.head()
        assert begun.wait(PATIENCE)
        client.reset()
        left.set()
        assert done.wait(PATIENCE)

    assert type(caught[0]).__name__ == "ClientDisconnected"
    assert probe.log() == []


@pytest.mark.parametrize("threads", THREADS)
def test_what_the_application_kept_raises_afterwards(threads):
    kept = []

    def app(environ, start_response):
        kept.extend([start_response, start_response("200 OK", PLAIN)])
        return [b"x"]

    with Probe(app, threads) as probe:
        probe.get()
        probe.get()
        for start, write in zip(kept[::2], kept[1::2], strict=True):
            with pytest.raises((RuntimeError, OSError, AssertionError)):
                start("200 OK", [])
            with pytest.raises((RuntimeError, OSError)):
                write(b"x")
    for start, write in zip(kept[::2], kept[1::2], strict=True):
        with pytest.raises((RuntimeError, OSError, AssertionError)):
            start("200 OK", [])
        with pytest.raises((RuntimeError, OSError)):
            write(b"x")


def test_write_of_another_thread_is_refused_when_the_loop_has_the_only_one():
    caught = []

    def app(environ, start_response):
        write = start_response("200 OK", PLAIN)

        def other():
            with pytest.raises(RuntimeError) as error:
                write(b"x")
            caught.append(error.value)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return [b"ok"]

    with Probe(app) as probe:
        assert probe.get().body == b"ok"

    assert "thread" in str(caught[0])


@pytest.mark.parametrize("block", [b"", b"x" * 10_000_000, "text", None])
def test_write_ends_its_response_when_the_spool_gives_something_else(
    block, monkeypatch
):
    import tempfile

    class Other(tempfile.SpooledTemporaryFile):
        def read(self, *_):
            return block

    def app(environ, start_response):
        write = start_response("200 OK", PLAIN)
        if environ["PATH_INFO"] == "/big":
            for _ in range(100):
                write(b"x" * 50_000)
        return [b"end"]

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Other)
    with Probe(app) as probe:
        assert not probe.get("/big").complete
        assert probe.get("/").body == b"end"

    assert any("temporary file" in line for line in probe.log())


def test_write_fails_when_the_client_is_far_behind(monkeypatch):
    import tempfile

    class Sink(tempfile.SpooledTemporaryFile):
        """Keeps nothing: the test needs no disk."""

        def write(self, block):
            return len(block)

    block = b"x" * (32 << 20)
    caught = []
    written = []

    def app(environ, start_response):
        write = start_response("200 OK", PLAIN)
        with pytest.raises(OSError, match="does not keep up") as error:
            for _ in range(100):
                write(block)
                written.append(len(block))
        caught.append(error.value)
        raise error.value

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Sink)
    with Probe(app) as probe, probe.connect(receive_buffer=4096) as client:
        assert not client.get("/").complete

    assert len(caught) == 1
    assert sum(written) <= 1100 << 20


@pytest.mark.parametrize("threads", THREADS)
def test_hop_by_hop_fields_are_taken_for_what_they_mean(threads):
    fields = [("Connection", "close"), ("Transfer-Encoding", "chunked")]
    app = answering(lambda: iter([b"a", b"b"]), headers=fields)
    with Probe(app, threads) as probe, probe.connect() as client:
        response = client.get("/")

        assert response.header("connection") == "close"
        assert response.header("transfer-encoding") == "chunked"
        assert response.body == b"ab"
        assert client.is_closed()
