"""However a request ends: close(), the log, and what the client sees."""

import threading
import time

import pytest

from serving import PATIENCE
from wsgi_probe import PLAIN, THREADS, Blocks, Probe, answering


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    "blocks",
    [
        [],
        [b"a"],
        [b"a"] * 50,
        [b"a" * 200_000] * 5,
    ],
)
def test_close_is_called_once_at_the_end(threads, blocks):
    made = Blocks(blocks)

    with Probe(answering(lambda: made), threads) as probe:
        assert probe.get().body == b"".join(blocks)
        probe.get()

    assert made.closed == 2  # one for each request


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("bad", [None, "text", 1, bytearray(b"x"), [b"x"]])
@pytest.mark.parametrize("before", [[], [b"begun"]])
def test_close_is_called_once_when_a_block_is_no_bytes(threads, bad, before):
    made = Blocks([*before, bad, b"never"])

    with Probe(answering(lambda: made), threads) as probe:
        response = probe.get()

    assert response.status == (200 if before else 500)
    assert before == [] or not response.complete
    assert made.closed == 1
    assert len(probe.log()) == 1
    assert type(bad).__name__ in probe.log()[0]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("bad", [[b"x", "text"], ["text"], (b"x", None)])
def test_list_with_something_else_is_an_error_500(threads, bad):
    with Probe(answering(lambda: bad), threads) as probe:
        assert probe.get().status == 500

    assert len(probe.log()) == 1


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("bad", [None, 1, object()])
def test_result_that_is_no_iterable_is_an_error_500(threads, bad):
    with Probe(answering(lambda: bad), threads) as probe:
        assert probe.get().status == 500

    assert "iterable" in probe.log()[0]


@pytest.mark.parametrize("threads", THREADS)
def test_close_is_called_once_when_the_iterator_raises(threads):
    closed = []

    class Raising:
        def __iter__(self):
            yield b"begun"
            raise LookupError("half way")

        def close(self):
            closed.append(True)

    with Probe(answering(Raising), threads) as probe:
        response = probe.get()

    assert closed == [True]
    assert (response.body, response.complete) == (b"begun", False)
    assert "LookupError" in probe.log()[0]


@pytest.mark.parametrize("threads", THREADS)
def test_close_is_called_once_when_iter_raises(threads):
    closed = []

    class Raising:
        def __iter__(self):
            raise LookupError

        def close(self):
            closed.append(True)

    with Probe(answering(Raising), threads) as probe:
        assert probe.get().status == 500

    assert closed == [True]


@pytest.mark.parametrize("threads", THREADS)
def test_close_that_raises_is_logged_and_does_not_hurt_the_response(threads):
    made = Blocks([b"fine"], raising=LookupError("in close"))

    with (
        Probe(answering(lambda: made), threads) as probe,
        probe.connect() as client,
    ):
        response = client.get("/")
        client.get("/")

    assert (response.body, response.complete) == (b"fine", True)
    assert made.closed == 2
    assert len(probe.log()) == 2
    assert "in close" in probe.log()[0]


@pytest.mark.parametrize("threads", THREADS)
def test_close_is_called_once_when_the_client_leaves(threads):
    closed = threading.Event()
    seen = []

    def blocks():
        try:
            while True:
                yield b"x" * 10_000
        except BaseException as error:
            seen.append(type(error).__name__)
            raise
        finally:
            closed.set()

    with Probe(answering(blocks), threads) as probe, probe.connect() as client:
        client.request("GET", "/")
        client.head()
        client.reset()
        assert closed.wait(PATIENCE)

    assert seen == ["GeneratorExit"]
    assert probe.log() == []


def test_close_is_called_when_the_client_leaves_a_full_queue():
    closed = threading.Event()
    made = Blocks([b"x" * 65536] * 2000)
    made.close = closed.set

    with (
        Probe(answering(lambda: made)) as probe,
        probe.connect(receive_buffer=4096) as client,
    ):
        client.request("GET", "/")
        client.head()
        taken = -1
        while taken != made.taken:
            taken = made.taken
            time.sleep(0.05)
        client.reset()
        assert closed.wait(PATIENCE)

    assert probe.log() == []


@pytest.mark.parametrize("threads", THREADS)
def test_close_may_not_extend_the_response(threads):
    caught = []

    class Late:
        def __init__(self, write):
            self.write = write

        def __iter__(self):
            return iter([b"all"])

        def close(self):
            try:
                self.write(b"more")
            except RuntimeError as error:
                caught.append(error)

    def app(environ, start_response):
        return Late(start_response("200 OK", PLAIN))

    with Probe(app, threads) as probe, probe.connect() as client:
        assert client.get("/").body == b"all"
        assert client.get("/").body == b"all"

    assert len(caught) == 2


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    "blocks", [[b"too much"], [b"too", b"much"], [b"ab"], []]
)
@pytest.mark.parametrize("kind", [list, iter])
def test_body_that_is_not_as_long_as_said_ends_the_connection(
    threads, blocks, kind
):
    app = answering(lambda: kind(blocks), headers=[("Content-Length", "4")])

    with Probe(app, threads) as probe, probe.connect() as client:
        client.request("GET", "/")
        first = client.response()
        if first.status == 500:  # nothing had left: a whole answer
            assert first.complete
            assert client.get("/").status == 500
        else:  # nothing may be taken for the rest of it
            assert not first.complete
            assert client.is_closed()

    assert any("Content-Length" in line for line in probe.log())


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("error", [LookupError("mine"), SystemExit(3)])
def test_exception_of_the_application_is_an_error_500_in_the_log(
    threads, error
):
    def app(environ, start_response):
        if environ["PATH_INFO"] == "/fine":
            start_response("200 OK", PLAIN)
            return [b"fine"]
        raise error

    with Probe(app, threads) as probe, probe.connect() as client:
        assert client.get("/bad?x=1").status == 500
        assert client.get("/fine").body == b"fine"

    (entry,) = probe.log()
    assert "GET /bad?x=1" in entry
    assert type(error).__name__ in entry
    assert "Traceback" in entry


@pytest.mark.parametrize("threads", THREADS)
def test_exception_after_start_response_is_an_error_500(threads):
    def app(environ, start_response):
        start_response("200 OK", [("X-Mine", "1"), ("Content-Length", "10")])
        raise LookupError

    with Probe(app, threads) as probe:
        response = probe.get()

    assert response.status == 500
    assert response.header("x-mine") is None


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("fails", [False, True])
def test_write_behind_the_end_is_an_error(threads, fails):
    said = []

    class Body:
        def __init__(self, write):
            self.write = write

        def __iter__(self):
            yield b"x"
            if fails:
                raise ValueError("planned")

        def close(self):
            for _ in range(3):
                with pytest.raises(RuntimeError) as error:
                    self.write(b"more")
                said.append(str(error.value))

    with Probe(
        lambda environ, start_response: Body(start_response("200 OK", PLAIN)),
        threads,
    ) as probe:
        response = probe.get()

    assert response.body == b"x"
    assert response.complete == (not fails)
    assert said == ["the response has ended"] * 3
