"""Threads that do with a backend whatever they like do not bring it down.

What each of them gets is an exception, or an answer. The order is the
scheduler's: what a seed gives again is only what each thread tries.
"""

import contextlib
import gc
import random
import socket
import sys
import threading
import types

import pytest

from xsgi import _xsgi

REQUEST = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n"

THREADS = 4

#: What each thread does.
ACTS = 200

#: How deep callbacks may do something while something is done.
DEPTH = 3

#: Longer than any of it lasts.
PATIENCE = 60


class Key:
    """What is given for a watch; acts when nobody holds it any more."""

    def __init__(self, act):
        self.act = act

    def __del__(self):
        self.act()


class Chaos:
    def __init__(self, kind, seed):
        self.kind = kind
        self.backend = None
        self.server = None
        self.address = None
        self.peers = []
        self.unknown = []
        self.watched, self.other = socket.socketpair()
        self.random = random.Random(seed)
        self.local = threading.local()
        acts = [
            getattr(self, name) for name in dir(self) if name.startswith("do_")
        ]
        self.acts = [each for each in acts for _ in range(_weight(each))]

    def close(self):
        for peer in self.peers:
            if self.kind != "sim":
                peer.close()
        self.backend = self.server = None
        self.peers.clear()
        self.watched.close()
        self.other.close()
        gc.collect()

    def app(self, environ, start_response):
        self.maybe()
        start_response("200 OK", [("Content-Length", "2")])
        return [b"ok"]

    def maybe(self, *told):
        if self.random.random() < 0.3:
            self.act(self.random)

    def act(self, chance):
        depth = getattr(self.local, "depth", 0)
        if depth == DEPTH:
            return
        self.local.depth = depth + 1
        try:
            chance.choice(self.acts)(chance)
        except (AttributeError, TypeError) as error:
            if "None" not in str(error):  # what somebody has dropped
                self.unknown.append(error)
        except (RuntimeError, ValueError, LookupError, OSError):
            pass
        except BaseException as error:
            self.unknown.append(error)
        finally:
            self.local.depth = depth

    def run(self, seed):
        chance = random.Random(seed)
        for _ in range(ACTS):
            self.act(chance)

    def do_backend(self, chance):
        if self.backend is None or chance.random() < 0.1:
            self.backend = _xsgi.Backend(self.kind, faults=False)
            self.backend.on_kick = self.maybe

    def do_server(self, chance, weight=2):
        config = types.SimpleNamespace(access_log=True, access_emit=self.maybe)
        server = _xsgi.Server(self.backend, self.app, "wsgi", config)
        server.on_stopped = self.maybe
        self.server = server
        self.address = server.listen(port=80 if self.kind == "sim" else 0)

    def do_peer(self, chance, weight=3):
        if self.kind == "sim":
            peer = _xsgi.SimPeer(self.backend, *self.address)
            self.peers.append(peer)
            peer.on_event = self.maybe
            peer.write(REQUEST)
        else:
            peer = socket.create_connection(self.address, PATIENCE)
            self.peers.append(peer)
            peer.send(REQUEST)

    def do_peer_read(self, chance):
        if self.kind == "sim":
            self.peers[0].read(100)

    def do_peer_close(self, chance):
        chance.choice(self.peers).close()

    def do_peer_reset(self, chance):
        if self.kind == "sim":
            chance.choice(self.peers).reset()

    def do_peer_drop(self, chance):
        peer = self.peers.pop(chance.randrange(len(self.peers)))
        if self.kind != "sim":
            peer.close()

    def do_select(self, chance, weight=4):
        self.backend.select(chance.choice([0, 0.001]))

    def do_next(self, chance):
        self.backend.next()

    def do_time(self, chance):
        self.backend.time()

    def do_watch(self, chance, weight=2):
        fd = self.watched.fileno()
        self.backend.watch(fd, chance.choice([1, 2, 3]), Key(self.maybe))

    def do_unwatch(self, chance):
        self.backend.unwatch(self.watched.fileno())

    def do_stop(self, chance):
        self.server.stop(chance.choice([0, 1, None]))

    def do_cancel(self, chance):
        self.server.cancel()

    def do_stats(self, chance):
        self.server.stats()

    def do_close(self, chance):
        chance.choice([self.server, self.backend]).close()

    def do_drop(self, chance):
        if chance.random() < 0.3:
            self.backend = None
        self.server = None

    def do_collect(self, chance):
        if chance.random() < 0.1:
            gc.collect()


def _weight(act):
    defaults = act.__func__.__defaults__
    return defaults[0] if defaults else 1


@contextlib.contextmanager
def hasty():
    """Threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["uv", "sim"])
def test_backend_survives_threads_that_do_what_they_like(kind, seed):
    chaos = Chaos(kind, seed)
    threads = [
        threading.Thread(target=chaos.run, args=[THREADS * seed + i])
        for i in range(THREADS)
    ]

    with hasty():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)

    assert not any(thread.is_alive() for thread in threads)
    assert chaos.unknown == []
    chaos.close()
