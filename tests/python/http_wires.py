"""Clients that show every byte: over a socket, or of a simulation.

``got`` is what has come, ``state`` is "open", "closed" or "reset".
"""

import select
import socket
import time

from serving import PATIENCE


class SocketWire:
    """A client over a socket. Whatever is awaited comes, or the patience
    ends."""

    def __init__(self, address):
        self.sock = socket.create_connection(address, PATIENCE)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.setblocking(False)
        self.got = b""
        self.state = "open"
        self.unsent = b""
        self.will_end = False

    def send(self, data):
        self.unsent += data
        self._turn(0)

    def end(self):
        self.will_end = True
        self._turn(0)

    def run_until(self, is_done):
        """Run until ``is_done()``; give up after the patience."""
        limit = time.monotonic() + PATIENCE
        while not is_done() and time.monotonic() < limit:
            if self.state != "open":
                return
            self._turn(0.5)

    def _turn(self, wait):
        if self.state != "open":
            return
        writing = [self.sock] if self.unsent else []
        readable, writable, _ = select.select([self.sock], writing, [], wait)
        if writable:
            self._write()
        if readable:
            self._read()
        if self.will_end and not self.unsent and self.state == "open":
            self.will_end = False
            self.sock.shutdown(socket.SHUT_WR)

    def _write(self):
        try:
            self.unsent = self.unsent[self.sock.send(self.unsent) :]
        except OSError:
            self.unsent = b""  # the server has had enough

    def _read(self):
        try:
            data = self.sock.recv(1 << 18)
        except ConnectionResetError:
            self.state = "reset"
            return
        self.got += data
        if not data:
            self.state = "closed"

    def close(self):
        self.sock.close()


class SimWire:
    """A client of a simulation; ``turn()`` runs the server."""

    #: In nice weather what comes, comes soon.
    TURNS = 3000

    def __init__(self, peer, turn):
        self.peer = peer
        self.turn = turn
        self.got = b""
        self.state = "open"
        turn()

    def send(self, data):
        for _ in range(self.TURNS):
            if not data or self.state != "open":
                return
            try:
                data = data[self.peer.write(data) :]
            except OSError:
                self._turn()
                return
            self._turn()

    def end(self):
        self.peer.shutdown()
        self._turn()

    def run_until(self, is_done):
        for _ in range(self.TURNS):
            if is_done() or self.state != "open":
                return
            self._turn()

    def _turn(self):
        self.turn()
        while self.state == "open":
            try:
                data = self.peer.read(1 << 18)
            except ConnectionResetError:
                self.state = "reset"
                return
            if data is None:
                return
            self.got += data
            if not data:
                self.state = "closed"

    def close(self):
        self.peer.close()
        self.turn()
