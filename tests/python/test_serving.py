"""xsgi serve from outside: addresses, start-up, exit codes, output."""

import re
import socket
import stat
import struct
import sys

import httpx
import pytest

import raw
import serving

ASGI = "life_app:asgi"
WSGI = "life_app:wsgi"
# As systemd does it: the socket as descriptor 3, and whom it is meant for.
SERVICE_MANAGER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
"""
BOTH = pytest.mark.parametrize("app", [ASGI, WSGI])


def failed(serve, *args, **options):
    """The exit code and the lines of a server that does not come up."""
    server = serve(*args, ready=False, **options)
    code = server.wait()
    assert server.stdout == []
    return code, server.stderr


@BOTH
def test_start_up_says_where_it_listens(serve, app):
    server = serve(app)

    kind = app.partition(":")[2]
    assert re.search(
        rf"INFO:     xsgi \S+: listening on http://127.0.0.1:{server.port}"
        rf" \({kind}, .*CPython 3\.\d+\.\d+\S*\)$",
        server.stderr[-1],
    )


@BOTH
def test_several_addresses_are_served(serve, tmp_path, app):
    path = tmp_path / "x.sock"
    server = serve(
        app, "-b", "127.0.0.1:0", "-b", f"unix:{path}", "-b", "127.0.0.2:0"
    )

    assert server.urls[1] == f"unix:{path}"
    assert httpx.get(server.urls[0]).text == "hello"
    assert httpx.get(server.urls[2]).text == "hello"
    with raw.Client(str(path)) as client:
        assert client.get("/").body == b"hello"


@BOTH
def test_unix_socket_serves_with_its_mode(serve, tmp_path, app):
    path = tmp_path / "x.sock"
    serve(app, "--uds", str(path), "--uds-permissions", "600")

    transport = httpx.HTTPTransport(uds=str(path))
    with httpx.Client(transport=transport, base_url="http://test") as client:
        assert client.get("/").text == "hello"
        assert client.post("/body", content=b"x" * 100_000).text == "100000"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@BOTH
@pytest.mark.parametrize("option", ["--fd {}", "--bind fd://{}"])
def test_inherited_socket_is_served(serve, app, option):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        fd = listening.fileno()
        server = serve(app, *option.format(fd).split(), pass_fds=(fd,))

    assert httpx.get(server.url + "/").text == "hello"


@BOTH
def test_backlog_is_the_one_that_was_asked_for(serve, app):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        fd = bound.fileno()
        serve(app, "--fd", str(fd), "--backlog", "7", pass_fds=(fd,))

        info = bound.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)

    # Linux has it where a connection has its tcpi_sacked.
    assert struct.unpack_from("I", info, 28) == (7,)


def test_socket_of_the_service_manager_is_served(serve):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port, fd = listening.getsockname()[1], listening.fileno()
        launcher = [sys.executable, "-c", SERVICE_MANAGER, str(fd)]
        server = serve(ASGI, launcher=launcher, address=(), pass_fds=(fd,))

    assert server.urls == [f"http://127.0.0.1:{port}"]
    assert httpx.get(server.url + "/").text == "hello"


@BOTH
def test_taken_port_is_one_line_and_code_1(serve, app):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        code, lines = failed(serve, app, "--port", str(port))

    assert code == 1
    assert lines == [
        f"xsgi: cannot listen at 127.0.0.1:{port}:"
        " something else listens there already; --port or --bind choose"
        " another place."
    ]


def test_missing_attribute_is_one_line_and_code_1(serve):
    code, lines = failed(serve, "life_app:asgj")

    assert code == 1
    assert lines == [
        'xsgi: module "life_app" has no attribute "asgj". Did you mean "asgi"?'
    ]


@pytest.mark.parametrize(
    ("app", "args", "words"),
    [
        ("life_app:failing", (), "start-up failed: no database"),
        ("life_app:raising", (), "RuntimeError: no database"),
        (
            "life_app:sluggish",
            ("--timeout-lifespan-startup", "200ms"),
            "start-up took more than 0.2 s",
        ),
        ("frozen_app:app", ("--lifespan", "on"), "start-up failed"),
    ],
)
def test_failed_start_up_is_told_and_code_3(serve, tmp_path, app, args, words):
    (tmp_path / "frozen_app.py").write_text(
        "async def app(scope, receive, send):\n"
        "    assert scope['type'] == 'http'\n"
    )
    folder = tmp_path if app.startswith("frozen") else serving.APPS
    server = serve(
        app,
        *args,
        ready=False,
        app_dir=folder,
        env={"RELEASE": str(tmp_path / "never")},
    )

    assert server.wait() == 3

    assert server.stderr[-1].startswith("xsgi: ")
    assert words in server.stderr[-1]
    assert "listening" not in server.output()


def test_failed_start_up_does_not_matter_with_lifespan_off(serve):
    server = serve("life_app:raising", "--lifespan", "off")

    assert server.stop() == 0


def test_application_without_lifespan_is_served(serve, tmp_path):
    (tmp_path / "bare_app.py").write_text(
        "async def app(scope, receive, send):\n"
        "    assert scope['type'] == 'http'\n"
        "    await send({'type': 'http.response.start', 'status': 204})\n"
        "    await send({'type': 'http.response.body'})\n"
    )
    server = serve("bare_app:app", app_dir=tmp_path)

    assert httpx.get(server.url).status_code == 204


@pytest.mark.parametrize(
    ("app", "args", "lines"),
    [
        ("life_app:asgi", ("--threads", "2"), ["threads"]),
        (
            "life_app:wsgi",
            ("--loop=asyncio", "--lifespan=on", "--task-mode=task"),
            ["lifespan", "loop", "task_mode"],
        ),
        ("life_app:asgi", ("--loop=asyncio", "--threads=1"), []),
        ("life_app:wsgi", ("--loop=auto", "--threads=2"), []),
    ],
)
def test_option_that_the_application_has_no_use_for_is_told(
    serve, app, args, lines
):
    server = serve(app, *args)

    is_kind, for_kind = ("ASGI", "WSGI") if "asgi" in app else ("WSGI", "ASGI")
    assert [line for line in server.stderr if "WARNING" in line] == [
        f'WARNING:  the option {name} does nothing: "{app}" is {is_kind}, and'
        f" that is for {for_kind}"
        for name in lines
    ]


def test_lifespan_surrounds_the_requests(serve):
    server = serve(ASGI, "--no-access-log")
    httpx.get(server.url)

    server.stop()

    assert server.stdout == ["lifespan.startup", "lifespan.shutdown"]


def test_state_of_the_lifespan_reaches_the_requests(serve):
    server = serve(ASGI)

    assert httpx.get(server.url + "/state").text == "kept"


@pytest.mark.parametrize(
    ("loop", "module"),
    [
        ("auto", "xsgi.loop"),
        ("xsgi", "xsgi.loop"),
        ("asyncio", "asyncio.unix_events"),
        ("uvloop", "uvloop"),
    ],
)
def test_loop_is_the_one_that_was_asked_for(serve, loop, module):
    if loop == "uvloop":
        pytest.importorskip("uvloop")
    server = serve(ASGI, "--loop", loop)

    assert httpx.get(server.url + "/loop").text == module


def test_missing_loop_is_told(serve, tmp_path):
    (tmp_path / "uvloop.py").write_text("raise ImportError('none here')\n")

    code, lines = failed(
        serve, ASGI, "--loop", "uvloop", env={"PYTHONPATH": _first(tmp_path)}
    )

    assert code == 2
    assert "uvloop is not installed" in lines[-1]


def _first(folder):
    return ":".join([str(folder), *filter(None, sys.path)])


@BOTH
def test_access_log_has_a_line_for_each_request(serve, app):
    server = serve(app)
    httpx.get(server.url + "/echo?q=1")

    line = server.wait_for_line("/echo", "stdout")

    assert re.fullmatch(
        r'INFO:     127\.0\.0\.1:\d+ - "GET /echo\?q=1 HTTP/1\.1" 200 OK'
        r" \d+B \d+\.\d{3}ms",
        line,
    )


@BOTH
def test_no_access_log_is_silent(serve, app):
    server = serve(app, "--no-access-log")
    httpx.get(server.url)

    server.stop()

    assert not [line for line in server.stdout if "HTTP/1.1" in line]


def test_log_level_is_obeyed(serve):
    server = serve(ASGI, "--log-level", "error", "--port", "0", ready=False)
    server.wait_for_line("lifespan.startup", "stdout")

    server.stop()

    assert server.stderr == []
