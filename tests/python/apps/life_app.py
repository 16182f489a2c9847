"""An application that tells what happens to it, as ASGI and as WSGI.

/          hello
/hold      prints "held", answers when the file $RELEASE exists
/stubborn  likewise, and does not let itself be cancelled
/deaf      leaves a task behind that nothing ends
/after     answers, and prints "after" when $RELEASE exists
/stuck     blocks the thread that it runs on until $RELEASE exists
/both      SIGTERM and SIGINT come at once
/ticks     how a background thread has fared since the last /ticks
/loop      the type of the loop
/body      the size of the request's body
/state     what the lifespan left for requests
/echo      method, path, root path
"""

import asyncio
import contextlib
import json
import os
import signal
import threading
import time

TICK = 0.01


def released():
    return os.path.exists(os.environ["RELEASE"])


def tell(word):
    """A line in one piece, also when several threads tell."""
    os.write(1, f"{word}\n".encode())


class Ticker(threading.Thread):
    """Ticks every 10 ms and notes how late it was at worst."""

    def __init__(self):
        super().__init__(daemon=True)
        self.reset()

    def reset(self):
        self.count, self.worst, self.since = 0, 0.0, time.monotonic()

    def run(self):
        last = time.monotonic()
        while True:
            time.sleep(TICK)
            now = time.monotonic()
            self.worst = max(self.worst, now - last)
            self.count += 1
            last = now

    def report(self):
        seconds = time.monotonic() - self.since
        found = {"rate": self.count / seconds, "worst": self.worst}
        self.reset()
        return json.dumps(found)


ticker = Ticker()
ticker.start()


async def hold():
    tell("held")
    try:
        while not released():
            await asyncio.sleep(TICK)
    except asyncio.CancelledError:
        tell("cancelled")
        raise
    return "held"


async def stubborn():
    tell("held")
    while not released():
        try:
            await asyncio.sleep(TICK)
        except asyncio.CancelledError:
            tell("not me")
    return "stubborn"


async def deaf():
    while True:
        with contextlib.suppress(BaseException):  # also what frees it
            await asyncio.sleep(TICK)


def stuck():
    tell("held")
    while not released():
        time.sleep(TICK)
    return "stuck"


def both():
    """Both before the main thread sees either of them."""
    numbers = [signal.SIGTERM, signal.SIGINT]
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    for number in numbers:
        signal.raise_signal(number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    return "both"


async def size_of_body(receive):
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            tell("disconnected")
            return "0"
        size += len(message["body"])
        if not message["more_body"]:
            return str(size)


async def answer(scope, receive):
    path = scope["path"].removeprefix(scope["root_path"])
    if path == "/hold":
        return await hold()
    if path == "/stubborn":
        return await stubborn()
    if path == "/deaf":
        loop = asyncio.get_running_loop()
        loop.left_behind = loop.create_task(deaf())
    if path == "/stuck":
        return stuck()
    if path == "/both":
        return both()
    if path == "/ticks":
        return ticker.report()
    if path == "/loop":
        return type(asyncio.get_running_loop()).__module__
    if path == "/state":
        return scope["state"]["word"]
    if path == "/body":
        return await size_of_body(receive)
    if path == "/echo":
        return f"{scope['method']} {scope['path']} {scope['root_path']}"
    return "hello"


async def lifespan(scope, receive, send):
    scope["state"]["word"] = "kept"
    while True:
        message = await receive()
        tell(message["type"])
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        await lifespan(scope, receive, send)
        return
    body = (await answer(scope, receive)).encode()
    length = (b"content-length", b"%d" % len(body))
    start = {"type": "http.response.start", "status": 200, "headers": [length]}
    await send(start)
    await send({"type": "http.response.body", "body": body})
    if scope["path"] == "/after":
        await hold()
        tell("after")


class Flood:
    """Streams without end to whoever asks, and tells others how far it got."""

    def __init__(self):
        self.sent = 0

    async def __call__(self, scope, receive, send):
        await send({"type": "http.response.start", "status": 200})
        while scope["path"] == "/flood":
            piece = {"body": bytes(4096), "more_body": True}
            await send({"type": "http.response.body", **piece})
            self.sent += 4096
        body = b"%d" % self.sent
        await send({"type": "http.response.body", "body": body})


flood = Flood()


async def failing(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send(
            {"type": "lifespan.startup.failed", "message": "no database"}
        )


async def raising(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        raise RuntimeError("no database")


async def sluggish(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await hold()
        await lifespan(scope, receive, send)


async def lazy(scope, receive, send):
    """Is never done with its shutdown."""
    if scope["type"] != "lifespan":
        await asgi(scope, receive, send)
        return
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await hold()


def wsgi(environ, start_response):
    path = environ["PATH_INFO"]
    text = "hello"
    if path in ("/hold", "/stuck"):
        text = stuck()
    elif path == "/both":
        text = both()
    elif path == "/ticks":
        text = ticker.report()
    elif path == "/body":
        text = str(len(environ["wsgi.input"].read()))
    elif path == "/echo":
        method, root = environ["REQUEST_METHOD"], environ["SCRIPT_NAME"]
        text = f"{method} {path} {root}"
    body = text.encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
