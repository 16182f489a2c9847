"""Clients that people use: curl, httpx, requests and aiohttp."""

import contextlib
import shutil
import subprocess
import time

import pytest

import clients
import proxies
from apps.common import SMALL
from serving import PATIENCE, Served
from tcp_states import FIN_WAIT, OURS, has_state
from traffic import sha256

LONG = SMALL * 400  # 3.2 MB


@pytest.fixture(scope="module", params=proxies.WAYS)
def way(request):
    return request.param


@pytest.fixture(scope="module")
def server(way, tmp_path_factory):
    release = tmp_path_factory.mktemp("held") / "release"
    env = {"RELEASE": str(release)}
    with Served(*proxies.WAYS[way], "--early-hints", env=env) as served:
        served.release = release
        yield served
        assert served.stop() == 0


@pytest.fixture(params=clients.ALL)
def client(request, server):
    with contextlib.closing(request.param(server.url)) as client:
        yield client


def test_client_keeps_its_connection(client):
    ports = set()
    for path in ("/hello", "/stream?n=3", "/sized?n=3") * 5:
        status, fields, _ = client.ask("GET", path)
        assert status == 200
        ports.add(fields["x-port"])

    assert len(ports) == 1


def test_client_passes_over_an_early_hint(client):
    if isinstance(client, clients.Requests):
        pytest.skip("http.client takes any 1xx but 100 for the answer")
    ports = set()
    for _ in range(3):
        status, fields, body = client.ask("GET", "/hinted")
        assert (status, body) == (200, b"hello")
        ports.add(fields["x-port"])

    assert len(ports) == 1


def test_client_keeps_its_connection_past_answers_without_a_body(client):
    before = client.ask("GET", "/hello")[1]["x-port"]
    for method, path, status in (
        ("HEAD", "/sized?n=2", 200),  # without a length aiohttp closes
        ("GET", "/empty", 204),
        ("GET", "/unchanged", 304),
        ("DELETE", "/empty", 204),
        ("OPTIONS", "/hello", 200),
    ):
        assert client.ask(method, path)[0] == status

    assert client.ask("GET", "/hello")[1]["x-port"] == before


@pytest.mark.parametrize("size", [0, 1, 70_000, len(LONG)])
def test_client_s_upload_arrives(client, size):
    body = LONG[:size]

    assert client.ask("POST", "/digest", body)[::2] == (200, sha256(body))


def test_client_s_chunked_upload_arrives(client):
    parts = [b"a", SMALL * 20, b"bc"]
    answer = client.ask("POST", "/digest", parts)

    assert answer[::2] == (200, sha256(b"".join(parts)))


@pytest.mark.parametrize("body", [LONG, [SMALL] * 400], ids=["sized", "chunks"])
def test_client_that_uploads_gets_the_early_refusal(client, body):
    assert client.ask("POST", "/refuse", body)[::2] == (413, b"no")

    assert client.ask("GET", "/hello")[::2] == (200, b"hello")


def test_client_gets_pieces_when_they_are_sent(server, client):
    server.release.unlink(missing_ok=True)
    pieces = client.pieces("/held")

    assert next(pieces) == b"first"
    server.release.touch()
    assert b"".join(pieces) == b"second"


def test_client_notices_an_answer_that_is_cut_off(client):
    with pytest.raises(client.Cut):
        client.ask("GET", "/cut")

    assert client.ask("GET", "/hello")[::2] == (200, b"hello")


def test_client_gets_500_and_goes_on(client):
    before = client.ask("GET", "/hello")[1]["x-port"]

    assert client.ask("GET", "/error")[0] == 500
    assert client.ask("GET", "/hello")[1]["x-port"] == before


@pytest.mark.parametrize("kind", clients.ALL)
def test_client_connects_again_after_an_idle_connection_was_closed(serve, kind):
    server = serve(*proxies.WAYS["asgi"], "--timeout-keep-alive", "200ms")
    with contextlib.closing(kind(server.url)) as client:
        assert client.ask("GET", "/hello")[0] == 200
        deadline = time.monotonic() + PATIENCE
        while not has_state(FIN_WAIT, OURS, server.port):
            assert time.monotonic() < deadline, "it was not closed"
            time.sleep(0.01)

        assert client.ask("POST", "/digest", b"x")[::2] == (200, sha256(b"x"))


class TestCurl:
    pytestmark = pytest.mark.skipif(
        shutil.which("curl") is None, reason="needs curl"
    )

    @staticmethod
    def curl(server, *args, path="/hello", data=None):
        command = ["curl", "-sS", "-q", "--noproxy", "*"]
        command += ["--max-time", str(PATIENCE), *args, server.url + path]
        done = subprocess.run(
            command, input=data, capture_output=True, env=proxies.PLAIN
        )
        assert done.returncode == 0, done.stderr
        return done

    @pytest.mark.parametrize("version", ["1.0", "1.1"])
    def test_answers_of_each_framing_arrive(self, server, version):
        option = f"--http{version}"
        for path, body in (
            ("/hello", b"hello"),
            ("/stream?n=5", SMALL * 5),
            ("/sized?n=5", SMALL * 5),
            ("/empty", b""),
            ("/closing", b"bye"),
        ):
            assert self.curl(server, option, path=path).stdout == body

    def test_head_gives_the_fields_alone(self, server):
        said = self.curl(server, "--head", path="/sized?n=2").stdout

        assert said.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"\r\ncontent-length: 16384\r\n" in said.lower()
        assert said.endswith(b"\r\n\r\n")

    def test_second_request_needs_no_connection(self, server):
        again = (server.url + "/hello", "-w", "%{num_connects}")

        assert self.curl(server, *again).stdout == b"hello1hello0"

    def test_it_shows_an_early_hint(self, server):
        said = self.curl(server, "-i", path="/hinted").stdout

        assert said.startswith(b"HTTP/1.1 103 Early Hints\r\n")
        assert said.lower().count(b"\r\nlink: </a.css>") == 1
        assert said.endswith(b"\r\n\r\nhello")

    def test_upload_of_a_file_arrives_after_100_continue(
        self, server, tmp_path
    ):
        file = tmp_path / "file"
        file.write_bytes(LONG)
        done = self.curl(server, "-v", "-T", str(file), path="/digest")

        assert done.stdout == sha256(LONG)
        assert b"< HTTP/1.1 100 Continue" in done.stderr

    def test_upload_from_a_pipe_arrives_in_chunks(self, server):
        done = self.curl(server, "-v", "-T", "-", path="/digest", data=LONG)

        assert done.stdout == sha256(LONG)
        assert b"> Transfer-Encoding: chunked" in done.stderr

    def test_upload_without_100_continue_arrives(self, server):
        options = ("-H", "Expect:", "--data-binary", "@-")
        done = self.curl(server, *options, path="/digest", data=LONG)

        assert done.stdout == sha256(LONG)

    def test_refused_upload_is_not_sent_if_it_waits_for_100(self, server, way):
        if way == "wsgi":
            pytest.skip("with one thread the body is there before the call")
        options = ("-w", " %{size_upload}", "--expect100-timeout", "15")
        options += ("-H", "Expect: 100-continue", "--data-binary", "@-")
        done = self.curl(server, *options, path="/refuse", data=LONG)

        assert done.stdout == b"no 0"

    @pytest.mark.parametrize("chunked", [False, True])
    def test_refusal_arrives_while_the_body_is_sent(self, server, chunked):
        options = ("-H", "Expect:", "-w", " %{http_code}")
        if chunked:
            options += ("-H", "Transfer-Encoding: chunked")
        options += ("--data-binary", "@-")
        done = self.curl(server, *options, path="/refuse", data=LONG)

        assert done.stdout == b"no 413"
