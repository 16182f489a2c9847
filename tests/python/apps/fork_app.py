"""Applications that fork. The answer is the child's exit status, or "parent".

/exit    the child exits with 7
/return  the child answers "child", as the parent does
/raise   the child raises
/big     the child answers, with more than waits to be sent
/late    the child exits with 7; a task's cancellation has woken its parent
/close   the child returns from the close() of the iterable
/write   the child sends what it has before it returns
/hold    the child lives until $RELEASE, a fifo, is written to
/pool    a child of multiprocessing is terminated
"""

import asyncio
import contextlib
import multiprocessing
import os
import select
import sys
import time

fork = multiprocessing.get_context("fork")

FORKING = ("/big", "/exit", "/hold", "/late", "/raise", "/return", "/write")


def hold(ready):
    for each in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), each)
    released = os.open(os.environ["RELEASE"], os.O_RDONLY | os.O_NONBLOCK)
    os.write(ready, b"!")
    select.select([released], [], [])
    os._exit(0)


def terminated():
    """The exit code of a child that is told to go as soon as it runs."""
    reader, writer = os.pipe()
    child = fork.Process(target=run_for_ever, args=(writer,))
    child.start()
    os.read(reader, 1)
    child.terminate()
    child.join()
    return child.exitcode


def run_for_ever(writer):
    os.write(writer, b"!")
    while True:
        time.sleep(0.01)


def answer(path):
    if path == "/pool":
        return str(terminated())
    if path not in FORKING:
        return "hello"
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        if path in ("/exit", "/late"):
            sys.exit(7)
        if path == "/big":
            return "child" * 100_000
        if path == "/raise":
            raise LookupError("in the child")
        if path == "/hold":
            hold(writer)
        return "child"
    if path == "/hold":
        os.read(reader, 1)
        return "parent"
    return str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def wsgi(environ, start_response):
    body = answer(environ["PATH_INFO"]).encode()
    write = start_response("200 OK", [("Content-Length", str(len(body)))])
    if environ["PATH_INFO"] == "/write":
        write(body)
        return []
    return [body]


def generator(environ, start_response):
    """Forks while its body is iterated."""
    start_response("200 OK", [])
    yield answer(environ["PATH_INFO"]).encode()


class Closing:
    """Forks when it is closed, and prints how the child has ended."""

    def __iter__(self):
        return iter([b"closing"])

    def close(self):
        code = answer("/return")
        if code != "child":
            print("closed", code, flush=True)


def closing(environ, start_response):
    start_response("200 OK", [])
    return Closing() if environ["PATH_INFO"] == "/close" else [b"hello"]


def torn(environ, start_response):
    """Breaks off, while a child holds the connection."""
    start_response("200 OK", [])
    yield answer("/hold").encode()
    raise LookupError("no more")


async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        print("shutdown", flush=True)
        await send({"type": "lifespan.shutdown.complete"})
        return
    if scope["path"] == "/late":
        task = asyncio.current_task()
        asyncio.get_running_loop().call_soon(task.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
    body = answer(scope["path"]).encode()
    if body == b"child" and scope["path"] == "/return":
        await asyncio.sleep(0)  # to the loop
    length = (b"content-length", b"%d" % len(body))
    start = {"type": "http.response.start", "status": 200, "headers": [length]}
    await send(start)
    piece = {"type": "http.response.body", "body": body, "more_body": True}
    await send(piece)
    await send({"type": "http.response.body"})


async def in_task(scope, receive, send):
    """Forks in a task of its own."""
    if scope["type"] != "lifespan":
        whole = asgi(scope, receive, send)
        await asyncio.get_running_loop().create_task(whole)
