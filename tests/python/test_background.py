"""A thread of the application keeps ticking, whatever the server does."""

import json
import time

import pytest

import raw

WAYS = {
    "asgi": ("life_app:asgi",),
    "asgi-uvloop": ("life_app:asgi", "--loop", "uvloop"),
    "asgi-asyncio": ("life_app:asgi", "--loop", "asyncio"),
    "wsgi": ("life_app:wsgi",),
    "wsgi-threads": ("life_app:wsgi", "--threads", "4"),
}

#: Of 100 ticks a second on a quiet machine.
ENOUGH = 20

BURST = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n" * 16


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def server(request, serve):
    if "uvloop" in request.param:
        pytest.importorskip("uvloop")
    return serve(*request.param, "--no-access-log")


def ticks(client):
    return json.loads(client.get("/ticks").body)


def test_thread_ticks_while_the_server_idles(server):
    with raw.Client(server.address) as client:
        ticks(client)
        time.sleep(1)

        found = ticks(client)

    assert found["rate"] > ENOUGH
    assert found["worst"] < 0.5


def test_thread_ticks_while_the_server_is_loaded(server):
    with raw.Client(server.address) as client:
        ticks(client)
        end = time.monotonic() + 1
        while time.monotonic() < end:
            client.send(BURST)
            for _ in range(16):
                assert client.response().status == 200

        found = ticks(client)

    assert found["rate"] > ENOUGH
    assert found["worst"] < 0.5
