"""Applications that Ctrl-C comes into."""


def wsgi(environ, start_response):
    raise KeyboardInterrupt


async def asgi(scope, receive, send):
    if scope["type"] == "http":
        raise KeyboardInterrupt
    raise NotImplementedError(scope["type"])
