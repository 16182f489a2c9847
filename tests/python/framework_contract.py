"""What an application of any framework gets from the server.

Each test_frameworks_*.py names applications of apps/ and inherits the tests
from here. ``apps/common.py`` lists the paths that they all serve.

All tests run in the first of an application's ways, over TCP. Those that are
marked ``everywhere`` run in each other way, too, over a unix socket in every
second one. XSGI_MATRIX=1 runs all tests in all ways over both.
"""

import hashlib
import itertools
import os
import statistics
import time
from importlib.util import find_spec

import httpx
import pytest

import raw
import serving
from apps import common

UPLOAD = 64 << 20

IS_MATRIX = os.environ.get("XSGI_MATRIX", "0") != "0"

WSGI = {"one-thread": (), "threads": ("--threads", "8")}
ASGI = {
    "xsgi": (),
    "uvloop": ("--loop", "uvloop"),
    "asyncio": ("--loop", "asyncio"),
}
#: For classes whose ``options`` are a way of their own.
AS_IT_IS = {"as-it-is": ()}

everywhere = pytest.mark.everywhere


def matrix(ways, is_everywhere):
    """The (options, kind of socket) that a test is to run with."""
    names = list(ways)
    chosen = [(names[0], "tcp")]
    if IS_MATRIX:
        chosen = list(itertools.product(names, ("tcp", "unix")))
    elif is_everywhere:
        kinds = itertools.cycle(("unix", "tcp"))
        chosen += zip(names[1:], kinds, strict=False)
    return [
        pytest.param(
            (ways[name], kind),
            id=f"{name}-{kind}",
            marks=pytest.mark.skipif(
                name == "uvloop" and find_spec("uvloop") is None,
                reason="needs uvloop",
            ),
        )
        for name, kind in chosen
    ]


class Contract:
    """Subclasses of those below set ``app`` and maybe ``options``."""

    app: str
    options: tuple[str, ...] = ()
    ways: dict[str, tuple[str, ...]]
    takes_chunked = True

    @everywhere
    def test_json_goes_both_ways(self, client):
        answer = client.get("/json", params={"q": "ä b"})
        assert answer.status_code == 200
        assert answer.json() == {"hello": "world", "q": "ä b"}
        data = {"a": [1, 2.5, None, "ü"], "b": {"c": True}}

        assert client.post("/json", json=data).json() == data

    def test_form_arrives(self, client):
        form = {"name": "Ada ä&=", "tags": ["x", "y z"]}

        assert client.post("/form", data=form).json() == form

    @everywhere
    def test_file_upload_arrives(self, client):
        content = os.urandom(300_000)

        answer = client.post(
            "/upload",
            data={"note": "hello"},
            files={"file": ("photo.bin", content)},
        )

        assert answer.json() == {
            "note": "hello",
            "filename": "photo.bin",
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }

    def test_upload_streams_64_mib(self, raw_client):
        digest = hashlib.sha256()
        raw_client.send(
            b"POST /digest HTTP/1.1\r\nHost: test\r\n"
            b"Content-Type: application/octet-stream\r\n"
            b"Content-Length: %d\r\n\r\n" % UPLOAD
        )
        for piece in common.pieces():
            digest.update(piece)
            raw_client.send(piece)

        answer = raw_client.response()

        assert answer.status == 200, answer
        assert httpx.Response(200, content=answer.body).json() == {
            "size": UPLOAD,
            "sha256": digest.hexdigest(),
        }

    @everywhere
    def test_chunked_upload_streams(self, client):
        if not self.takes_chunked:
            pytest.skip("the framework reads by Content-Length only")
        parts = [b"a" * 10, b"b" * 100_000, b"c"]

        answer = client.post("/digest", content=iter(parts))

        assert answer.json()["size"] == 100_011

    def test_download_streams_64_mib(self, raw_client):
        digest, size = hashlib.sha256(), 0
        raw_client.request("GET", "/download")
        head = raw_client.head()
        assert head.status == 200
        assert head.header("transfer-encoding") == "chunked"

        for piece in raw_client.chunks():
            digest.update(piece)
            size += len(piece)

        assert raw_client.ended
        assert size == common.DOWNLOAD
        assert digest.hexdigest() == common.digest(common.pieces())["sha256"]

    def test_server_sent_events_arrive_when_they_are_sent(self, raw_client):
        raw_client.request("GET", "/events")
        head = raw_client.head()
        assert head.header("content-type").startswith("text/event-stream")
        times, events = [], []

        for event in raw_client.chunks():
            times.append(time.monotonic())
            events.append(event)

        assert events == [b"data: %d\n\n" % n for n in range(common.EVENTS)]
        gaps = [b - a for a, b in itertools.pairwise(times)]
        # One may be late on a busy machine; held back, most come together.
        assert statistics.median(gaps) > common.PAUSE / 2

    @everywhere
    def test_cookies_go_both_ways(self, raw_client):
        answer = raw_client.get("/cookies", "Cookie: x=1; y=2")

        assert httpx.Response(200, content=answer.body).json() == {
            "x": "1",
            "y": "2",
        }
        cookies = [v for k, v in answer.headers if k == "set-cookie"]
        assert [each.partition(";")[0] for each in cookies] == ["a=1", "b=2"]
        assert "httponly" in cookies[0].lower()

    @everywhere
    def test_exception_gives_500_and_the_connection_lives(self, raw_client):
        assert raw_client.get("/error").status == 500

        assert raw_client.get("/json").status == 200

    @everywhere
    def test_exception_in_the_stream_cuts_it_off(self, raw_client):
        answer = raw_client.get("/error-later")

        assert answer.status == 200
        assert answer.body == b"first"
        assert not answer.complete

    @everywhere
    def test_client_that_leaves_ends_the_stream(self, server, client):
        before = client.get("/left").json()["left"]
        with raw.Client(server.address) as leaving:
            leaving.request("GET", "/endless")
            assert leaving.head().status == 200
            leaving.exactly(1 << 20)
            leaving.reset()

        deadline = time.monotonic() + serving.PATIENCE
        while client.get("/left").json()["left"] == before:
            assert time.monotonic() < deadline, "the application was not told"

    @everywhere
    def test_head_has_no_body(self, raw_client):
        raw_client.request("HEAD", "/json")
        answer = raw_client.response("HEAD")
        assert answer.body == b""

        assert raw_client.get("/json").status == 200

    def test_unknown_path_is_the_framework_s_404(self, client):
        assert client.get("/nowhere").status_code == 404


class WsgiContract(Contract):
    ways = WSGI


class AsgiContract(Contract):
    ways = ASGI
