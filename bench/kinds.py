"""One application, WSGI and ASGI, that answers in every way: the paths are
the kinds of bench/memory.py."""

import asyncio

PLAIN = b"Hello, world!"
PART = b"x" * 1000


async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    path = scope["path"]
    if path == "/error":
        raise RuntimeError("as asked")
    status = 304 if path == "/304" else 200
    await send({"type": "http.response.start", "status": status})
    if path == "/streamed":
        for _ in range(5):
            await send(
                {"type": "http.response.body", "body": PART, "more_body": True}
            )
            await asyncio.sleep(0)
        await send({"type": "http.response.body"})
    elif path == "/disconnect":
        while True:  # until the client has gone: OSError
            await send(
                {
                    "type": "http.response.body",
                    "body": PART * 64,
                    "more_body": True,
                }
            )
            await asyncio.sleep(0)
    else:
        body = b"" if status == 304 else PLAIN
        await send({"type": "http.response.body", "body": body})


def wsgi(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/error":
        raise RuntimeError("as asked")
    status = "304 Not Modified" if path == "/304" else "200 OK"
    start_response(status, [])
    if path == "/streamed":
        return (PART for _ in range(5))
    if path == "/disconnect":
        return endless()
    return [] if path == "/304" else [PLAIN]


def endless():
    while True:
        yield PART * 64
