"""Requests that end in different ways, as ASGI and as WSGI.

/fail   raises before the answer
/cut    raises inside the answer
/big    16 MiB, in pieces
/whole  16 MiB in one piece
/body   reads the body
else    hello, with the field X-Two
"""

from common import BoomError

PIECE = bytes(64 * 1024)
PIECES = 256


async def asgi(scope, receive, send):
    path = scope["path"]
    if path == "/fail":
        raise BoomError
    if path == "/body":
        while (await receive()).get("more_body"):
            pass
    fields = [(b"x-two", b'a"\xe9')]
    start = {"type": "http.response.start", "status": 200, "headers": fields}
    await send(start)
    body = {"type": "http.response.body", "body": PIECE, "more_body": True}
    if path == "/cut":
        await send(body)
        raise BoomError
    for _ in range(PIECES if path == "/big" else 0):
        await send(body)
    if path == "/whole":
        await send({"type": "http.response.body", "body": PIECE * PIECES})
        return
    await send({"type": "http.response.body", "body": b"hello"})


def wsgi(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/fail":
        raise BoomError
    if path == "/body":
        environ["wsgi.input"].read()
    start_response("200 OK", [("X-Two", 'a"\xe9')])
    return [PIECE * PIECES] if path == "/whole" else pieces(path)


def pieces(path):
    if path == "/cut":
        yield PIECE
        raise BoomError
    for _ in range(PIECES if path == "/big" else 0):
        yield PIECE
    yield b"hello"
