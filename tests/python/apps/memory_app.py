"""Slow applications, for tests of what each of their clients costs."""

import asyncio
import os


async def asgi(scope, receive, send):
    """Takes one part of the upload, forgets it, and asks for no more."""
    if scope["type"] == "lifespan":
        return
    if scope["method"] == "POST":
        await receive()
        print("taken", flush=True)
        await asyncio.Event().wait()
    await send({"type": "http.response.start", "status": 200})
    await send({"type": "http.response.body", "body": b""})


def wsgi(environ, start_response):
    """Pieces of 64 KiB for ever, each in memory of its own."""
    start_response("200 OK", [])
    if environ["PATH_INFO"] == "/":
        return [b""]
    return iter(lambda: os.urandom(1) * (64 * 1024), None)
