"""The smallest ASGI application: `xsgi serve examples.hello:app`."""


async def app(scope, receive, send):
    if scope["type"] != "http":
        return  # there is nothing to start up, and no WebSocket
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-type", b"text/plain; charset=utf-8")],
        }
    )
    await send({"type": "http.response.body", "body": b"Hello, world!\n"})
