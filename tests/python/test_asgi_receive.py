"""receive(): "Request - receive event" and "Disconnect - receive event"."""

import json
import socket

import pytest

from asgi_probe import Probe


@pytest.fixture(scope="module")
def probe():
    with Probe() as served:
        yield served


def test_request_without_a_body_is_one_empty_message(probe):
    message = probe.get_json("/message")

    assert message == {
        "type": "http.request",
        "body": ["bytes", 0],
        "more_body": False,
    }


def test_body_that_is_there_is_one_message(probe):
    message = json.loads(probe.post("/message", b"12345").body)

    assert message == {
        "type": "http.request",
        "body": ["bytes", 5],
        "more_body": False,
    }


def test_body_by_length_arrives_whole(probe):
    data = bytes(range(256)) * 4000

    assert probe.post("/echo", data).body == data


def test_body_in_chunks_arrives_whole(probe):
    with probe.connect() as client:
        client.request("POST", "/echo", "Transfer-Encoding: chunked")
        for part in (b"first", b"x" * 70_000, b"last"):
            client.send(b"%x\r\n%s\r\n" % (len(part), part))
        client.send(b"0\r\n\r\n")
        response = client.response()

    assert response.body == b"first" + b"x" * 70_000 + b"last"


def test_body_that_comes_later_is_waited_for(probe):
    with probe.connect() as client:
        client.request("POST", "/echo", "Content-Length: 8")
        for part in (b"a", b"bc", b"def", b"gh"):
            client.send(part)
            probe.get("/hello")  # it has had time to be seen alone
        response = client.response()

    assert response.body == b"abcdefgh"


def test_large_body_comes_in_bounded_messages(probe):
    data = b"x" * (8 << 20)

    total, longest = json.loads(probe.post("/count", data).body)

    assert total == len(data)
    assert longest <= 65536


def test_body_that_is_not_taken_is_not_read(probe):
    """Back-pressure: the client cannot send on while nobody receives."""
    data = b"x" * (64 << 20)
    with probe.connect() as client:
        head = f"Content-Length: {len(data)}"
        client.request("POST", "/slow_reader", head)
        assert probe.seen("slow_reader")
        client.sock.setblocking(False)
        sent = 0
        try:
            while sent < len(data):
                sent += client.sock.send(data[sent : sent + (1 << 20)])
        except BlockingIOError:
            pass
        assert sent < len(data)
        client.sock.settimeout(20)
        client.send(memoryview(data)[sent:])
        total, _ = json.loads(client.response().body)

    assert total == len(data)


def test_disconnect_comes_as_often_as_asked_after_the_response(probe):
    probe.get("/after_response")

    gone = {"type": "http.disconnect"}
    assert probe.seen("after_response") == [gone, gone]


@pytest.mark.parametrize("reset", [True, False])
def test_disconnect_comes_when_the_client_leaves(probe, reset):
    client = probe.connect()
    client.request("GET", "/wait_for_disconnect")
    assert probe.seen("waiting")

    if reset:
        client.reset()
    else:
        client.close()

    first, again, _ = probe.seen("wait_for_disconnect")
    assert first == again == {"type": "http.disconnect"}


@pytest.mark.parametrize("reset", [True, False])
def test_disconnect_comes_when_the_client_leaves_inside_its_body(probe, reset):
    client = probe.connect()
    client.request("POST", "/until_disconnect", "Content-Length: 10")
    client.send(b"some")
    assert probe.seen("until_disconnect") == ["http.request"]

    if reset:
        client.reset()
    else:
        client.close()

    kinds = probe.seen("until_disconnect")
    assert kinds == ["http.request", "http.disconnect"]


def test_half_close_after_a_request_lets_it_be_answered(probe):
    with probe.connect() as client:
        client.request("POST", "/echo", body=b"still here")
        client.sock.shutdown(socket.SHUT_WR)
        response = client.response()

    assert response.body == b"still here"


def test_several_receivers_all_get_an_answer(probe):
    with probe.connect() as client:
        client.request("POST", "/two_receivers", "Content-Length: 6")
        for part in (b"ab", b"cd", b"ef"):
            probe.get("/hello")
            client.send(part)
        client.sock.settimeout(2)
        probe.get("/hello")
        client.close()

    size, kinds = probe.seen("two_receivers")
    assert size == 6
    assert set(kinds) <= {"http.request", "http.disconnect"}


def test_receive_that_was_given_up_takes_nothing_with_it(probe):
    with probe.connect() as client:
        client.request("POST", "/cancelled_receive", "Content-Length: 4")
        assert probe.seen("cancelled_receive")
        client.send(b"body")
        response = client.response()

    assert response.body == b"body"


def test_expect_100_continue_is_answered_when_the_body_is_asked_for(probe):
    with probe.connect() as client:
        fields = ("Content-Length: 4", "Expect: 100-continue")
        client.request("POST", "/echo", *fields)
        assert client.head().status == 100
        client.send(b"body")
        response = client.response()

    assert response.body == b"body"


def test_expect_100_continue_is_answered_before_a_head_that_waits(probe):
    """http.response.start has been sent, and is held until the body."""
    with probe.connect() as client:
        fields = ("Content-Length: 4", "Expect: 100-continue")
        client.request("POST", "/start_first", *fields)
        assert client.head().status == 100
        client.send(b"body")
        response = client.response()

    assert response.status == 202
    assert response.body == b"body"
