"""Clients that read slowly, stop, leave or count, for these measurements."""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable

PATIENCE = 120


class Client:
    """One connection; the head of a response is read, its body is left."""

    def __init__(self, port: int, buffer: int = 0, segment: int = 0) -> None:
        self.sock = socket.socket()
        if buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        if segment:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(("127.0.0.1", port))
        self.ports = port, self.sock.getsockname()[1]
        self.rest = b""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def ask(self, path: str, *fields: str, version: str = "1.1") -> None:
        lines = [f"GET {path} HTTP/{version}", "Host: bench", *fields, "", ""]
        self.sock.sendall("\r\n".join(lines).encode())

    def head(self) -> dict[bytes, bytes]:
        """The fields of the next response, in lower case."""
        while b"\r\n\r\n" not in self.rest:
            data = self.sock.recv(4096)
            if not data:
                raise ConnectionError("closed inside a head")
            self.rest += data
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        lines = [line.partition(b":") for line in head.lower().split(b"\r\n")]
        self.status = int(head.split()[1])
        return {name: value.strip() for name, _, value in lines[1:]}

    def body(self) -> bytes:
        """The body of a response by length or in chunks, whole."""
        fields = self.head()
        if b"content-length" in fields:
            return self._take(int(fields[b"content-length"]))
        if b"transfer-encoding" not in fields:
            while data := self.sock.recv(1 << 16):
                self.rest += data
            return self._take(len(self.rest))
        parts = []
        while size := int(self._line(), 16):
            parts.append(self._take(size))
            self._take(2)
        self._take(2)
        return b"".join(parts)

    def _line(self) -> bytes:
        while b"\r\n" not in self.rest:
            self._more()
        line, _, self.rest = self.rest.partition(b"\r\n")
        return line

    def _take(self, count: int) -> bytes:
        while len(self.rest) < count:
            self._more()
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def _more(self) -> None:
        data = self.sock.recv(1 << 16)
        if not data:
            raise ConnectionError("closed inside a body")
        self.rest += data

    def reset(self) -> None:
        self.sock.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self.sock.close()


def get(port: int, path: str) -> bytes:
    """The body of one response, on a connection of its own."""
    with Client(port) as client:
        client.ask(path, "Connection: close")
        return client.body()


def seen(port: int, **want: int) -> dict[str, list[int]]:
    """What the application has noted; waits for so many of each name."""
    end = time.monotonic() + PATIENCE
    while True:
        found = json.loads(get(port, "/seen"))
        late = time.monotonic() > end
        if late or all(len(found.get(k, ())) >= n for k, n in want.items()):
            return found
        time.sleep(0.02)


def read_slowly(port: int, path: str, piece: int, pause: float) -> str:
    """The SHA-256 of a body by length, read in pieces with pauses."""
    digest = hashlib.sha256()
    with Client(port) as client:
        client.ask(path)
        left = int(client.head()[b"content-length"]) - len(client.rest)
        digest.update(client.rest)
        while left > 0:
            time.sleep(pause)
            data = client.sock.recv(min(piece, left))
            if not data:
                raise ConnectionError(f"{left} bytes are missing")
            digest.update(data)
            left -= len(data)
    return digest.hexdigest()


def together(count: int, act: Callable[[int], object]) -> list[object]:
    """What `act` gives, or raises, on so many threads at once."""
    found: list[object] = [None] * count

    def run(i: int) -> None:
        try:
            found[i] = act(i)
        except Exception as error:
            found[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
