"""An ASGI application of many small ones, each at a path of its own.

What one of them saw is kept under its name: ``GET /seen/NAME`` waits for it
and gives it as JSON.
"""

import asyncio
import json

import asgi_exchange  # noqa: F401
import asgi_inside  # noqa: F401
import asgi_life  # noqa: F401
import asgi_unasked  # noqa: F401
from asgi_pages import PATIENCE, news, page, pages, seen, text


@page
async def hello(scope, receive, send):
    await text(send, "hello")


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return await lifespan(scope, receive, send)
    path = scope["path"].removeprefix(scope["root_path"])
    if path.startswith("/seen/"):
        name = path.removeprefix("/seen/")
        event = news.setdefault(name, asyncio.Event())
        await asyncio.wait_for(event.wait(), PATIENCE)
        event.clear()
        return await text(send, json.dumps(seen.pop(name)))
    first = "/" + path.split("/")[1] if path else ""
    await pages.get(first, hello)(scope, receive, send)


async def lifespan(scope, receive, send):
    await receive()
    scope["state"]["started"] = ["by the lifespan"]
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})
