"""Pages of asgi_app.py: messages whose reading runs the application's code."""

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
