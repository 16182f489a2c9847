"""An application that forks: the connections stay the server's."""

import contextlib
import os
import sys

import pytest

import raw

WAYS = {
    "asgi": ("fork_app:asgi",),
    "asgi-asyncio": ("fork_app:asgi", "--loop", "asyncio"),
    "asgi-uvloop": ("fork_app:asgi", "--loop", "uvloop"),
    "asgi-task": ("fork_app:in_task", "--lifespan", "off"),
    "wsgi": ("fork_app:wsgi",),
    "wsgi-threads": ("fork_app:wsgi", "--threads", "2"),
    "wsgi-generator": ("fork_app:generator",),
}


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def way(request):
    if "uvloop" in request.param:
        pytest.importorskip("uvloop")
    return request.param


@pytest.fixture
def release(tmp_path):
    """A fifo: a child lives until it is written to."""
    path = tmp_path / "release"
    os.mkfifo(path)
    yield path
    with contextlib.suppress(OSError):  # there is no child
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        os.write(fd, b"!")
        os.close(fd)


def check_goes_on(server, client):
    """Nothing but the one answer came, and the parent serves on."""
    assert client.get("/").body == b"hello"
    assert server.stop() == 0
    assert client.rest() == b""


def test_child_that_exits_has_its_code_and_only_the_parent_answers(serve, way):
    # In a task of the application's own asyncio comes first: from 3.14 on it
    # has an error of its own there, in place of SystemExit.
    lost = "fork_app:in_task" in way and sys.version_info >= (3, 14)
    server = serve(*way)

    with raw.Client(server.address) as client:
        assert client.get("/exit").body == (b"1" if lost else b"7")

        check_goes_on(server, client)
    assert ("child" in server.output()) == lost


@pytest.mark.parametrize("loop", ["xsgi", "asyncio"])
def test_child_that_exits_behind_a_cancellation_has_its_code(serve, loop):
    server = serve("fork_app:asgi", "--loop", loop)

    with raw.Client(server.address) as client:
        assert client.get("/late").body == b"7"

        check_goes_on(server, client)
    assert "raised" not in server.output()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_child_of_a_close_is_ended_with_a_line(serve, threads):
    server = serve("fork_app:closing", "--threads", threads)

    with raw.Client(server.address) as client:
        assert client.get("/close").body == b"closing"
        assert server.wait_for_line("closed", "stdout") == "closed 1"

        check_goes_on(server, client)
    assert "a forked child of the application" in server.output()


@pytest.mark.parametrize("path", ["/return", "/raise", "/write", "/big"])
def test_child_that_comes_back_is_ended_with_a_line(serve, way, path):
    server = serve(*way)

    with raw.Client(server.address) as client:
        assert client.get(path).body == b"1"

        check_goes_on(server, client)
    assert "a forked child of the application" in server.output()
    assert server.stdout.count("shutdown") <= 1


def test_child_does_not_keep_an_expired_connection_open(serve, way, release):
    server = serve(
        *way, "--timeout-keep-alive", "0.1", env={"RELEASE": str(release)}
    )

    with raw.Client(server.address) as client:
        assert client.get("/hold").body == b"parent"

        assert client.is_closed()


def test_child_does_not_keep_connections_open_after_the_end(
    serve, way, release
):
    server = serve(*way, env={"RELEASE": str(release)})

    with raw.Client(server.address) as client:
        assert client.get("/hold").body == b"parent"

        assert server.stop() == 0

        assert client.is_closed()


@pytest.mark.skipif(sys.platform != "linux", reason="see xs_sys_disconnect")
def test_child_does_not_keep_a_broken_response_open(serve, release):
    """Only a reset can say that a body without a length is not whole."""
    server = serve("fork_app:torn", env={"RELEASE": str(release)})

    with raw.Client(server.address) as client:
        client.send(b"GET / HTTP/1.0\r\n\r\n")

        with pytest.raises(ConnectionResetError):
            while client.sock.recv(1000):
                pass


def test_signal_to_a_child_is_for_the_child(serve, way):
    server = serve(*way)

    with raw.Client(server.address) as client:
        assert client.get("/pool").body == b"-15"

        check_goes_on(server, client)
