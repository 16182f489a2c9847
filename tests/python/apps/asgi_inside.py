"""Pages of asgi_app.py: messages whose reading runs the application's code."""

import asyncio
import contextlib

from asgi_pages import body, caught, page, see, start


class _Answers:
    """A header, or a part of one, that answers the request when it is read."""

    def __init__(self, send, value):
        self._send = send
        self._value = value

    def _answer(self):
        for message in (start(), body(b"inside")):
            with contextlib.suppress(StopIteration):
                self._send(message).send(None)
        return self._value

    def __iter__(self):
        return iter(self._answer())

    def __buffer__(self, flags):
        return memoryview(self._answer())


@page
async def answers_inside_its_head(scope, receive, send):
    headers = [_Answers(send, (b"a", b"b"))]
    if scope["query_string"] == b"value":  # from Python 3.12 on
        headers = [(b"a", _Answers(send, b"b"))]
    try:
        await send({**start(), "headers": headers})
        see("answers_inside_its_head", None)
    except RuntimeError as error:
        see("answers_inside_its_head", caught(error))


class Dear(bytes):
    """Has code of its own for its end, which sends."""

    def __del__(self):
        self.at_end()


@page
async def dear(scope, receive, send):
    """The end of a body is not in the middle of a write."""

    def at_end():
        with contextlib.suppress(StopIteration):
            send(body(b"m" * 100_000, True)).send(None)

    await send(start())
    piece = Dear(30_000)
    piece.at_end = at_end
    message = body(piece, True)
    del piece
    await send(message)
    del message
    await send(body(b"x" * 30_000, True))
    await asyncio.sleep(0.1)
    await send(body())
