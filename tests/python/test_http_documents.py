"""Every case of tests/http through both gateways, over sockets and on the
simulated backend: whole, cut in two, and over sockets byte by byte.

How often it is cut is bounded; each offset of each case, but for the few whose
bytes would be too many in all, is

    XSGI_HTTP_CUTS=100000 pytest tests/python/test_http_documents.py
"""

import asyncio
import logging
import os
import types

import pytest

import http_documents
import http_wires
from apps import document_app
from xsgi import _xsgi
from xsgi.loop import Loop

CASES = http_documents.load()

#: Places at which a case is cut. tests/sim/test_sim_http.c does it at all.
CUTS = int(os.environ.get("XSGI_HTTP_CUTS", "12"))

#: And over sockets, where each place costs more and two parts may be read as
#: one.
SOCKET_CUTS = min(int(os.environ.get("XSGI_HTTP_CUTS", "2")), 1000)

#: The bytes that one case may send in all: each offset of 60 kB.
BYTES_MAX = 3_600_000_000

#: With one thread a WSGI application is called when the body is there (docs/
#: decisions.md): it can neither answer before nor do without.
BODY_FIRST = {
    "expect.md: Whoever answers at once does not ask for the body",
    "unread.md: A body that comes after the answer is thrown away",
    "unread.md: A body that is too long to be thrown away ends the connection",
    "unread.md: Chunks of which nobody has said how many are thrown away",
    "unread.md: A chunk that is none, behind the answer, ends the connection",
    "unread.md: A client that ends inside a body that nobody reads has its"
    " answer",
}


def of_all(function):
    """Run a test for each case."""
    return pytest.mark.parametrize(
        "case", CASES, ids=[case.name for case in CASES]
    )(function)


def places(case, most):
    """Where a case is cut: at about so many places, or at all."""
    step = 1 + case.longest() // min(most, 1 + BYTES_MAX // case.longest())
    return range(CASES.index(case) % step, case.longest(), step)


#: Who goes on behind a request that he said was his last may be reset.
RUDE = [case for case in CASES if case.rude_at()]


class Sockets:
    """``xsgi serve`` and clients over sockets."""

    pytestmark = pytest.mark.timeout(60 + SOCKET_CUTS)
    options = ("--no-access-log",)
    other = frozenset()

    def talk(self, server, case, **how):
        if case.name in self.other:
            pytest.skip("the body comes first")
        wire = http_wires.SocketWire(server.address)
        return http_documents.Talk(wire, case, **how)

    @of_all
    def test_case_is_answered_as_the_document_says(self, server, case):
        self.talk(server, case).play(self.decoded)

    @of_all
    def test_case_is_answered_likewise_byte_by_byte(self, server, case):
        each = 1 + case.longest() // 1000
        # What is rude comes with the last byte of what was announced as the
        # last: one byte later, and the system may reset the connection.
        whole_from = max(case.rude_at() - 1, 0)
        talk = self.talk(server, case, each=each, whole_from=whole_from)

        talk.play(self.decoded)

    @of_all
    def test_case_is_answered_alike_however_it_is_cut(self, server, case):
        for cut in places(case, SOCKET_CUTS):
            if cut < (case.rude_at() or case.longest()):
                self.talk(server, case, cut=cut).play(self.decoded)

    @pytest.mark.parametrize("case", RUDE, ids=[case.name for case in RUDE])
    def test_whoever_goes_on_after_saying_close_gets_no_second_answer(
        self, server, case
    ):
        for cut in range(case.rude_at(), case.longest()):
            self.talk(server, case, cut=cut).play_rudely(1)
        self.talk(server, case, each=1).play_rudely(1)


class TestAsgiOverSockets(Sockets):
    app = "document_app:asgi"
    decoded = False


class TestWsgiOverSockets(Sockets):
    app = "document_app:wsgi"
    decoded = True
    other = BODY_FIRST


class TestWsgiOnThreadsOverSockets(Sockets):
    app = "document_app:wsgi"
    options = (*Sockets.options, "--threads", "4")
    decoded = True


class Simulated:
    """A server in a simulation."""

    pytestmark = pytest.mark.timeout(60 + CUTS // 10)
    other = frozenset()

    @pytest.fixture(autouse=True)
    def no_log(self):
        logging.disable(logging.CRITICAL)
        yield
        logging.disable(logging.NOTSET)

    def wire(self):
        peer = _xsgi.SimPeer(self.backend, *self.address)
        return http_wires.SimWire(peer, self.turn)

    def stop(self):
        self.server.stop(0)
        for _ in range(100):
            self.turn()
        assert self.server.stopped
        self.server.close()

    @of_all
    def test_case_is_answered_alike_however_it_is_cut(self, case):
        if case.name in self.other:
            pytest.skip("the body comes first")
        for cut in places(case, CUTS):
            talk = http_documents.Talk(self.wire(), case, cut=cut)
            talk.play(self.decoded)


class TestWsgiInSimulation(Simulated):
    decoded = True
    other = BODY_FIRST

    @pytest.fixture(autouse=True)
    def server_of_test(self, no_log):
        self.backend = _xsgi.Backend("sim", faults=False)
        self.server = _xsgi.Server(
            self.backend, document_app.wsgi, "wsgi", types.SimpleNamespace()
        )
        self.address = self.server.listen(port=8000)
        yield
        self.stop()
        self.backend.close()

    def turn(self):
        self.backend.select(0)


class TestAsgiInSimulation(Simulated):
    decoded = False

    @pytest.fixture(autouse=True)
    def server_of_test(self, no_log):
        self.loop = Loop("sim", faults=False)
        asyncio.set_event_loop(self.loop)
        self.backend = self.loop.backend
        self.server = _xsgi.Server(
            self.backend,
            document_app.asgi,
            "asgi3",
            types.SimpleNamespace(),
            self.loop,
        )
        self.address = self.server.listen(port=8000)
        yield
        self.stop()
        asyncio.set_event_loop(None)
        self.loop.close()

    def turn(self):
        self.loop.call_soon(self.loop.stop)
        self.loop.run_forever()
