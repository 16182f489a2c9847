"""A project in a folder, served with --reload, for tests."""

import os
import socket
import subprocess
import sys
import textwrap
import time

import raw
import xsgi
from serving import PATIENCE

WSGI = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Length", "{length}")])
    return [b"{word}"]
"""
ASGI = """
async def app(scope, receive, send):
    assert scope["type"] == "http"
    headers = [(b"content-length", b"{length}")]
    await send(
        {{"type": "http.response.start", "status": 200, "headers": headers}}
    )
    await send({{"type": "http.response.body", "body": b"{word}"}})
"""


#: For what is not run in the folder that PYTHONPATH may be relative to.
HERE = {"PYTHONPATH": os.path.dirname(os.path.dirname(xsgi.__file__))}


class Project:
    """A folder with an application in it, served with --reload."""

    def __init__(self, folder, serve):
        self.folder = folder
        self._serve = serve

    def write(self, text, name="project.py"):
        """Replace a file as editors do, so that it is never half there."""
        new = self.folder / (name + ".new")
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(textwrap.dedent(text))
        new.replace(self.folder / name)

    def say(self, word, source=WSGI):
        self.write(source.format(word=word, length=len(word)))

    def serve(self, *args, app="project:app", **options):
        return self._serve(
            app,
            *("--reload", "--reload-delay", "50ms"),
            *args,
            app_dir=self.folder,
            **options,
        )


LIFE = """
import asyncio, os, pathlib, time

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        print("lifespan over", flush=True)
        return await send({"type": "lifespan.shutdown.complete"})
    if scope["path"] == "/stuck":
        print("stuck", flush=True)
        time.sleep(600)
    if scope["path"] == "/exit":
        os._exit(7)
    if scope["path"] == "/child":
        if os.fork() == 0:
            os.close(1), os.close(2)
            time.sleep(2)
            os._exit(0)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/hold":
        print("held", flush=True)
        while not os.path.exists(os.environ["RELEASE"]):
            await asyncio.sleep(0.01)
    while scope["path"] == "/events":
        await send(
            {"type": "http.response.body", "body": b"x", "more_body": True}
        )
        await asyncio.sleep(0.01)
    body = str(os.getpid()).encode()
    await send({"type": "http.response.body", "body": body})
"""


def hold(server, path="/hold"):
    client = raw.Client(server.address)
    client.request("GET", path)
    server.wait_for_line("held" if path == "/hold" else path[1:], "stdout")
    return client


def get(address, path="/"):
    with raw.Client(address) as client:
        return client.get(path)


def wait_until(what):
    """Wait until ``what()``, and not longer than tests wait."""
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_refused(address):
    try:
        socket.create_connection(address, PATIENCE).close()
    except ConnectionRefusedError:
        return True
    return False


def get_child(server):
    path = f"/proc/{server.pid}/task/{server.pid}/children"
    with open(path) as children:
        return children.read().split()[0]


def catches(pid, number):
    """Whether it has a handler for a signal: the first one takes it away."""
    with open(f"/proc/{pid}/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    return bool(int(fields["SigCgt"], 16) >> (number - 1) & 1)


def exists(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def complaint(*args, code="from xsgi.cli import main; main()", cwd=None):
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=cwd,
        env={**os.environ, **HERE},
    )
    assert done.stdout == ""
    return done.returncode, done.stderr
