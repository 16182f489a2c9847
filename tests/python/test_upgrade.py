"""Offers of another protocol: the log says once what there is not."""

import pytest

import raw

WAYS = {
    "asgi": ("life_app:asgi",),
    "wsgi": ("life_app:wsgi",),
    "wsgi-threads": ("life_app:wsgi", "--threads", "2"),
}

WORDS = "a client asks for a WebSocket"

#: What is no WebSocket, or not offered: RFC 9110 7.8 wants both fields.
OTHERS = [
    b"Connection: Upgrade\r\nUpgrade: h2c\r\n",
    b"Connection: Upgrade\r\n",
    b"Upgrade: websocket\r\n",
    b"Connection: Upgrade\r\nX-Upgrade: websocket\r\n",
]


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def server(request, serve):
    return serve(*request.param)


def get(server, fields):
    with raw.Client(server.address) as client:
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\n")
        return client.response()


def test_asking_for_a_websocket_is_told_once_and_served_as_http(server):
    asks = b"upgrade: WebSocket, x\r\nconnection: keep-alive, upgrade\r\n"

    answers = [get(server, asks) for _ in range(3)]

    assert [each.body for each in answers] == [b"hello"] * 3
    assert server.stop() == 0
    assert [line for line in server.stderr if WORDS in line] == [
        "WARNING:  a client asks for a WebSocket: there are none yet,"
        " its request is served as a plain one"
    ]


def test_offer_of_anything_else_is_served_in_silence(server):
    for fields in OTHERS:
        assert get(server, fields).body == b"hello"

    assert server.stop() == 0
    assert WORDS not in server.output()
