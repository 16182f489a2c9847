"""Trailers: fields behind a chunked body (RFC 9110 6.5)."""

import asyncio
import os
import shutil
import subprocess

import httpx
import pytest

from asgi_probe import Probe
from serving import PATIENCE

TE = "TE: trailers"
ONE = b"[started(), body(b'x'), trailers((b'a', b'1'), (b'B', b'2'))]"


@pytest.fixture(scope="module")
def probe():
    with Probe() as served:
        yield served


def asked(probe, source, *fields):
    """The head of the answer to /messages, and all bytes behind it."""
    with probe.connect() as client:
        fields += ("Connection: close",)
        client.request("POST", "/messages", *fields, body=source)
        return client.head(), client.rest()


@pytest.mark.parametrize("te", [TE, "te: gzip;q=0.5, Trailers"])
def test_trailers_follow_the_body_of_a_client_that_takes_them(probe, te):
    head, rest = asked(probe, ONE, te)

    assert probe.seen("messages") is None
    assert head.header("transfer-encoding") == "chunked"
    assert rest == b"1\r\nx\r\n0\r\na: 1\r\nB: 2\r\n\r\n"


@pytest.mark.parametrize("fields", [(), ("TE: gzip",), ("TE: trailers;q=1",)])
def test_trailers_are_dropped_for_a_client_that_does_not(probe, fields):
    head, rest = asked(probe, ONE, *fields)

    assert probe.seen("messages") is None
    assert head.header("content-length") == "1"
    assert rest == b"x"


def test_trailers_of_several_bodies_and_messages_keep_their_order(probe):
    source = (
        b"[started(), body(b'x', True), body(b'y', True), body(),"
        b" trailers((b'a', b'1'), more=True), trailers(more=True),"
        b" trailers((b'a', b'2'))]"
    )
    assert asked(probe, source, TE)[1] == (
        b"1\r\nx\r\n1\r\ny\r\n0\r\na: 1\r\na: 2\r\n\r\n"
    )
    assert asked(probe, source)[1] == b"1\r\nx\r\n1\r\ny\r\n0\r\n\r\n"
    assert probe.seen("messages") is None


def test_trailers_are_dropped_behind_a_content_length(probe):
    source = ONE.replace(b"started()", b"started((b'content-length', b'1'))")
    head, rest = asked(probe, source, TE)

    assert head.header("transfer-encoding") is None
    assert rest == b"x"


def test_trailers_are_dropped_for_head_and_http_1_0(probe):
    for line in (b"HEAD /messages HTTP/1.1", b"POST /messages HTTP/1.0"):
        with probe.connect() as client:
            client.send(
                line + b"\r\nHost: t\r\nTE: trailers\r\nConnection: close\r\n"
                b"Content-Length: %d\r\n\r\n" % len(ONE) + ONE
            )
            assert client.head().header("content-length") == "1"
            assert client.rest() == (b"" if b"HEAD" in line else b"x")


def test_next_request_is_served_behind_trailers(probe):
    with probe.connect() as client:
        for _ in range(3):
            client.request("POST", "/messages", TE, body=ONE)
            client.head()
            assert client.until(b"\r\nB: 2\r\n\r\n")


def test_failure_before_the_last_trailers_does_not_look_like_an_end(probe):
    with probe.connect() as client:
        client.request("GET", "/trailers_that_fail", TE)
        client.head()
        assert client.rest() == b"1\r\nx\r\n"
    assert probe.wait_for_line("/trailers_that_fail")


@pytest.mark.parametrize(
    ("last", "kind", "words"),
    [
        ("trailers((b'Content-Type', b'x'))", "ValueError", "RFC 9110 6.5.1"),
        ("trailers((b'set-cookie', b'x'))", "ValueError", "RFC 9110 6.5.1"),
        ("trailers((b'a b', b'x'))", "ValueError", "is not valid"),
        ("trailers((b'a', b'x\\ny'))", "ValueError", "is not valid"),
        ("trailers((b'a', b'x' * 17000))", "ValueError", "16384 bytes"),
        ("trailers(*[(b'a', b'x')] * 65)", "ValueError", "64 fields"),
        ("trailers((b'a', 'x'))", "TypeError", "must be bytes, not str"),
        ("trailers(b'ab')", "TypeError", "a pair of bytes"),
        ("body(b'y')", "RuntimeError", "expected http.response.trailers"),
        ("started()", "RuntimeError", "expected http.response.trailers"),
    ],
)
def test_wrong_trailers_are_refused_and_leave_nothing(probe, last, kind, words):
    """The page then cannot answer any more: the end is missing."""
    source = f"[started(), body(b'x'), {last}]".encode()
    rest = asked(probe, source, TE)[1]

    found = probe.seen("messages")
    assert found[0] == kind
    assert words in found[1]
    assert rest == b"1\r\nx\r\n"


def test_trailers_that_were_not_announced_are_refused(probe):
    source = ONE.replace(b"started()", b"start()")
    asked(probe, source, TE)

    assert probe.seen("messages")[0] == "RuntimeError"


# Clients that people use.


def test_httpx_and_requests_pass_over_trailers(probe):
    requests = pytest.importorskip("requests")
    url, fields = f"{probe.url}/messages", {"TE": "trailers"}
    with httpx.Client(timeout=PATIENCE) as client, requests.Session() as other:
        for _ in range(2):
            assert client.post(url, content=ONE, headers=fields).content == b"x"
            answer = other.post(url, data=ONE, headers=fields, timeout=PATIENCE)
            assert answer.content == b"x"


def test_aiohttp_passes_over_trailers(probe):
    aiohttp = pytest.importorskip("aiohttp")

    async def ask():
        async with aiohttp.ClientSession() as session:
            for _ in range(2):
                url, fields = f"{probe.url}/messages", {"TE": "trailers"}
                async with session.post(url, data=ONE, headers=fields) as got:
                    assert await got.read() == b"x"

    asyncio.run(asyncio.wait_for(ask(), PATIENCE))


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_curl_shows_trailers(probe):
    command = ["curl", "-sS", "-q", "--noproxy", "*", "-D", "-", "-H", TE]
    command += ["--data-binary", ONE, f"{probe.url}/messages"]
    # curl itself stands still when the sanitizers are loaded into it.
    env = {**os.environ, "LD_PRELOAD": ""}
    said = subprocess.run(
        command, stdout=subprocess.PIPE, timeout=PATIENCE, env=env
    )

    assert said.stdout.endswith(b"\r\n\r\nxa: 1\r\nB: 2\r\n")
