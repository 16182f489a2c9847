"""Each row of docs/lifecycle.md: what it says is what happens."""

import pathlib
import re
import socket
import time

import pytest

import raw
import serving

PAGE = pathlib.Path(__file__).parents[2] / "docs/lifecycle.md"
ENDS = "%({target}x)s|%({end}x)s"
INTERFACES = {
    "asgi": ("--lifespan", "off"),
    "wsgi": (),
    "wsgi-threads": ("--threads", "4"),
}
SHORT = 1.0  # seconds: none of a busy machine's pauses
GATEWAYS = ("asgi", "wsgi", "wsgi-threads")


def rows():
    """(row, what is told to each interface, client, log, connection)."""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 7 and (name := re.fullmatch(r"\W*`(\S+)`", cells[0])):
            wsgi, _, threads = cells[3].partition("; threads: ")
            told = {"asgi": cells[2], "wsgi": wsgi}
            told["wsgi-threads"] = threads or wsgi
            yield name[1], told, cells[4], cells[5], cells[6].rstrip(" |")


def cases():
    for row, told, *expected in rows():
        both_silent = set(told.values()) == {"n/a"}
        for interface in GATEWAYS:
            words = told[interface]
            if words != "n/a" or both_silent:
                yield pytest.param(
                    row, interface, words, *expected, id=f"{row}-{interface}"
                )


class Client(raw.Client):
    """Notes whether it was reset."""

    was_reset = False

    def _receive(self, size=1 << 18):
        try:
            return self.sock.recv(size)
        except ConnectionResetError:
            self.was_reset = True
            return b""


def ask(client, target, *fields, minor=1):
    lines = [f"GET /{target} HTTP/1.{minor}", "Host: test", *fields, "", ""]
    client.send("\r\n".join(lines).encode())


# What a client does in a row: the part behind the slash. --------------------


def half(client, target):
    ask(client, target)
    client.sock.shutdown(socket.SHUT_WR)


def silent(client, target):
    if target.startswith("reads"):
        upload(client, target, "Content-Length: 10", b"abc")
    elif target.startswith("head"):
        client.send(f"GET /{target} HT".encode())
    elif target.startswith("none"):
        ask(client, "whole?before")
        assert client.response().complete
    else:
        stuck(client, target)
        time.sleep(3 * SHORT)


def stuck(client, target):
    ask(client, target)
    assert client.sock.recv(1, socket.MSG_PEEK) == b"H"  # it has begun


def reset(client, target):
    if target.startswith("reads"):
        upload(client, target, "Content-Length: 10", b"abc")
    elif target.startswith("waits"):
        ask(client, target)
    else:
        stuck(client, target)
    client.reset()


def end(client, target):
    upload(client, target, "Content-Length: 10", b"abc")
    client.close()


def upload(client, target, field, body):
    """The application has asked for the body when it comes."""
    lines = [f"PUT /{target} HTTP/1.1", "Host: test", field]
    lines += ["Expect: 100-continue", "", ""]
    client.send("\r\n".join(lines).encode())
    assert client.head().status == 100
    client.send(body)


def malformed(client, target):
    upload(client, target, "Transfer-Encoding: chunked", b"zz\r\n")


def too_large(client, target):
    chunk = b"40\r\n" + bytes(64) + b"\r\n0\r\n\r\n"
    upload(client, target, "Transfer-Encoding: chunked", chunk)


def stays(client, target):
    ask(client, target, "Connection: close")


def old(client, target):
    ask(client, target, minor=0)


ACTS = {
    "": ask,
    "1.0": old,
    "end": end,
    "half": half,
    "malformed": malformed,
    "reset": reset,
    "silent": silent,
    "slowest": stuck,
    "stays": stays,
    "stop": ask,
    "too_large": too_large,
}
DEADLINES = ("request-head", "request-body", "keep-alive", "write")
OPTIONS = {
    "silent": tuple(f"--timeout-{name}={SHORT}" for name in DEADLINES),
    "slowest": ("--limit-write-buffer=1KiB", "--limit-write-backlog=1KiB"),
    "stop": (f"--timeout-graceful-shutdown={SHORT}",),
    "too_large": ("--limit-request-body", "63"),
}


@pytest.fixture(scope="module")
def server_for():
    """A server for each interface and set of options, kept for all rows."""
    started = {}

    def get(interface, options):
        key = (interface, options)
        if key not in started or started[key].process.poll() is not None:
            app = "ending_app:" + interface.partition("-")[0]
            started[key] = serving.Served(
                app, *INTERFACES[interface], "--access-log-format", ENDS,
                *options,
            )  # fmt: skip
        return started[key]

    yield get
    for server in started.values():
        server.kill()


def stop(server, client, path):
    """Once the application is where the row has it."""
    if path in ("floods", "large"):
        assert client.sock.recv(1, socket.MSG_PEEK) == b"H"
    else:
        server.wait_for_line(f"begun {path}", "stdout")
    server.stop()


def got(client):
    """What the client gets of the response: see the page."""
    try:
        response = client.response()
    except EOFError:
        return "nothing", False
    closes = response.header("connection") == "close"
    if response.header("content-length") is None and closes:
        response.complete = not client.was_reset
    words = f"{response.status}" + ("" if response.complete else " cut")
    return words, response.complete and not closes


def fate(client, lives):
    """What becomes of the connection."""
    if lives:
        ask(client, "whole?next")
        if client.response().status == 200:
            return "lives"
    rest = client.rest()
    assert rest == b""
    return "reset" if client.was_reset else "ends"


def told_lines(server, target):
    mark = f"told {target}: "
    return [
        line.removeprefix(mark)
        for line in list(server.stdout)
        if line.startswith(mark)
    ]


@pytest.mark.parametrize(
    ("row", "interface", "told", "gets", "log", "connection"), list(cases())
)
def test_row(row, interface, told, gets, log, connection, server_for):
    path, _, act = row.partition("/")
    server = server_for(interface, OPTIONS.get(act, ()))
    target = f"{path}?{act or 'plain'}"

    with Client(server.address, receive_buffer=4096) as client:
        ACTS[act](client, target)
        if act == "stop":
            stop(server, client, path)
        if gets != "gone":
            words, lives = got(client)
            assert words == gets
            assert fate(client, lives and act != "half") == connection

    if log != "none":
        line = server.wait_for_line(f"{target}|", "stdout")
        assert line.rpartition("|")[2] == log
    expected = [] if told in ("nothing", "n/a") else told.split(", ")
    for words in expected:
        server.wait_for_line(f"told {target}: {words}", "stdout")
    if act != "stop":
        with raw.Client(server.address) as other:
            assert other.get("/whole?sync").status == 200
    assert told_lines(server, target) == expected
