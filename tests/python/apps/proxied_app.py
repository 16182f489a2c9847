"""What proxies are tested with, as WSGI and as ASGI.

Every answer has the number of its request, the field X-Number, so that an
answer which goes to the wrong one is noticed.

/hello       "hello", and the port of the client as X-Port
/digest      the sha256 of the body
/arriving    tells of the body's bytes while they arrive, then how many
/stream?n=N  N pieces of a length that is not said
/sized?n=N   N pieces of a length that is said
/held        a piece, and another when the file $RELEASE exists
/hinted      an early hint, if it may be sent, then "hello"
/unchanged   304
/empty       204
/refuse      413 at once, without reading the body
/error       raises before the answer
/cut         raises inside the answer
/fields      what the gateway and the request's fields say, as JSON
/closing     an answer that ends the connection
"""

import asyncio
import hashlib
import json
import os
import time
from urllib.parse import parse_qs

from common import SMALL, BoomError

LINK = "</a.css>; rel=preload; as=style"
TICK = 0.01
WAIT = b"(until the file exists)"


def tell(word):
    """A line in one piece, also when several threads tell."""
    os.write(1, f"{word}\n".encode())


def pieces(count):
    for _ in range(count):
        yield SMALL


def released():
    return os.path.exists(os.environ["RELEASE"])


def held():
    yield b"first"
    yield WAIT
    yield b"second"


def waiting(blocks):
    for block in blocks:
        if block is WAIT:
            while not released():
                time.sleep(TICK)
        else:
            yield block


def cut():
    yield SMALL
    raise BoomError("in the middle")


def answer(path, query, fields, seen):
    """Status, fields and pieces for a request whose body does not matter."""
    count = int(query.get("n", ["1"])[0])
    plain = [("Content-Type", "text/plain"), ("X-Port", str(seen["port"]))]
    match path:
        case "/stream":
            return "200 OK", plain, pieces(count)
        case "/held":
            unbuffered = ("X-Accel-Buffering", "no")  # for nginx
            return "200 OK", [*plain, unbuffered], held()
        case "/sized":
            length = ("Content-Length", str(count * len(SMALL)))
            return "200 OK", [*plain, length], pieces(count)
        case "/unchanged":
            return "304 Not Modified", [("ETag", '"x"')], []
        case "/empty":
            return "204 No Content", [], []
        case "/refuse":
            return "413 Content Too Large", plain, [b"no"]
        case "/error":
            raise BoomError("before the answer")
        case "/cut":
            return "200 OK", plain, cut()
        case "/fields":
            body = json.dumps({**seen, "fields": fields}).encode()
            return "200 OK", plain, [body]
        case "/closing":
            return "200 OK", [*plain, ("Connection", "close")], [b"bye"]
    return "200 OK", plain, [b"hello"]


def wsgi(environ, start_response):
    path, query = environ["PATH_INFO"], parse_qs(environ["QUERY_STRING"])
    fields = {
        name[5:].lower().replace("_", "-"): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    seen = {
        "scheme": environ["wsgi.url_scheme"],
        "client": environ.get("REMOTE_ADDR", ""),
        "port": environ.get("REMOTE_PORT", ""),
    }
    number = ("X-Number", fields.get("x-number", "none"))
    stream = environ["wsgi.input"]
    if path == "/digest":
        digest = hashlib.sha256()
        while piece := stream.read(65536):
            digest.update(piece)
        start_response("200 OK", [number])
        return [digest.hexdigest().encode()]
    if path == "/arriving":
        size = 0
        while stream.read(1):
            size += 1
            tell(f"arrived {size}")
        start_response("200 OK", [number])
        return [str(size).encode()]
    if path == "/hinted" and "wsgi.early_hints" in environ:
        environ["wsgi.early_hints"]([("Link", LINK)])
    status, headers, blocks = answer(path, query, fields, seen)
    start_response(status, [number, *headers])
    return blocks if isinstance(blocks, list) else waiting(blocks)


async def body_of(receive):
    more = True
    while more:
        message = await receive()
        assert message["type"] == "http.request", message
        more = message["more_body"]
        yield message["body"]


async def asgi(scope, receive, send):
    assert scope["type"] == "http", scope["type"]
    path, query = scope["path"], parse_qs(scope["query_string"].decode())
    fields = {
        name.decode(): value.decode("latin-1")
        for name, value in scope["headers"]
    }
    host, port = scope["client"] or ("", "")
    seen = {"scheme": scope["scheme"], "client": host, "port": port}
    number = ("X-Number", fields.get("x-number", "none"))
    if path == "/digest":
        digest = hashlib.sha256()
        async for piece in body_of(receive):
            digest.update(piece)
        status, headers = "200", []
        blocks = [digest.hexdigest().encode()]
    elif path == "/arriving":
        size = 0
        async for piece in body_of(receive):
            size += len(piece)
            tell(f"arrived {size}")
        status, headers, blocks = "200", [], [str(size).encode()]
    else:
        hint = "http.response.early_hint"
        if path == "/hinted" and hint in scope["extensions"]:
            await send({"type": hint, "links": [LINK.encode()]})
        status, headers, blocks = answer(path, query, fields, seen)
    await send(
        {
            "type": "http.response.start",
            "status": int(status.split()[0]),
            "headers": [
                (name.lower().encode(), value.encode())
                for name, value in [number, *headers]
            ],
        }
    )
    for block in blocks:
        if block is WAIT:
            while not released():
                await asyncio.sleep(TICK)
            continue
        await send(
            {"type": "http.response.body", "body": block, "more_body": True}
        )
    await send({"type": "http.response.body", "body": b""})
