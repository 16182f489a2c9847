"""xsgi.run and xsgi.serve, called by a program."""

import asyncio
import contextlib
import dataclasses
import logging
import signal
import socket
import subprocess
import sys
import textwrap
import threading

import pytest

import raw
import xsgi
from xsgi import looped

LIMIT = 20


@pytest.fixture
def listening():
    """A socket for the server, and its address."""
    sock = socket.create_server(("127.0.0.1", 0))
    address = sock.getsockname()
    yield sock.detach(), address


class App:
    """Answers; /hold does so after ``release`` is set."""

    def __init__(self):
        self.events = []
        self.held = asyncio.Event()
        self.release = asyncio.Event()

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            for _ in range(2):
                kind = (await receive())["type"]
                self.events.append(kind)
                await send({"type": f"{kind}.complete"})
            return
        if scope["path"] == "/hold":
            self.held.set()
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.events.append("cancelled")
                raise
        self.events.append(scope["path"])
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"hello"})


def get(address, path):
    with raw.Client(address) as client:
        return client.get(path)


def in_loop(main):
    """Run ``main()`` in each kind of loop."""

    def new_loop(name):
        if name == "uvloop":
            return pytest.importorskip("uvloop").new_event_loop()
        return xsgi.Loop() if name == "xsgi" else asyncio.SelectorEventLoop()

    @pytest.mark.parametrize("name", ["asyncio", "uvloop", "xsgi"])
    def test(name, listening):
        loop = new_loop(name)
        try:
            loop.run_until_complete(asyncio.wait_for(main(*listening), LIMIT))
        finally:
            loop.close()

    test.__name__ = main.__name__
    return test


async def _ready(app):
    while "lifespan.startup" not in app.events:
        await asyncio.sleep(0.01)


@in_loop
async def test_serve_answers_until_it_is_cancelled(fd, address):
    app = App()
    task = asyncio.create_task(xsgi.serve(app, fd=fd, access_log=False))
    answer = await asyncio.to_thread(get, address, "/")
    assert answer.body == b"hello"

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert app.events == ["lifespan.startup", "/", "lifespan.shutdown"]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, 1)


@in_loop
async def test_cancelling_lets_a_running_request_finish(fd, address):
    app = App()
    task = asyncio.create_task(xsgi.serve(app, fd=fd, access_log=False))
    asking = asyncio.create_task(asyncio.to_thread(get, address, "/hold"))
    await app.held.wait()

    task.cancel()
    await asyncio.sleep(0.05)
    assert not task.done()
    app.release.set()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await asking).complete
    assert app.events == ["lifespan.startup", "/hold", "lifespan.shutdown"]


@in_loop
async def test_cancelling_twice_ends_it_at_once(fd, address):
    app = App()
    task = asyncio.create_task(xsgi.serve(app, fd=fd, access_log=False))
    asking = asyncio.create_task(asyncio.to_thread(get, address, "/hold"))
    await app.held.wait()
    task.cancel()
    await asyncio.sleep(0.05)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    with pytest.raises((EOFError, ConnectionError)):
        await asking
    assert app.events[-1] == "lifespan.shutdown"
    app.release.set()


@in_loop
async def test_serve_leaves_signals_and_loggers_to_the_program(fd, address):
    before = [signal.getsignal(each) for each in (2, 15)]
    handlers = list(logging.getLogger("xsgi").handlers)
    app = App()
    task = asyncio.create_task(xsgi.serve(app, fd=fd, access_log=False))
    await _ready(app)

    assert [signal.getsignal(each) for each in (2, 15)] == before
    assert logging.getLogger("xsgi").handlers == handlers
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@in_loop
async def test_serve_takes_a_wsgi_application(fd, address):
    seen = []

    def app(environ, start_response):
        seen.append(threading.current_thread())
        start_response("200 OK", [])
        return [b"wsgi"]

    task = asyncio.create_task(xsgi.serve(app, fd=fd, access_log=False))
    answer = await asyncio.to_thread(get, address, "/")
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task

    assert answer.body == b"wsgi"
    assert seen == [threading.current_thread()]


@in_loop
async def test_two_servers_share_a_loop(fd, address):
    other = socket.create_server(("127.0.0.1", 0))
    where = other.getsockname()
    tasks = [
        asyncio.create_task(xsgi.serve(App(), fd=each, access_log=False))
        for each in (fd, other.detach())
    ]

    for each in (address, where):
        assert (await asyncio.to_thread(get, each, "/")).body == b"hello"

    for task in tasks:
        task.cancel()
    for task in tasks:
        with pytest.raises(asyncio.CancelledError):
            await task


def test_loop_of_ours_needs_no_guest_also_the_second_time(monkeypatch):
    def no_guest(loop):
        raise AssertionError("a guest")

    async def serve_once():
        app = App()
        task = asyncio.create_task(xsgi.serve(app, port=0))
        await _ready(app)
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    monkeypatch.setattr(looped, "Guest", no_guest)
    loop = xsgi.Loop()
    try:
        for _ in range(2):
            loop.run_until_complete(asyncio.wait_for(serve_once(), LIMIT))
    finally:
        loop.close()


@in_loop
async def test_failed_start_up_is_raised(fd, address):
    async def app(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no disk"})

    with pytest.raises(xsgi.StartupError, match="no disk"):
        await xsgi.serve(app, fd=fd)


def test_options_are_checked():
    with pytest.raises(xsgi.ConfigError, match=r"port: .*65535"):
        xsgi.run("a:b", port=70000)
    with pytest.raises(TypeError, match="belong into the Config"):
        xsgi.run(xsgi.Config("a:b"), port=1)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("prot", r"there is no such option\. Did you mean port\?"),
        ("frobnicate", r"there is no such option\."),
        ("preload", r"xsgi runs one process; "),
        ("ssl_certfile", r"there is no TLS yet; "),
        ("unix_socket", r"it is called --uds here\."),
    ],
)
def test_option_that_is_not_there_is_told_with_what_was_meant(name, words):
    async def serve():
        await xsgi.serve("a:b", **{name: 1})

    for call in (
        lambda: xsgi.run("a:b", **{name: 1}),
        lambda: asyncio.run(serve()),
        lambda: xsgi.Config("a:b", **{name: 1}),
        lambda: dataclasses.replace(xsgi.Config("a:b"), **{name: 1}),
    ):
        with pytest.raises(xsgi.ConfigError, match=f"^{name}: {words}"):
            call()


@pytest.mark.parametrize("given", ["xsgi", "uvloop", "asyncio", object()])
def test_serve_refuses_to_be_asked_for_a_loop(given):
    words = r"^loop: is not for .* or call xsgi\.run\(app, loop=\.\.\.\)\.$"

    with pytest.raises(xsgi.ConfigError, match=words):
        asyncio.run(xsgi.serve("a:b", loop=given))

    if isinstance(given, str):
        config = xsgi.Config("a:b", loop=given)
        with pytest.raises(xsgi.ConfigError, match=words):
            asyncio.run(xsgi.serve(config))
    with pytest.raises(xsgi.AppError):
        asyncio.run(xsgi.serve("no_such:app", loop="auto", port=0))


ITSELF = """
    import asyncio, xsgi

    async def app(scope, receive, send): ...

    {call}
    """


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ('xsgi.run("itself:app", port=0)', "xsgi.run()"),
        ("xsgi.run(app, port=0, reload=True)", "xsgi.run()"),
        ("asyncio.run(xsgi.serve(app, port=0))", "xsgi.serve()"),
        ("def make(): xsgi.run(app, port=0)", "xsgi.run()"),
    ],
)
@pytest.mark.parametrize("outer", ["command", "program"])
def test_application_that_serves_itself_while_it_is_loaded_is_refused(
    tmp_path, call, name, outer
):
    file = tmp_path / "itself.py"
    file.write_text(textwrap.dedent(ITSELF.format(call=call)))
    target = "itself:make" if "make" in call else "itself:app"
    factory = "--factory" if "make" in call else "--no-access-log"
    command = ["-m", "xsgi", "serve", target, "--port=0", factory]
    command += ["--app-dir", str(tmp_path)]
    if outer == "program":
        options = f"port=0, factory={'make' in call}, app_dir='{tmp_path}'"
        command = ["-c", f'import xsgi; xsgi.run("{target}", {options})']

    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )

    assert done.returncode == 1
    assert "listening" not in done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.endswith(
        f'"{target}" calls {name} while it is loaded: put the call under'
        """ 'if __name__ == "__main__":'."""
    )
    assert outer == "program" or done.stderr.count("\n") == 1


def test_application_may_serve_itself_when_it_is_the_program(tmp_path):
    file = tmp_path / "itself.py"
    call = 'if __name__ == "__main__": xsgi.run("itself:no_such", port=0)'
    file.write_text(textwrap.dedent(ITSELF.format(call=call)))

    done = subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )

    assert 'module "itself" has no attribute "no_such"' in done.stderr


def test_errors_have_one_base():
    for error in (
        xsgi.AppError,
        xsgi.BindError,
        xsgi.ConfigError,
        xsgi.StartupError,
    ):
        assert issubclass(error, xsgi.Error)


def test_every_public_name_is_there_and_documented():
    for name in xsgi.__all__:
        value = getattr(xsgi, name)
        assert isinstance(value, str) or value.__doc__
    with pytest.raises(AttributeError, match="no_such"):
        xsgi.no_such  # noqa: B018 - the look-up is the act


PROGRAM = """
    import os, signal, socket, threading, time, xsgi

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]

    def stop_when_ready():
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    {app}

    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    for _ in range(2):
        threading.Thread(target=stop_when_ready).start()
        xsgi.run(app, port=port, access_log=False)
    after = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert before == after
    print("returned")
"""
ASGI = "async def app(scope, receive, send): raise NotImplementedError"
WSGI = "def app(environ, start_response): return []"


@pytest.mark.parametrize("app", [ASGI, WSGI])
def test_run_returns_and_can_be_called_again(app):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM).format(app=app)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )

    assert done.stdout == "returned\n", done.stderr
    assert done.stderr.count("listening on") == 2
    assert done.returncode == 0
