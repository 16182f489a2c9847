"""One application, ASGI and WSGI, for these measurements: a path is what is to
happen, numbers in it are parameters.

/events/N     N distinct events of 64 KiB, by length
/chunks/N/S   N pieces of S bytes, by length
/body/S       one piece of S bytes
/parts/N      100 bytes in N pieces, chunked
/upload/MS    takes an upload, sleeps MS ms for each 64 KiB, answers its digest
/endless/KIND pieces of 64 KiB for ever; notes when and how it ended
/stalled/KIND the same, `fixed` with a Content-Length
/error        raises
/stream/KIND  events with their time, for ever; ASGI, see events.py
/wait/MS      answers after so long
/seen         what was noted, as JSON, and forgets it
"""

import asyncio
import functools
import hashlib
import json
import random
import threading
import time

SIZE = 64 * 1024
PIECE = bytes(range(256)) * 256
ENDLESS = 1 << 50
EVENT_S = 0.5
NOTED = {}


def note(name):
    NOTED.setdefault(name, []).append(time.monotonic_ns())


def take_noted():
    found = dict(NOTED)
    NOTED.clear()
    return json.dumps(found).encode()


def event(i):
    """An event like no other, in memory of its own."""
    return i.to_bytes(8, "big") + PIECE[8:]


def digest_of(count):
    """The digest of all of `/events/count`."""
    digest = hashlib.sha256()
    for i in range(count):
        digest.update(event(i))
    return digest.hexdigest()


def pieces(path):
    """An iterable of pieces, and its length or None."""
    _, kind, *words = path.split("/")
    number = [int(word) for word in words if word.isdigit()]
    if kind == "events":
        return (event(i) for i in range(number[0])), number[0] * SIZE
    if kind == "chunks":
        piece = b"x" * number[1]
        return (piece for _ in range(number[0])), number[0] * number[1]
    if kind == "body":
        return [b"x" * number[0]], number[0]
    if kind == "parts":
        return (b"x" * (100 // number[0]) for _ in range(number[0])), None
    return [kind.encode()], len(kind)


async def send_start(send, length=None, status=200):
    headers = [(b"content-type", b"application/octet-stream")]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    await send(
        {"type": "http.response.start", "status": status, "headers": headers}
    )


async def send_body(send, data, more=False):
    await send({"type": "http.response.body", "body": data, "more_body": more})


async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        return await lifespan(receive, send)
    path = scope["path"]
    page = ASGI_PAGES.get(path.split("/")[1])
    if page is not None:
        return await page(path, receive, send)
    found, length = pieces(path)
    await send_start(send, length)
    if isinstance(found, list):
        return await send_body(send, found[0])
    if length is None:
        last = next(found)
        for piece in found:
            await send_body(send, last, True)
            last = piece
        return await send_body(send, last)
    for piece in found:
        await send_body(send, piece, True)
    return await send_body(send, b"")


async def lifespan(receive, send):
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def asgi_seen(path, receive, send):
    NOTED["tasks"] = [len(asyncio.all_tasks())]
    found = take_noted()
    await send_start(send, len(found))
    await send_body(send, found)


async def asgi_upload(path, receive, send):
    pause = int(path.split("/")[2]) / 1000 / SIZE
    digest, more = hashlib.sha256(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return note("disconnect")
        digest.update(message["body"])
        more = message["more_body"]
        await asyncio.sleep(pause * len(message["body"]))
    await send_start(send, 64)
    await send_body(send, digest.hexdigest().encode())


async def stream(send, length=None):
    """Pieces for ever; how it ended is noted under its exception."""
    try:
        await send_start(send, length)
        while True:
            await send_body(send, PIECE, True)
            note("sent")
            del NOTED["sent"][:-1]
    except BaseException as error:
        told = isinstance(error, OSError)
        note("oserror" if told else type(error).__name__.lower())
        raise


async def asgi_endless(path, receive, send):
    kind = path.split("/")[2]
    if kind == "receive":
        await asyncio.gather(stream(send), until_gone(receive))
    elif kind == "cancel":
        await cancel(asyncio.ensure_future(stream(send)))
    else:
        await stream(send)


async def asgi_stalled(path, receive, send):
    await stream(send, ENDLESS if path.endswith("fixed") else None)


async def asgi_error(path, receive, send):
    raise RuntimeError("as asked")


async def until_gone(receive):
    while (await receive())["type"] != "http.disconnect":
        pass
    note("disconnect")


async def cancel(task):
    """Cancel it once it is blocked: when it has sent nothing for a while."""
    await asyncio.sleep(0.05)
    note("cancel")
    task.cancel()
    await asyncio.wait([task])


class Bell:
    """Rings every half second, for all who wait."""

    def __init__(self):
        self.event = asyncio.Event()
        self.task = asyncio.ensure_future(self.run())

    async def run(self):
        while True:
            await asyncio.sleep(EVENT_S)
            self.event.set()
            self.event = asyncio.Event()


@functools.cache
def bell():
    return Bell()


async def asgi_stream(path, receive, send):
    await send_start(send)
    burst = path.endswith("burst")
    if not burst:
        await asyncio.sleep(random.random() * EVENT_S)
    while True:
        data = b"data: %d\n\n" % time.time_ns()
        try:
            await send_body(send, data, True)
        except OSError:
            return
        if burst:
            await bell().event.wait()
        else:
            await asyncio.sleep(EVENT_S)


async def asgi_wait(path, receive, send):
    await asyncio.sleep(int(path.split("/")[2]) / 1000)
    await send_start(send, 2)
    await send_body(send, b"ok")


ASGI_PAGES = {
    "stream": asgi_stream,
    "wait": asgi_wait,
    "seen": asgi_seen,
    "upload": asgi_upload,
    "endless": asgi_endless,
    "stalled": asgi_stalled,
    "error": asgi_error,
}


def wsgi(environ, start_response):
    path = environ["PATH_INFO"]
    kind = path.split("/")[1]
    if kind == "upload":
        found = [wsgi_upload(path, environ["wsgi.input"])]
    elif kind == "wait":
        time.sleep(int(path.split("/")[2]) / 1000)
        found = [b"ok"]
    elif kind == "error":
        raise RuntimeError("as asked")
    elif kind in ("endless", "stalled"):
        fixed = [("Content-Length", str(ENDLESS))]
        start_response("200 OK", fixed if path.endswith("fixed") else [])
        return Endless()
    elif kind == "seen":
        NOTED["threads"] = [threading.active_count()]
        found = [take_noted()]
    else:
        found, length = pieces(path)
    if isinstance(found, list):
        length = len(found[0])
    headers = [("Content-Type", "application/octet-stream")]
    if length is not None:
        headers.append(("Content-Length", str(length)))
    start_response("200 OK", headers)
    return found


def wsgi_upload(path, stream):
    pause = int(path.split("/")[2]) / 1000 / SIZE
    digest = hashlib.sha256()
    while data := stream.read(SIZE):
        digest.update(data)
        time.sleep(pause * len(data))
    return digest.hexdigest().encode()


class Endless:
    def __iter__(self):
        return self

    def __next__(self):
        return PIECE

    def close(self):
        note("close")
