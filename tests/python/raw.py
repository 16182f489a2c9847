"""An HTTP/1.1 client that shows every byte, for tests."""

import socket
import struct
from dataclasses import dataclass

from serving import PATIENCE


@dataclass
class Response:
    status: int
    headers: list  # (lower-case name, value), in order
    body: bytes
    complete: bool  # its end was seen, not only the connection's

    def header(self, name):
        """The value of the one header of that name, or None."""
        found = [value for key, value in self.headers if key == name]
        assert len(found) < 2, found
        return found[0] if found else None


class Client:
    """One connection, closed at the end of a with statement."""

    def __init__(
        self, address, timeout=PATIENCE, receive_buffer=None, source=None
    ):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.sock = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer is not None:
            self.sock.setsockopt(
                socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer
            )
        if source is not None:
            self.sock.bind((source, 0))
        self.sock.settimeout(timeout)
        self.sock.connect(address)
        self._buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.sock.close()

    def reset(self):
        """Close so that the peer gets a RST."""
        self.sock.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data)

    def request(self, method, target, *fields, body=b""):
        """Send a request. ``fields`` are whole lines."""
        lines = [f"{method} {target} HTTP/1.1", "Host: test", *fields]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        self.send(head + body)

    def get(self, target, *fields):
        self.request("GET", target, *fields)
        return self.response()

    def head(self):
        """The next response's status and headers."""
        lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        headers = []
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            assert colon, line
            headers.append((name.lower(), value.strip()))
        return Response(int(lines[0].split()[1]), headers, b"", False)

    def response(self, method="GET"):
        """The next response, whole."""
        response = self.head()
        length = response.header("content-length")
        if (
            method == "HEAD"
            or response.status < 200
            or response.status in (204, 304)
        ):
            response.complete = True
        elif response.header("transfer-encoding") == "chunked":
            response.body = b"".join(self.chunks())
            response.complete = self.ended
        elif length is not None:
            response.body = self.exactly(int(length))
            response.complete = len(response.body) == int(length)
        else:
            response.body = self.rest()
            response.complete = True
        return response

    def chunks(self):
        """The chunks of a body; ``ended`` says if the last one came."""
        self.ended = False
        while True:
            try:
                size = int(self.until(b"\r\n"), 16)
            except EOFError:
                return
            if size == 0:
                assert self.exactly(2) == b"\r\n"
                self.ended = True
                return
            data = self.exactly(size)
            if len(data) == size and self.exactly(2) == b"\r\n":
                yield data
            else:
                return

    def until(self, mark):
        """The bytes before ``mark``, which is taken as well."""
        while mark not in self._buffer:
            more = self._receive()
            if not more:
                raise EOFError(self._buffer)
            self._buffer += more
        found, _, self._buffer = self._buffer.partition(mark)
        return found

    def exactly(self, count):
        """The next ``count`` bytes; fewer at the end of the stream."""
        parts, have = [self._buffer[:count]], len(self._buffer[:count])
        self._buffer = self._buffer[count:]
        while have < count:
            more = self._receive(count - have)
            if not more:
                break
            parts.append(more)
            have += len(more)
        return b"".join(parts)

    def rest(self):
        """All bytes until the end of the stream."""
        parts = [self._buffer]
        self._buffer = b""
        while more := self._receive():
            parts.append(more)
        return b"".join(parts)

    def is_closed(self):
        """Whether the server closes without another byte."""
        return self.rest() == b""

    def _receive(self, size=1 << 18):
        try:
            return self.sock.recv(size)
        except ConnectionResetError:
            return b""
