"""The way of the access log: no line is lost unless it is told, none twice."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

import raw
import serving

GUEST = "life_app:asgi --loop uvloop"
BOTH = pytest.mark.parametrize("app", ["life_app:asgi", "life_app:wsgi"])


class Piped:
    """A server whose standard output is a pipe that the test reads."""

    def __init__(self, process, reader):
        self.process = process
        self.reader = reader
        line = process.stderr.readline()
        port = int(line.partition("http://127.0.0.1:")[2].split()[0])
        self.client = raw.Client(("127.0.0.1", port))

    def ask(self, first, count):
        """Requests with the targets /first, /first+1, ..."""
        done = 0
        while done < count:
            batch = range(first + done, first + min(count, done + 50))
            self.client.send(
                b"".join(
                    b"GET /%d HTTP/1.1\r\nHost: h\r\n\r\n" % n for n in batch
                )
            )
            for _ in batch:
                assert self.client.response().status == 200
            done += len(batch)

    def stop(self):
        self.process.terminate()
        assert self.process.wait(serving.PATIENCE) == 0
        return self.process.stderr.read()

    def read(self, size=1 << 20):
        return os.read(self.reader, size)

    def read_all(self):
        """All that is there, after the end."""
        parts = []
        while part := self.read():
            parts.append(part)
        return b"".join(parts)


@contextmanager
def piped(app, form, pipe=None):
    reader, writer = pipe or os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "xsgi", "serve", *app.split(), "--port", "0",
         "--app-dir", str(serving.APPS), "--access-log-format", form],
        stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "RELEASE": "/nowhere"},
    )  # fmt: skip
    if pipe is None:
        os.close(writer)
    try:
        server = Piped(process, reader)
        with server.client:
            yield server
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
        if pipe is None:
            os.close(reader)


def numbers(text):
    return [int(n) for n in re.findall(rb"^/(\d+) .*\n", text, re.MULTILINE)]


@BOTH
def test_slow_reader_gets_each_line_once_and_in_order(app):
    """Far more than a pipe holds waits in the server."""
    with piped(app, "%(U)s " + "x" * 100) as server:
        server.ask(0, 3000)

        got = b""
        while got.count(b"\n") < 3000:
            got += server.read(777)
        said = server.stop()
        got += server.read_all()

    assert numbers(got) == list(range(3000))
    assert "lost" not in said


@pytest.mark.parametrize("app", ["life_app:asgi", "life_app:wsgi", GUEST])
def test_idle_server_writes_on_when_its_reader_reads_on(app):
    if app == GUEST:
        pytest.importorskip("uvloop")
    with piped(app, "%(U)s " + "x" * 1000) as server:
        server.ask(0, 500)

        got = b""
        while got.count(b"\n") < 500:
            got += server.read()

    assert numbers(got) == list(range(500))


@BOTH
def test_reader_that_does_not_read_costs_lines_not_answers(app):
    with piped(app, "%(U)s " + "x" * 1000) as server:
        server.ask(0, 2000)
        said = server.stop()

        got = numbers(server.read_all())

    lost = int(re.search(r"(\d+) lines of the access log are lost", said)[1])
    assert got == list(range(len(got)))
    assert len(got) + lost == 2000
    assert lost > 0


@BOTH
def test_lost_lines_are_told_when_the_reader_is_back(app):
    with piped(app, "%(U)s " + "x" * 1000) as server:
        server.ask(0, 2000)
        with ThreadPoolExecutor() as pool:
            reading = pool.submit(server.read_all)
            said = server.process.stderr.readline()
            server.ask(5000, 1)
            rest = server.stop()
            got = numbers(reading.result())

    lost = int(re.search(r"(\d+) lines of the access log are lost", said)[1])
    assert got == [*range(2000 - lost), 5000]
    assert "lost" not in rest


@BOTH
def test_stop_writes_the_last_lines(app):
    with piped(app, "%(U)s .") as server:
        server.ask(0, 10)
        server.stop()

        assert numbers(server.read_all()) == list(range(10))


@BOTH
def test_reader_that_is_gone_is_told_and_all_are_served(app):
    with piped(app, "%(U)s .") as server:
        os.close(server.reader)
        server.reader = os.open(os.devnull, os.O_RDONLY)
        server.ask(0, 100)

        said = server.stop()

    assert "lines of the access log are lost: Broken pipe" in said


@pytest.mark.parametrize("app", ["log_app:asgi", "log_app:wsgi"])
def test_closed_standard_output_is_no_access_log(serve, app):
    """Its number is soon another descriptor's: a client's, perhaps."""
    launcher = ("sh", "-c", 'exec "$@" >&-', "sh")
    server = serve(app, launcher=launcher)

    with raw.Client(server.address) as client:
        answers = [client.get("/").body for _ in range(20)]
        client.send(b"nonsense")
        rest = client.rest()
    assert server.stop() == 0

    assert answers == [answers[0]] * 20
    assert rest.startswith(b"HTTP/1.1 ")
    assert b"INFO" not in rest
    assert "lost" not in server.output()


@BOTH
def test_processes_that_share_a_pipe_do_not_mix_their_lines(app):
    form = "%(U)s {} " + "x" * 300
    pipe = os.pipe()
    with (
        piped(app, form.format("a"), pipe) as one,
        piped(app, form.format("b"), pipe) as two,
    ):
        for first in range(0, 1000, 100):
            one.ask(first, 100)
            two.ask(first, 100)
        got = b""
        while got.count(b"\n") < 2000:
            got += one.read()
    for each in pipe:
        os.close(each)

    lines = re.findall(rb"/(\d+) ([ab]) x{300}\n", got)
    for letter in (b"a", b"b"):
        assert [int(n) for n, by in lines if by == letter] == list(range(1000))
