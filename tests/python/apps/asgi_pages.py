"""What the pages of asgi_app.py are made with."""

import asyncio
import contextvars

PATIENCE = 10

pages = {}
seen = {}
news = {}
context_variable = contextvars.ContextVar("context_variable", default="none")
kept = []


def page(function):
    pages["/" + function.__name__] = function
    return function


def see(name, value):
    seen[name] = value
    news.setdefault(name, asyncio.Event()).set()


def start(status=200, *headers):
    return {
        "type": "http.response.start",
        "status": status,
        "headers": list(headers),
    }


def body(data=b"", more=False):
    return {"type": "http.response.body", "body": data, "more_body": more}


async def text(send, data, status=200):
    if isinstance(data, str):
        data = data.encode()
    await send(start(status, (b"content-type", b"text/plain")))
    await send(body(data))


async def read_all(receive):
    data = b""
    while True:
        message = await receive()
        data += message["body"]
        if not message["more_body"]:
            return data


def caught(error):
    return [type(error).__name__, str(error)]
