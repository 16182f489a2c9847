"""A hostile client does not fill the log: refusals in virtual time."""

import logging
import types

import pytest

from xsgi import _xsgi

#: Lines in one second.
LINES = 10

BAD = b"GET / HTTP/1.1\r\nHost : bad\r\n\r\n"


def app(environ, start_response):
    raise AssertionError("no request is good")


class Site:
    """A simulated server, and what its log says."""

    def __init__(self):
        self.said = []
        self.backend = _xsgi.Backend("sim", seed=1, faults=False)
        config = types.SimpleNamespace()
        self.server = _xsgi.Server(self.backend, app, "wsgi", config)
        self.address = self.server.listen()

    def refuse(self, count):
        """So many requests are refused, all at one time."""
        before = self.server.stats()["refused"]
        peers = [
            _xsgi.SimPeer(self.backend, *self.address) for _ in range(count)
        ]
        unsent = dict.fromkeys(peers, BAD)
        for _ in range(1000):
            for peer, rest in unsent.items():
                unsent[peer] = rest[peer.write(rest) :] if rest else rest
            if self.server.stats()["refused"] == before + count:
                break
            self.backend.select(0.0001)
        assert self.server.stats()["refused"] == before + count
        for peer in peers:
            peer.close()

    def pass_time(self, seconds):
        end = self.backend.time() + seconds
        while self.backend.time() < end:
            self.backend.select(end - self.backend.time())

    def lines(self):
        """What was said since this was called the last time."""
        said = [record.getMessage() for record in self.said]
        self.said.clear()
        return said


@pytest.fixture
def site():
    site = Site()
    handler = logging.Handler()
    handler.emit = site.said.append
    logger = logging.getLogger("xsgi.error")
    logger.addHandler(handler)
    logger.propagate = False
    yield site
    logger.removeHandler(handler)
    logger.propagate = True
    site.server.close()
    site.backend.close()


def test_refusals_have_a_line_each_up_to_the_bound(site):
    site.refuse(LINES)

    lines = site.lines()
    assert len(lines) == LINES
    assert all("refused with 400" in line for line in lines)


def test_refusals_beyond_the_bound_are_counted_with_the_next_one(site):
    site.refuse(LINES + 190)
    assert len(site.lines()) == LINES

    site.pass_time(1)
    assert site.lines() == []
    site.refuse(1)

    count, line = site.lines()
    assert count == "190 more requests were refused"
    assert "refused with 400" in line


def test_refusals_are_bounded_in_each_second_anew(site):
    for _ in range(5):
        site.refuse(LINES + 2)
        site.pass_time(1)

    lines = site.lines()
    assert sum("refused with 400" in line for line in lines) == 5 * LINES
    assert lines.count("2 more requests were refused") == 4


def test_refusals_within_the_bound_are_never_counted(site):
    for _ in range(3):
        site.refuse(LINES)
        site.pass_time(1)

    assert not [line for line in site.lines() if "more requests" in line]


def test_refusals_that_were_not_said_are_counted_at_the_end(site):
    site.refuse(LINES + 3)
    site.lines()

    site.server.close()

    assert site.lines() == ["3 more requests were refused"]
