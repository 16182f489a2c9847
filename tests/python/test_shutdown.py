"""SIGTERM and SIGINT: what runs may finish, and everything ends in time."""

import os
import signal
import socket
import time

import pytest

import raw

ASGI = ("life_app:asgi",)
WAYS = {
    "asgi": ASGI,
    "asgi-uvloop": (*ASGI, "--loop", "uvloop"),
    "asgi-asyncio": (*ASGI, "--loop", "asyncio"),
    "asgi-task": (*ASGI, "--task-mode", "task"),
    "wsgi-threads": ("life_app:wsgi", "--threads", "8"),
}

#: Far below the default grace of 30 s, far above what a busy machine needs.
SOON = 8


# The command with less patience, for tests that wait until it is over.
IMPATIENT = """
from xsgi import cli, looped, watchdog
looped.CANCEL_PATIENCE = watchdog.MARGIN = 0.5
cli.main()
"""


@pytest.fixture
def release(tmp_path):
    """The file that lets the application go on."""
    return tmp_path / "release"


@pytest.fixture
def start(serve, release):
    def start(*args, **options):
        return serve(*args, env={"RELEASE": str(release)}, **options)

    return start


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def way(request):
    if "uvloop" in request.param:
        pytest.importorskip("uvloop")
    return request.param


@pytest.fixture
def connect():
    """Open connections that are closed at the end."""
    opened = []

    def connect(server):
        client = raw.Client(server.address)
        opened.append(client)
        return client

    yield connect
    for client in opened:
        client.close()


def hold(server, connect, count, path="/hold"):
    """``count`` requests that the application has begun with."""
    clients = [connect(server) for _ in range(count)]
    for client in clients:
        client.request("GET", path)
    deadline = time.monotonic() + SOON
    while server.stdout.count("held") < count:
        assert time.monotonic() < deadline, server.output()
        time.sleep(0.01)
    return clients


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_lets_running_requests_finish(
    start, release, connect, way, number
):
    server = start(*way)
    running = hold(server, connect, 5)
    idle = [connect(server) for _ in range(5)]
    for client in idle:
        assert client.get("/").status == 200
    half_sent = connect(server)
    half_sent.send(b"GET / HTTP/1.1\r\nHost: te")

    server.signal(number)

    for client in idle:
        assert client.is_closed()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(server.address, 1)
    assert server.process.poll() is None
    release.touch()
    for client in running:
        answer = client.response()
        assert answer.status == 200
        assert answer.complete
        assert answer.header("connection") == "close"
        assert client.is_closed()
        client.close()
    assert server.wait(SOON) == 0
    half_sent.rest()


def test_signal_lets_who_has_just_connected_ask(start, connect, way):
    server = start(*way)
    began = time.monotonic()
    silent, half_sent = connect(server), connect(server)
    half_sent.send(b"GET / HTTP/1.1\r\nHost: te")

    server.signal(signal.SIGTERM)
    server.wait_for_line("stopping")
    silent.request("GET", "/")
    half_sent.send(b"st\r\n\r\n")

    # They have a second, and this machine may be busy.
    if time.monotonic() < began + 0.9:
        for client in (silent, half_sent):
            answer = client.response()
            assert answer.status == 200
            assert answer.complete
            assert answer.header("connection") == "close"
            assert client.is_closed()
    silent.close()
    half_sent.close()
    assert server.wait(SOON) == 0


@pytest.mark.parametrize("grace", ["30s", "0"])
def test_who_has_just_connected_and_says_nothing_does_not_keep_the_server(
    start, connect, way, grace
):
    server = start(*way, "--timeout-graceful-shutdown", grace)
    silent, half_sent = connect(server), connect(server)
    half_sent.send(b"GET / HTTP/1.1\r\nHost: te")

    server.signal(signal.SIGTERM)

    assert silent.is_closed()
    assert half_sent.is_closed()
    assert server.wait(SOON) == 0


@pytest.mark.parametrize(
    ("number", "more"),
    [(signal.SIGINT, "; Ctrl-C again ends it now"), (signal.SIGTERM, "")],
)
def test_waiting_for_requests_is_told_with_how_to_end_it(
    start, release, connect, way, number, more
):
    server = start(*way)
    hold(server, connect, 1)

    server.signal(number)

    line = server.wait_for_line("stopping")
    assert line.endswith(f"stopping, 1 running may finish within 30 s{more}")
    release.touch()
    assert server.wait(SOON) == 0


def test_idle_server_stops_at_once(start, way):
    server = start(*way)

    began = time.monotonic()
    assert server.stop() == 0

    assert time.monotonic() - began < SOON
    assert server.stderr[-1] == "INFO:     stopped"


def test_second_signal_ends_the_process_at_once(start, connect, way):
    server = start(*way)
    hold(server, connect, 1)
    server.signal(signal.SIGTERM)
    server.wait_for_line("stopping")

    server.signal(signal.SIGTERM)

    assert server.wait(SOON) == -signal.SIGTERM


@pytest.mark.parametrize(
    "app", [*WAYS.values(), ("life_app:wsgi",)], ids=[*WAYS, "wsgi"]
)
def test_signals_that_come_at_once_are_one(start, release, connect, app):
    if "uvloop" in app:
        pytest.importorskip("uvloop")
    server = start(*app)

    with raw.Client(server.address) as client:
        assert client.get("/both").body == b"both"

    assert server.wait(SOON) == 0
    assert sum("stopping" in line for line in server.stderr) == 1
    assert "Traceback" not in server.output()


def test_second_signal_reaches_an_application_that_blocks_the_loop(
    start, connect
):
    server = start("life_app:wsgi")
    hold(server, connect, 1, "/stuck")

    while server.process.poll() is None:
        server.signal(signal.SIGINT)
        time.sleep(0.05)

    assert server.wait(SOON) == -signal.SIGINT


@pytest.mark.parametrize(
    "app", [("life_app:wsgi",), ASGI, (*ASGI, "--loop", "uvloop")]
)
def test_application_that_blocks_the_loop_for_ever_is_ended(
    start, connect, app
):
    server = start(
        *app, "--timeout-graceful-shutdown", "0", program=("-c", IMPATIENT)
    )
    hold(server, connect, 1, "/stuck")

    assert server.stop() == 1

    assert "CRITICAL: The application does not stop" in server.stderr[-1]


def test_grace_that_is_over_cancels_asgi_requests(start, connect):
    server = start(*ASGI, "--timeout-graceful-shutdown", "200ms")
    running = hold(server, connect, 3)

    assert server.stop() == 0

    assert server.stdout.count("cancelled") == 3
    assert "cancelling 3 requests" in server.output()
    for client in running:
        assert client.is_closed()
    assert server.stdout[-1] == "lifespan.shutdown"


def test_grace_that_is_over_cuts_wsgi_requests_off(start, connect):
    server = start(
        "life_app:wsgi", "--threads", "2", "--graceful-timeout", "200ms"
    )
    (client,) = hold(server, connect, 1)

    began = time.monotonic()
    code = server.stop()

    assert code == 0
    assert time.monotonic() - began < SOON
    assert client.is_closed()


def test_request_that_will_not_be_cancelled_does_not_keep_the_server(
    start, connect
):
    server = start(*ASGI, "--graceful-timeout", "0", program=("-c", IMPATIENT))
    hold(server, connect, 1, "/stubborn")

    assert server.stop() == 0

    assert "do not end although they were cancelled" in server.output()
    assert "lifespan.shutdown" in server.stdout


@pytest.mark.parametrize("loop", ["xsgi", "asyncio"])
def test_task_that_nothing_ends_does_not_keep_the_process(start, connect, loop):
    server = start(*ASGI, "--loop", loop, program=("-c", IMPATIENT))
    assert connect(server).get("/deaf").status == 200

    assert server.stop() == 0

    assert "tasks that do not end although they were cancelled: 1 (deaf)" in (
        server.output()
    )


def test_work_behind_the_response_is_waited_for(start, release, connect):
    server = start(*ASGI)
    client = connect(server)
    assert client.get("/after").status == 200
    server.wait_for_line("held", "stdout")

    server.signal(signal.SIGTERM)

    assert client.is_closed()
    client.close()
    server.wait_for_line("stopping")
    assert server.process.poll() is None
    release.touch()
    assert server.wait(SOON) == 0
    ends = [
        line for line in server.stdout if line in ("after", "lifespan.shutdown")
    ]
    assert ends == ["after", "lifespan.shutdown"]


def test_lifespan_shutdown_that_takes_too_long_is_told(start):
    server = start("life_app:lazy", "--timeout-lifespan-shutdown", "200ms")

    assert server.stop() == 0

    assert "lifespan shutdown took more than 0.2 s" in server.output()


def test_lifespan_shutdown_has_a_time_of_its_own(start, release):
    server = start(
        "life_app:lazy", "--graceful-timeout", "0", program=("-c", IMPATIENT)
    )
    server.signal(signal.SIGTERM)
    server.wait_for_line("held", "stdout")
    time.sleep(1.5)  # beyond the patience with requests

    release.touch()

    assert server.wait(SOON) == 0
    assert "does not stop" not in server.output()


def test_signal_during_start_up_stops_the_server(start):
    server = start("life_app:sluggish", ready=False)
    server.wait_for_line("held", "stdout")

    assert server.stop() == 0

    assert "cancelled" in server.stdout
    assert "listening" not in server.output()


def test_unix_socket_is_free_for_a_successor_at_once(start, release, tmp_path):
    path = tmp_path / "x.sock"
    first = start(*ASGI, "--uds", str(path))
    with raw.Client(str(path)) as client:
        client.request("GET", "/hold")
        first.wait_for_line("held", "stdout")

        first.signal(signal.SIGTERM)
        first.wait_for_line("stopping")
        deadline = time.monotonic() + SOON
        while path.exists():
            assert time.monotonic() < deadline

        second = start(*ASGI, "--uds", str(path))
        release.touch()
        assert client.response().complete
    assert first.wait(SOON) == 0
    assert path.exists()
    assert second.stop() == 0
    assert not path.exists()


def test_signal_storm_under_load_leaves_no_traceback(start, connect, way):
    server = start(*way)
    clients = [connect(server) for _ in range(20)]
    for client in clients:
        client.request("GET", "/")
    os.kill(server.pid, signal.SIGTERM)

    for client in clients:
        client.rest()
        client.close()

    assert server.wait(SOON) == 0
    assert "Traceback" not in server.output()
