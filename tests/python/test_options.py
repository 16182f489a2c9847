"""Each option of the server does what its help text says."""

import contextlib
import socket
import time

import pytest

import raw
from tcp_states import PEERS, has_state

BOTH = pytest.mark.parametrize("app", ["life_app:asgi", "life_app:wsgi"])

#: A time limit that is over soon, and the wait that must not be reached.
SHORT = ("250ms", 0.25)
LONG = 5


@pytest.fixture
def dial(serve):
    """Start a server with some options and connect to it."""
    opened = []

    def dial(app, *args, **options):
        client = raw.Client(serve(app, *args).address, **options)
        opened.append(client)
        return client

    yield dial
    for client in opened:
        client.close()


def closes_after(client, seconds):
    """The server closes, not before ``seconds`` from now and not long after."""
    began = time.monotonic()
    found = client.rest()
    took = time.monotonic() - began
    assert seconds * 0.8 < took < LONG
    return found


@BOTH
def test_keep_alive_timeout_closes_an_idle_connection(dial, app):
    client = dial(app, "--timeout-keep-alive", SHORT[0])
    assert client.get("/").status == 200

    assert closes_after(client, SHORT[1]) == b""


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_timeouts_end_connections_on_a_loop_of_the_user(dial, loop):
    """The long deadline for a head comes first, then a shorter one."""
    options = ("--loop", loop, "--timeout-keep-alive", SHORT[0])
    client = dial("life_app:asgi", *options)
    time.sleep(0.1)
    assert client.get("/").status == 200

    assert closes_after(client, SHORT[1]) == b""


@BOTH
def test_keep_alive_timeout_leaves_a_connection_that_is_used(dial, app):
    client = dial(app, "--keep-alive", "1s")

    for _ in range(4):
        assert client.get("/").status == 200
        time.sleep(0.4)


@BOTH
def test_what_came_while_the_loop_was_away_came_in_time(serve, app, tmp_path):
    """An application blocks the loop for longer than the deadlines last."""
    release = tmp_path / "release"
    server = serve(
        app, "--timeout-keep-alive", "2s", "--timeout-request-head", "2s",
        "--timeout-request-body", "2s", env={"RELEASE": str(release)},
    )  # fmt: skip
    with contextlib.ExitStack() as stack:
        stuck, idle, half, body = (
            stack.enter_context(raw.Client(server.address)) for _ in range(4)
        )
        assert idle.get("/").status == 200
        half.send(b"GET / HTTP/1.1\r\nHost: t")
        body.send(b"POST /body HTTP/1.1\r\nHost: t\r\n")
        body.send(b"Content-Length: 2\r\n\r\na")
        stuck.request("GET", "/stuck")
        server.wait_for_line("held", "stdout")
        idle.request("GET", "/")
        half.send(b"\r\n\r\n")
        body.send(b"b")
        time.sleep(3)
        release.touch()

        for client in (stuck, idle, half, body):
            assert client.response().status == 200


@BOTH
@pytest.mark.parametrize("part", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nA: b"])
def test_head_timeout_ends_half_a_request(dial, app, part):
    client = dial(app, "--timeout-request-head", SHORT[0])
    if part:
        client.send(part)

    answer = closes_after(client, SHORT[1])

    assert answer == b"" if not part else answer.startswith(b"HTTP/1.1 408 ")


@BOTH
def test_body_timeout_ends_a_request_that_stalls(dial, app):
    client = dial(app, "--timeout-request-body", SHORT[0])
    client.send(
        b"POST /body HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\nab"
    )

    answer = closes_after(client, SHORT[1])

    assert answer == b"" or answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("app", ["starlette_app:app", "flask_app:app"])
def test_write_timeout_ends_a_client_that_does_not_read(serve, app):
    pytest.importorskip(app.partition("_")[0])
    server = serve(app, "--timeout-write", SHORT[0])
    with raw.Client(server.address, receive_buffer=4096) as client:
        client.request("GET", "/endless")
        line = server.wait_for_line("/endless", "stdout")

    assert "[write timeout]" in line


@pytest.mark.parametrize("app", ["starlette_app:app", "flask_app:app"])
def test_backlog_limit_ends_the_slowest_client(serve, app):
    pytest.importorskip(app.partition("_")[0])
    server = serve(app, "--limit-write-backlog", "100KiB")
    with (
        raw.Client(server.address, receive_buffer=4096) as slow,
        raw.Client(server.address, receive_buffer=4096) as other,
    ):
        slow.request("GET", "/endless")
        slow.head()
        other.request("GET", "/endless?other")
        line = server.wait_for_line("/endless", "stdout")

    assert "[backlog]" in line
    assert "/endless?other" not in line


def test_write_buffer_limit_is_where_an_application_waits(serve):
    taken = []
    for size in ("1KiB", "64MiB"):
        server = serve("life_app:flood", "--limit-write-buffer", size)
        with raw.Client(server.address, receive_buffer=4096) as slow:
            slow.request("GET", "/flood")
            slow.head()
            taken.append(sent_at_last(server))

    assert taken[0] < taken[1] - (32 << 20)


def sent_at_last(server):
    """What life_app:flood has sent when it waits."""
    counts = [-1, 0]
    while counts[-1] != counts[-2]:
        time.sleep(0.3)
        with raw.Client(server.address) as other:
            counts.append(int(other.get("/flooded").body))
    return counts[-1]


@pytest.mark.parametrize("app", ["starlette_app:app", "flask_app:app"])
def test_write_timeout_is_not_over_twice_as_late(serve, app):
    """What a client still acknowledges of the last write is no new start: it
    is gone before one that was idle for 1.75 times as long."""
    pytest.importorskip(app.partition("_")[0])
    server = serve(app, "--timeout-write", "2", "--timeout-keep-alive", "3.5")
    with (
        raw.Client(server.address, receive_buffer=4096) as stalled,
        raw.Client(server.address) as idle,
    ):
        stalled.request("GET", "/endless")
        port = stalled.sock.getsockname()[1]
        time.sleep(0.1)
        idle.get("/")
        assert idle.is_closed()

        assert not has_state({"01"}, PEERS, port)


@BOTH
def test_request_line_limit_is_414(dial, app):
    client = dial(app, "--limit-request-line", "100")
    line = "/" + "x" * (100 - len("GET / HTTP/1.1"))
    assert client.get(line).status == 200

    assert client.get(line + "x").status == 414


@BOTH
def test_field_limits_are_431(dial, app):
    options = ("--limit-request-field-size", "64")
    client = dial(app, *options)
    assert client.get("/", "A: " + "x" * 50).status == 200
    assert client.get("/", "A: " + "x" * 70).status == 431


@BOTH
def test_field_count_limit_is_431(dial, app):
    client = dial(app, "--limit-request-fields", "3")
    assert client.get("/", "A: 1", "B: 2").status == 200

    assert client.get("/", "A: 1", "B: 2", "C: 3").status == 431


@BOTH
def test_head_limit_is_431(dial, app):
    fields = ["A: " + "x" * 40] * 3
    around = len(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")
    exact = around + sum(len(each) + 2 for each in fields)
    client = dial(app, "--limit-request-head", str(exact))
    assert client.get("/", *fields).status == 200

    refused = client.get("/", *fields[1:], fields[0] + "x")

    assert refused.status == 431
    assert refused.body == b"The request head is too large."


def chunked(client, data):
    client.request("POST", "/body", "Transfer-Encoding: chunked")
    client.send(data)
    return client.response()


@BOTH
def test_trailer_limit_is_431(dial, app):
    client = dial(app, "--limit-request-trailer", "40")
    trailer = b"T: " + b"t" * 33 + b"\r\n"
    assert chunked(client, b"1\r\nx\r\n0\r\n" + trailer + b"\r\n").body == b"1"

    client.request("POST", "/body", "Transfer-Encoding: chunked")
    client.send(b"1\r\nx\r\n0\r\nU" + trailer + b"\r\n")

    assert client.response().status == 431


@BOTH
def test_chunk_extensions_limit_is_413(dial, app):
    client = dial(app, "--limit-chunk-extensions", "100")
    size = b"1;" + b"e" * 90 + b"\r\nx\r\n"
    assert chunked(client, size + b"0\r\n\r\n").body == b"1"

    assert chunked(client, size * 2).status == 413


@BOTH
def test_connection_ends_with_as_many_requests_as_it_may_have(dial, app):
    client = dial(app, "--limit-keep-alive-requests", "3")
    answers = [client.get("/") for _ in range(3)]

    assert [each.header("connection") for each in answers] == [
        None,
        None,
        "close",
    ]
    assert client.is_closed()


@BOTH
def test_hosts_that_are_not_allowed_are_421(dial, app):
    client = dial(app, "--allowed-hosts", "test,.a.example,[::]")
    assert client.get("/").status == 200  # Host: test
    ask = "GET {} HTTP/1.1\r\nHost: {}\r\n\r\n"
    client.send(ask.format("/", "X.a.example:80").encode())
    assert client.response().status == 200
    client.send(ask.format("http://test/", "evil").encode())
    assert client.response().status == 200
    client.send(ask.format("/", "[0:0:0:0:0:0:0:0]:8000").encode())
    assert client.response().status == 200

    client.send(ask.format("http://evil/", "test").encode())
    refused = client.response()

    assert refused.status == 421
    assert refused.body == b"This server does not serve the requested host."
    assert client.is_closed()


@pytest.mark.parametrize(
    "value", ["a.example:80", "http://a", "a b", "[::1", "[1]"]
)
def test_allowed_host_that_is_none_is_refused(serve, value):
    server = serve("life_app:wsgi", "--allowed-hosts", value, ready=False)

    assert server.process.wait(LONG) == 2
    assert "is not a host" in server.output()


@BOTH
def test_linger_timeout_ends_a_client_that_does_not(dial, app):
    client = dial(app, "--timeout-linger", SHORT[0])
    client.send(b"GET / HTTP/1.1\r\n\r\n")
    assert client.response().status == 400
    assert client.is_closed()
    began = time.monotonic()

    while time.monotonic() - began < LONG:
        try:
            client.sock.send(b"more")
        except OSError:
            break
        time.sleep(0.01)

    assert SHORT[1] * 0.8 < time.monotonic() - began < LONG


@BOTH
def test_body_limit_is_413(dial, app):
    client = dial(app, "--limit-request-body", "1KiB")
    client.request("POST", "/body", body=b"x" * 1024)
    assert client.response().body == b"1024"

    client.request("POST", "/body", body=b"x" * 1025)

    assert client.response().status == 413


def test_concurrency_limit_is_503(serve, tmp_path):
    release = tmp_path / "release"
    server = serve(
        "life_app:asgi",
        "--limit-concurrency",
        "2",
        env={"RELEASE": str(release)},
    )
    clients = [raw.Client(server.address) for _ in range(3)]
    for client in clients[:2]:
        client.request("GET", "/hold")
    while server.stdout.count("held") < 2:
        time.sleep(0.01)

    refused = clients[2].get("/busy", "X-Forwarded-For: 1.2.3.4:5")
    release.touch()

    assert refused.status == 503
    assert refused.header("retry-after") == "1"
    line = server.wait_for_line("/busy", "stdout")
    assert line.startswith('INFO:     1.2.3.4:5 - "GET /busy HTTP/1.1" 503 ')
    assert line.endswith(" [busy]")
    assert [each.response().status for each in clients[:2]] == [200, 200]
    for client in clients:
        client.close()


@BOTH
def test_connections_over_the_limit_wait(serve, app):
    server = serve(app, "--limit-connections", "1")
    with raw.Client(server.address) as first:
        assert first.get("/").status == 200
        with raw.Client(server.address, timeout=0.3) as second:
            second.request("GET", "/")
            with pytest.raises(socket.timeout):
                second.response()
            second.sock.settimeout(LONG)

            first.close()

            assert second.response().status == 200


@pytest.mark.parametrize(
    ("app", "seen"),
    [
        ("life_app:asgi", b"GET /api/echo /api"),
        ("life_app:wsgi", b"GET /echo /api"),
    ],
)
def test_root_path_is_where_the_application_is(dial, app, seen):
    client = dial(app, "--root-path", "/api")

    assert client.get("/api/echo").body == seen


@BOTH
def test_headers_of_the_server_can_be_left_out(serve, app):
    for options, names in [
        ((), {"date", "server"}),
        (("--no-date-header",), {"server"}),
        (("--no-server-header", "--no-date-header"), set()),
    ]:
        with raw.Client(serve(app, *options).address) as client:
            sent = {name for name, _ in client.get("/").headers}
        assert sent & {"date", "server"} == names


def test_threads_serve_beside_a_request_that_blocks(serve, tmp_path):
    release = tmp_path / "release"
    server = serve(
        "life_app:wsgi", "--threads", "2", env={"RELEASE": str(release)}
    )
    with raw.Client(server.address) as one, raw.Client(server.address) as two:
        one.request("GET", "/stuck")
        server.wait_for_line("held", "stdout")

        assert two.get("/").status == 200

        release.touch()
        assert one.response().body == b"stuck"


def test_environment_is_read(serve):
    env = {"XSGI_SERVER_HEADER": "0", "XSGI_LIMIT_REQUEST_FIELDS": "2"}
    server = serve("life_app:asgi", env=env)

    with raw.Client(server.address) as client:
        assert client.get("/").header("server") is None
        assert client.get("/", "A: 1", "B: 2").status == 431
