"""Requests that end in every way, as ASGI and as WSGI.

The path is a row of docs/lifecycle.md, or of several: ``waits`` for the client,
``reads`` its body, ``floods`` it, gives one ``large`` body or a ``whole`` one.
What an application is told of the end is a line on standard output.
"""

import asyncio
import inspect
import os

from common import BoomError

PIECE = bytes(64 * 1024)
LARGE = 256 * PIECE


def tell(target, what):
    os.write(1, f"told {target}: {what}\n".encode())


def named(error):
    """An exception as docs/lifecycle.md has it."""
    if isinstance(error, OSError):
        return f"OSError: {error}"
    return type(error).__name__


class Exchange:
    """One ASGI request, without the dictionaries."""

    def __init__(self, receive, send, tell):
        self._receive, self._send, self.tell = receive, send, tell

    async def receive(self):
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.tell("http.disconnect")
            return None
        return message

    async def start(self, length=None):
        fields = []
        if length is not None:
            fields.append((b"content-length", b"%d" % length))
        await self._send(
            {"type": "http.response.start", "status": 200, "headers": fields}
        )

    async def body(self, data=b"", more=False):
        await self._send(
            {"type": "http.response.body", "body": data, "more_body": more}
        )

    async def whole(self):
        await self.start()
        await self.body(b"whole")


async def asgi(scope, receive, send):
    path = scope["path"].removeprefix("/")
    target = f"{path}?{scope['query_string'].decode()}"
    exchange = Exchange(receive, send, lambda what: tell(target, what))
    row = ROWS.get(path, Exchange.whole)
    try:
        await row(exchange)
    except BoomError:
        raise
    except BaseException as error:
        exchange.tell(named(error))
        raise


async def raises_before(_):
    raise BoomError


async def raises_behind_the_start(exchange):
    await exchange.start()
    raise BoomError


async def raises_inside(exchange):
    await exchange.start()
    await exchange.body(b"piece", more=True)
    raise BoomError


async def raises_inside_a_length(exchange):
    await exchange.start(10)
    await exchange.body(b"piece", more=True)
    raise BoomError


async def raises_behind_the_end(exchange):
    await exchange.whole()
    raise BoomError


async def too_short(exchange):
    await exchange.start(10)
    await exchange.body(b"piece")


async def too_short_at_the_end(exchange):
    await exchange.start(10)
    await exchange.body(b"piece", more=True)
    await exchange.body()


async def too_long(exchange):
    await exchange.start(3)
    await exchange.body(b"piece")


async def too_long_at_the_end(exchange):
    await exchange.start(7)
    await exchange.body(b"piece", more=True)
    await exchange.body(b"piece")


async def says_nothing(_):
    pass


async def says_no_body(exchange):
    await exchange.start()


async def says_no_end(exchange):
    await exchange.start()
    await exchange.body(b"piece", more=True)


async def ends_twice(exchange):
    await exchange.whole()
    await exchange.body(b"again")


async def is_cancelled(_):
    raise asyncio.CancelledError


async def exits(_):
    raise SystemExit(3)


async def exits_inside(exchange):
    await exchange.start()
    await exchange.body(b"piece", more=True)
    raise SystemExit(3)


async def has_no_memory(_):
    raise MemoryError


async def waits(exchange):
    os.write(1, b"begun waits\n")
    while await exchange.receive() is not None:
        pass


async def reads(exchange):
    message = {"more_body": True}
    while message is not None and message["more_body"]:
        message = await exchange.receive()
    if message is not None:
        await exchange.whole()


async def floods(exchange):
    await exchange.start()
    while True:
        await exchange.body(PIECE, more=True)


async def large(exchange):
    await exchange.start()
    await exchange.body(LARGE)


ROWS = {
    name: value
    for name, value in globals().items()
    if inspect.iscoroutinefunction(value) and name != "asgi"
}


class Iterable:
    """What a WSGI application returns: tells of its end."""

    def __init__(self, blocks, tell):
        self._blocks, self._tell = iter(blocks), tell

    def __iter__(self):
        return self._blocks

    def close(self):
        if hasattr(self._blocks, "close"):
            self._blocks.close()
        self._tell("close()")


def wsgi(environ, start_response):
    path = environ["PATH_INFO"].removeprefix("/")
    target = f"{path}?{environ['QUERY_STRING']}"
    made = WSGI_ROWS.get(path, wsgi_whole)

    def told(what):
        tell(target, what)

    try:
        blocks = made(environ, start_response)
    except BoomError:
        raise
    except BaseException as error:
        told(named(error))
        raise
    if isinstance(blocks, list):
        return blocks
    return Iterable(watched(blocks, told), told)


def watched(blocks, told):
    try:
        yield from blocks
    except BoomError:
        raise
    except BaseException as error:
        told(named(error))
        raise


def start(start_response, length=None):
    fields = [] if length is None else [("Content-Length", str(length))]
    start_response("200 OK", fields)


def wsgi_whole(_, start_response):
    start(start_response)
    return (block for block in [b"whole"])


def wsgi_raises_before(*_):
    raise BoomError


def wsgi_raises_behind_the_start(_, start_response):
    start(start_response)
    raise BoomError


def wsgi_raises_inside(_, start_response):
    start(start_response)
    yield b"piece"
    raise BoomError


def wsgi_raises_inside_a_length(_, start_response):
    start(start_response, 10)
    yield b"piece"
    raise BoomError


def wsgi_too_short_at_the_end(_, start_response):
    start(start_response, 10)
    yield b"piece"


def wsgi_too_long_at_the_end(_, start_response):
    start(start_response, 7)
    yield b"piece"
    yield b"piece"


def wsgi_says_nothing(*_):
    return []


def wsgi_exits(*_):
    raise SystemExit(3)


def wsgi_exits_inside(_, start_response):
    start(start_response)
    yield b"piece"
    raise SystemExit(3)


def wsgi_has_no_memory(*_):
    raise MemoryError


def wsgi_waits(environ, start_response):
    disconnected = environ["xsgi.client_disconnected"]
    while not disconnected():
        pass
    tell(f"waits?{environ['QUERY_STRING']}", "client_disconnected()")
    return wsgi_whole(environ, start_response)


def wsgi_reads(environ, start_response):
    environ["wsgi.input"].read()
    return wsgi_whole(environ, start_response)


def wsgi_floods(_, start_response):
    start(start_response)
    while True:
        yield PIECE


def wsgi_large(_, start_response):
    start(start_response)
    return [LARGE]


WSGI_ROWS = {
    name.removeprefix("wsgi_"): value
    for name, value in globals().items()
    if name.startswith("wsgi_")
}
