"""What an ASGI application is told that goes on behind a mistake, and what
waits for others. On the simulated backend, in calm weather.
"""

import asyncio
import os
import pathlib
import types

import pytest

from xsgi import _xsgi
from xsgi.loop import Loop

FILE = pathlib.Path(__file__).parents[1] / "http" / "smuggling.md"
FDS = pathlib.Path("/proc/self/fd")

REQUEST = b"GET / HTTP/1.1\r\nhost: sim\r\nte: trailers\r\n\r\n"


def start(**options):
    return {"type": "http.response.start", "status": 200, **options}


def body(data, more=True):
    return {"type": "http.response.body", "body": data, "more_body": more}


def part(file, count=1000):
    kind = "http.response.zerocopysend"
    return {"type": kind, "file": file, "count": count, "more_body": True}


def answer(app):
    """All that a client gets that reads after a second."""
    loop = Loop("sim", faults=False)
    asyncio.set_event_loop(loop)
    server = _xsgi.Server(
        loop.backend, app, "asgi3", types.SimpleNamespace(), loop
    )
    peer = _xsgi.SimPeer(loop.backend, *server.listen(port=8000))

    async def read():
        peer.write(REQUEST)
        await asyncio.sleep(1)
        got = b""
        while more := peer.read(65536):
            got += more
            await asyncio.sleep(0.001)
        return got

    try:
        return loop.run_until_complete(read())
    finally:
        peer.close()
        server.stop(0)
        while not server.stopped:
            loop.run_until_complete(asyncio.sleep(1))
        server.close()
        asyncio.set_event_loop(None)
        loop.close()


def sending(errors, *messages):
    """An application that sends all of them, whatever it is told."""

    async def app(scope, receive, send):
        with FILE.open("rb") as file:
            for message in messages:
                try:
                    await send(part(file) if message is FILE else message)
                except Exception as error:
                    errors.append(f"{type(error).__name__}: {error}")

    return app


@pytest.mark.parametrize("first", [body(b"four"), FILE], ids=["body", "file"])
def test_response_of_a_wrong_length_has_ended(first):
    errors = []
    length = start(headers=[(b"content-length", b"3")])
    before = len(os.listdir(FDS)) if FDS.exists() else 0

    for _ in range(3):
        errors.clear()
        got = answer(
            sending(errors, length, first, body(b"abc"), body(b"abc", False))
        )

    assert got.startswith(b"HTTP/1.1 500 ")
    assert len(errors) == 3
    assert errors[0].startswith("RuntimeError: http.response.")
    for error in errors[1:]:
        assert error.startswith("RuntimeError: ASGI: the response has ended")
    assert not FDS.exists() or len(os.listdir(FDS)) == before


def test_response_has_ended_with_its_trailers():
    errors = []
    last = {"type": "http.response.trailers", "headers": [(b"a", b"b")]}

    got = answer(
        sending(errors, start(trailers=True), body(b"x", False), last, last)
    )

    assert got.endswith(b"\r\n1\r\nx\r\n0\r\na: b\r\n\r\n")
    assert len(errors) == 1
    assert errors[0].startswith("RuntimeError: ASGI: the response has ended")


def test_file_that_waits_for_others_goes_on_where_it_was():
    async def app(scope, receive, send):
        await send(start())
        large = asyncio.ensure_future(send(body(bytes(1_000_000))))
        await asyncio.sleep(0)
        with FILE.open("rb") as file:
            await send(part(file))
            await send(part(file))
        await large
        await send(body(b"", False))

    got = answer(app)

    wanted = FILE.read_bytes()
    assert got.endswith(
        b"\r\n3e8\r\n%b\r\n3e8\r\n%b\r\n0\r\n\r\n"
        % (wanted[:1000], wanted[1000:2000])
    )
