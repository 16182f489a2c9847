"""Responses from files, for ASGI and WSGI.

ASGI: the path says what is sent, the query which file.
"""

import asyncio
import os
from urllib.parse import unquote


class Asgi:
    def __init__(self):
        self.most_open = 0  # descriptors

    async def __call__(self, scope, receive, send):
        assert scope["type"] == "http"
        name = unquote(scope["query_string"].decode())
        await getattr(self, scope["path"].strip("/"))(name, send)

    async def pathsend(self, name, send):
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.pathsend", "path": name})

    async def zerocopysend(self, name, send):
        """In three parts, from a file that is closed at once."""
        await send({"type": "http.response.start", "status": 200})
        for number in range(3):
            with open(name, "rb") as file:
                message = {
                    "type": "http.response.zerocopysend",
                    "file": file,
                    "more_body": number < 2,
                }
                await send(message)

    async def until_close(self, name, send):
        """A body without a length for HTTP/1.0."""
        await send({"type": "http.response.start", "status": 200})
        with open(name, "rb") as file:
            message = {"type": "http.response.zerocopysend", "file": file}
            await send({**message, "more_body": True})
        await send({"type": "http.response.body"})

    async def places(self, name, send):
        """Bytes and ranges in turn; those without an offset follow on."""
        await send({"type": "http.response.start", "status": 200})
        with open(name, "rb") as file:
            file.read(1)  # which reads ahead

            def part(**keys):
                message = {"type": "http.response.zerocopysend", "file": file}
                return send({**message, "more_body": True, **keys})

            body = {"type": "http.response.body", "more_body": True}
            await part(count=2)
            await send({**body, "body": b"-"})
            await part(offset=7, count=2)
            await send({**body, "body": b"-"})
            await part(count=None, offset=None)
            await part(offset=100)
            await part(count=0, more_body=False)

    async def descriptor(self, name, send):
        """The same with an int, which has a place of its own."""
        fd = os.open(name, os.O_RDONLY)
        message = {"type": "http.response.zerocopysend", "file": fd}
        await send({"type": "http.response.start", "status": 200})
        try:
            await send({**message, "count": 4, "more_body": True})
            await send(message)
        finally:
            os.close(fd)

    async def drops(self, name, send):
        """A byte at a time, as often as there are bytes, without a wait."""
        size = os.path.getsize(name)
        await send({"type": "http.response.start", "status": 200})
        with open(name, "rb") as file:
            message = {"type": "http.response.zerocopysend", "file": file}
            for at in range(size):
                await send({**message, "count": 1, "more_body": at < size - 1})
                self._count()

    async def pathsend_counted(self, name, send):
        await self.pathsend(name, send)
        self._count()

    def _count(self):
        self.most_open = max(self.most_open, len(os.listdir("/proc/self/fd")))

    async def most(self, name, send):
        """The most descriptors that were open since this was asked last."""
        body = str(self.most_open).encode()
        self.most_open = 0
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": body})

    async def wrong(self, name, send):
        """What is refused leaves the application free to say it otherwise."""
        await send({"type": "http.response.start", "status": 200})
        try:
            await send({"type": "http.response.pathsend", "path": name})
        except OSError as error:
            body = f"{type(error).__name__} {error.filename}".encode()
            await send({"type": "http.response.body", "body": body})

    async def hello(self, name, send):
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"hello"})


asgi = Asgi()


def _starlette():
    from starlette.applications import Starlette
    from starlette.responses import FileResponse
    from starlette.routing import Route

    async def file(request):
        return FileResponse(unquote(request.url.query))

    return Starlette(routes=[Route("/", file)])


class Recording:
    """FileResponse, and in which messages it came."""

    def __init__(self):
        self.app = None
        self.types = []

    async def __call__(self, scope, receive, send):
        if self.app is None:
            self.app = _starlette()
        if scope.get("path") == "/types":
            body = " ".join(self.types).encode()
            self.types.clear()
            await send({"type": "http.response.start", "status": 200})
            return await send({"type": "http.response.body", "body": body})

        async def record(message):
            self.types.append(message["type"])
            await send(message)

        await self.app(scope, receive, record)


starlette = Recording()
