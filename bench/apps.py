"""The applications that every server of the comparison serves."""

BODY = b"Hello, world!"
LENGTH = str(len(BODY))


async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [
                (b"content-type", b"text/plain"),
                (b"content-length", LENGTH.encode()),
            ],
        }
    )
    await send({"type": "http.response.body", "body": BODY})


def wsgi(environ, start_response):
    start_response(
        "200 OK",
        [("Content-Type", "text/plain"), ("Content-Length", LENGTH)],
    )
    return [BODY]
