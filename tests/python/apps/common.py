"""What every framework's application does, apart from the framework.

The paths that each of them serves:

    GET  /json?q=X        {"hello": "world", "q": X}
    POST /json            the same JSON back
    POST /form            urlencoded: {"name": ..., "tags": [...]}
    POST /upload          multipart: {"note", "filename", "size", "sha256"}
    POST /digest          the body in pieces: {"size", "sha256"}
    GET  /download        DOWNLOAD bytes in pieces
    GET  /events          EVENTS server-sent events, PAUSE seconds apart
    GET  /cookies         sets a=1 and b=2: the cookies that came
    GET  /error           raises before the response
    GET  /error-later     raises after the first piece
    GET  /endless         streams until the client leaves
    GET  /left            {"left": how often a client left /endless}
"""

import asyncio
import hashlib
import random
import time

PIECE = random.Random(1).randbytes(64 * 1024)
SMALL = PIECE[:8192]
PIECES = 1024
DOWNLOAD = PIECES * len(PIECE)  # 64 MiB
EVENTS = 4
PAUSE = 0.1

left = []


class BoomError(Exception):
    """What the application raises."""


class Digest:
    def __init__(self):
        self._sha = hashlib.sha256()
        self._size = 0

    def add(self, piece):
        self._sha.update(piece)
        self._size += len(piece)

    def result(self, **more):
        return {"size": self._size, "sha256": self._sha.hexdigest(), **more}


def digest(pieces, **more):
    found = Digest()
    for piece in pieces:
        found.add(piece)
    return found.result(**more)


def read_all(read):
    """Pieces from a ``read(size)``."""
    return iter(lambda: read(64 * 1024), b"")


def pieces():
    for _ in range(PIECES):
        yield PIECE


def events():
    for number in range(EVENTS):
        yield b"data: %d\n\n" % number
        time.sleep(PAUSE)


def error_later():
    yield b"first"
    raise BoomError("later")


def endless():
    try:
        while True:
            yield PIECE
    finally:
        left.append(1)


async def apieces():
    for piece in pieces():
        yield piece


async def aevents():
    for number in range(EVENTS):
        yield b"data: %d\n\n" % number
        await asyncio.sleep(PAUSE)


async def aerror_later():
    yield b"first"
    raise BoomError("later")


async def aendless():
    try:
        while True:
            yield PIECE
    finally:
        left.append(1)
