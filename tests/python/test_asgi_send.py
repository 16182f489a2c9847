"""send(): "Response Start - send event" and "Response Body - send event"."""

import contextlib
import hashlib
import json
import select
import sys
import time

import pytest

from asgi_probe import Probe
from serving import PATIENCE


@pytest.fixture(scope="module")
def probe():
    with Probe() as served:
        yield served


def test_single_body_gets_a_content_length(probe):
    response = probe.get("/hello")

    assert response.body == b"hello"
    assert response.header("content-length") == "5"
    assert response.header("transfer-encoding") is None


def test_several_bodies_are_chunked_in_their_order(probe):
    response = probe.get("/chunks")

    assert response.header("transfer-encoding") == "chunked"
    assert response.body == b"onetwothree4"
    assert response.complete


def test_headers_may_be_any_iterable_of_pairs_of_bytes(probe):
    response = probe.get("/headers")

    assert response.status == 201
    assert response.header("x-one") == "1"
    assert response.header("x-two") == "2"


def test_headers_and_body_may_be_left_out(probe):
    response = probe.get("/bare")

    assert response.status == 204
    assert response.body == b""


def test_keys_that_no_rule_knows_are_no_error(probe):
    """So that the specification can grow."""
    response = probe.post(
        "/messages",
        b"[dict(start(), trailers=False, new=1), dict(body(b'x'), new=[2])]",
    )

    assert probe.seen("messages") is None
    assert response.status == 200
    assert response.body == b"x"


def test_start_alone_sends_nothing(probe):
    """Until the first body another response is still possible."""
    with probe.connect() as client:
        client.send(
            b"POST /start_alone HTTP/1.1\r\nHost: test\r\n"
            b"Content-Length: 1\r\n\r\n"
        )
        assert probe.seen("start_alone")

        client.sock.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.sock.recv(1)

        client.sock.settimeout(PATIENCE)
        client.send(b"x")
        response = client.response()
    assert response.header("x-early") == "1"
    assert response.body == b"late"


def test_chunked_coding_is_the_servers_to_say(probe):
    """An application may say it, and changes nothing by it."""
    response = probe.post(
        "/messages",
        b"[start(200, (b'Transfer-Encoding', b'Chunked')), body(b'x')]",
    )

    assert response.header("transfer-encoding") is None
    assert response.header("content-length") == "1"
    assert response.body == b"x"


def test_head_gets_the_headers_and_no_body(probe):
    with probe.connect() as client:
        client.request("HEAD", "/hello")
        response = client.response("HEAD")
        again = client.get("/hello")

    assert response.header("content-length") == "5"
    assert again.body == b"hello"


def test_large_bodies_arrive_byte_by_byte(probe):
    want = b"".join(bytes([number]) * 65536 for number in range(64))

    response = probe.get("/large")

    assert hashlib.sha256(response.body).digest() == (
        hashlib.sha256(want).digest()
    )


def test_buffer_may_be_changed_as_soon_as_send_has_returned(probe):
    response = probe.get("/changing")

    assert response.body == b"\0" * 100_000 + b"\1" * 100_000 + b"\2" * 100_000


def test_send_waits_while_the_client_does_not_read(probe):
    with probe.connect(receive_buffer=4096) as client:
        client.request("GET", "/endless")
        client.head()
        time.sleep(0.3)
        before = _memory(probe.pid)
        time.sleep(0.5)
        after = _memory(probe.pid)

    kind, _ = probe.seen("endless")
    assert kind == "ClientDisconnected"
    assert after - before < 4 << 20


def _memory(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_send_of_one_huge_body_waits_until_it_has_drained(probe):
    with probe.connect(receive_buffer=4096) as client:
        client.request("GET", "/huge")
        client.head()
        done, references = probe.seen("huge_before")
        assert not done
        assert references == 2  # the message's, and the core's: it is lent
        assert client.exactly(16 << 20) == bytes(16 << 20)

    assert probe.seen("huge_after") == 0


def test_body_whose_end_sends_is_not_in_the_middle_of_a_write(probe):
    response = probe.get("/dear")

    assert response.complete
    assert sorted(response.body) == sorted(
        bytes(30_000) + b"x" * 30_000 + b"m" * 100_000
    )


def test_large_body_that_is_refused_is_let_go(probe):
    assert probe.get("/refused_large").status == 500

    assert probe.seen("refused_large") == 0


def test_two_senders_share_one_response(probe):
    response = probe.get("/two_senders")

    assert response.complete
    assert response.body.count(b"a") == response.body.count(b"b") == 20 * 65536
    pieces = [response.body[i : i + 65536] for i in range(0, 40 * 65536, 65536)]
    assert all(len(set(piece)) == 1 for piece in pieces)


@pytest.mark.parametrize("log", ["--access-log", "--no-access-log"])
def test_first_of_a_burst_does_not_wait_for_the_last(tmp_path, log):
    file = tmp_path / "seen"
    with contextlib.ExitStack() as stack:
        probe = stack.enter_context(Probe(log))
        clients = [stack.enter_context(probe.connect()) for _ in range(40)]
        for client in clients:
            client.request("GET", f"/burst?{file}")

        assert select.select([each.sock for each in clients], [], [], PATIENCE)[
            0
        ]
        file.touch()

        assert probe.seen("burst") is True
        for client in clients:
            assert client.response().body == b"event"


def test_blocked_send_can_be_cancelled(probe):
    with probe.connect(receive_buffer=4096) as client:
        client.request("GET", "/cancel_blocked_send")
        client.head()
        assert probe.seen("cancel_blocked_send") == "cancelled"


@pytest.mark.parametrize(
    ("messages", "kind", "words"),
    [
        ("5", "TypeError", "must be a dict"),
        ("{}", "ValueError", "'type'"),
        ("{'type': 7}", "RuntimeError", "http.response.start"),
        ("{'type': 'http.response.body'}", "RuntimeError", "response.start"),
        ("{'type': 'http.response.bodY'}", "RuntimeError", "response.start"),
        ("{'type': 'websocket.accept'}", "RuntimeError", "response.start"),
        ("start(99)", "ValueError", "from 200 to 999"),
        ("start(199)", "ValueError", "from 200 to 999"),
        ("start(1000)", "ValueError", "from 200 to 999"),
        ("start(10**30)", "ValueError", "from 200 to 999"),
        ("start('200')", "TypeError", "'status' must be an int, not str"),
        ("start(None)", "TypeError", "'status' must be an int"),
        (
            "{'type': 'http.response.start'}",
            "ValueError",
            "'status' is missing",
        ),
        ("start(200, ('a', 'b'))", "TypeError", "bytes, not str"),
        ("start(200, (b'a', None))", "TypeError", "bytes, not NoneType"),
        ("start(200, (b'a',))", "TypeError", "pair"),
        ("start(200, (b'a', b'b', b'c'))", "TypeError", "pair"),
        ("start(200, b'ab')", "TypeError", "pair"),
        ("start(200, 5)", "TypeError", "pair"),
        ("start(200, (b'', b'a'))", "ValueError", "not valid"),
        ("start(200, (b'a b', b'a'))", "ValueError", "a name is a token"),
        ("start(200, (b':status', b'200'))", "ValueError", "not valid"),
        (
            "start(200, (b'transfer-encoding', b'gzip, chunked'))",
            "ValueError",
            "the only coding is chunked",
        ),
        ("start(200, (b'a', b'a\\nb'))", "ValueError", "no CR, LF or NUL"),
        ("start(200, (b'a', b'a\\0b'))", "ValueError", "not valid"),
        ("start(200, (b'content-length', b'x'))", "ValueError", "one number"),
        (
            "start(200, (b'content-length', b'1'), (b'content-length', b'1'))",
            "ValueError",
            "said once",
        ),
        (
            "{'type': 'http.response.start', 'status': 200, 'headers': 5}",
            "TypeError",
            "'headers' must be an iterable",
        ),
    ],
)
def test_wrong_message_is_refused_before_the_head_is_out(
    probe, messages, kind, words
):
    """The application can still answer something else."""
    response = probe.post("/messages", f"[{messages}]".encode())

    assert response.status == 500
    error, text = json.loads(response.body)
    assert error == kind
    assert words in text


@pytest.mark.parametrize(
    ("messages", "kind", "words"),
    [
        ("body('text')", "TypeError", "must be bytes, not str"),
        ("body(None)", "TypeError", "must be bytes, not NoneType"),
        ("body([1, 2])", "TypeError", "must be bytes, not list"),
        ("{'type': 'http.response.trailers'}", "RuntimeError", "response.body"),
    ],
)
def test_wrong_message_is_refused_after_the_start(probe, messages, kind, words):
    source = f"[start(), {messages}]"
    with probe.connect() as client:
        client.request("POST", "/messages", body=source.encode())
        error, text = probe.seen("messages")

    assert error == kind
    assert words in text


def test_second_start_is_refused(probe):
    response = probe.get("/second_start")

    kind, text = probe.seen("second_start")
    assert response.body == b"ok"
    assert kind == "RuntimeError"
    assert "http.response.body" in text


def test_head_with_a_bad_header_leaves_nothing_behind(probe):
    response = probe.get("/bad_header_then_good")

    assert response.status == 500
    assert response.header("x-one") is None
    assert response.header("b") is None
    assert "x-bad" in json.loads(response.body)[1]


@pytest.mark.parametrize("what", ["pair", "value"])
def test_header_that_answers_the_request_is_too_late_itself(probe, what):
    if what == "value" and sys.version_info < (3, 12):
        pytest.skip("there is no __buffer__")
    response = probe.get(f"/answers_inside_its_head?{what}")

    kind, text = probe.seen("answers_inside_its_head")
    assert response.body == b"inside"
    assert response.header("a") is None
    assert kind == "RuntimeError"
    assert "the response has ended" in text


def test_message_after_the_end_is_an_error_that_names_the_rule(probe):
    with probe.connect() as client:
        first = client.get("/after_end")
        errors = probe.seen("after_end")
        second = client.get("/hello")

    assert first.body == b"complete"
    assert second.body == b"hello"
    for kind, text in errors:
        assert kind == "RuntimeError"
        assert "the response has ended" in text


def broken_length(probe, page):
    """The response of a page that breaks its Content-Length, and what comes
    on the connection after it, with another request waiting there."""
    with probe.connect() as client:
        client.request("GET", f"/{page}")
        client.request("GET", "/hello", "Connection: close")
        response = client.response()
        rest = client.rest()
    kind, text = probe.seen(page)
    assert kind == "RuntimeError"
    assert "Content-Length" in text
    return response, rest


@pytest.mark.parametrize("page", ["too_long", "too_short"])
def test_single_body_that_breaks_its_content_length_is_a_500(probe, page):
    response, _ = broken_length(probe, page)

    assert response.status == 500
    assert response.complete


@pytest.mark.parametrize("page", ["too_long_later", "too_short_later"])
def test_bodies_that_break_their_content_length_end_the_connection(probe, page):
    """RFC 9110 8.6: the client can tell, and the next response is not read as
    the rest of this one."""
    response, rest = broken_length(probe, page)

    assert response.status == 200
    assert not response.complete
    assert b"hello" not in response.body + rest
