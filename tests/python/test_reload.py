"""--reload: new code is served, nobody is refused, and it can be stopped."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time

import pytest

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


@pytest.fixture
def project(tmp_path, serve):
    return Project(tmp_path, serve)


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


@pytest.mark.parametrize("source", [WSGI, ASGI])
def test_reload_serves_the_new_code_after_a_change(project, source):
    project.say("one", source)
    server = project.serve()
    assert get(server.address).body == b"one"

    project.say("two", source)
    server.wait_for_line("listening on", count=2)

    assert get(server.address).body == b"two"
    assert "reloading: " in server.output()
    assert "project.py changed" in server.output()


def test_reload_follows_a_module_that_the_application_imports(project):
    source = 'from part import word\nimport sys\nname = "app"\n' + WSGI
    project.write(source.format(word="", length=3).replace('b""', "word"))
    project.write('word = b"one"', "part.py")
    server = project.serve()
    assert get(server.address).body == b"one"

    project.write('word = b"two"', "part.py")
    server.wait_for_line("listening on", count=2)

    assert get(server.address).body == b"two"


def test_no_connection_is_refused_during_reloads(project):
    project.say("1")
    server = project.serve()
    seen = []
    over = threading.Event()

    def ask():
        while not over.is_set():
            # Who was accepted by a process that then stopped may be lost.
            lost = contextlib.suppress(EOFError, ConnectionResetError)
            with lost, raw.Client(server.address) as client:
                seen.append(client.get("/").status)

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for each in asking:
        each.start()
    try:
        for round_ in range(2, 6):
            project.say(str(round_))
            server.wait_for_line("listening on", count=round_)
    finally:
        over.set()
        for each in asking:
            each.join()

    assert set(seen) == {200}
    assert get(server.address).body == b"5"


@pytest.mark.parametrize("broken", ["def (", "import no_such_module", "app ="])
def test_broken_application_is_told_and_served_when_it_is_mended(
    project, broken
):
    project.say("one")
    server = project.serve()

    project.write(broken)
    server.wait_for_line("not serving: waiting for a change")
    with raw.Client(server.address) as early:
        early.request("GET", "/")
        project.say("two")

        # Who came in the meantime has waited.
        assert early.response().body == b"two"
    assert "Error: " in server.wait_for_line('importing "project" failed')


def test_application_that_is_broken_from_the_start_is_waited_for(project):
    project.write("raise RuntimeError('not yet')")
    server = project.serve(ready=False)
    server.wait_for_line("not serving: waiting for a change")
    assert "RuntimeError: not yet" in server.output()

    project.say("one")

    server.wait_for_line("listening on")


def test_failing_lifespan_is_waited_for(project):
    project.write(
        """
        async def app(scope, receive, send):
            await receive()
            await send({"type": "lifespan.startup.failed", "message": "no db"})
        """
    )
    server = project.serve(ready=False)
    server.wait_for_line("no db")
    server.wait_for_line("not serving: waiting for a change")

    project.say("one", ASGI)

    server.wait_for_line("listening on")


def test_application_that_waits_for_a_change_can_be_stopped(project):
    project.write("def (")
    server = project.serve(ready=False)
    server.wait_for_line("not serving: waiting for a change")

    assert server.stop() == 0


def test_change_during_a_slow_import_starts_it_anew(project):
    """granian#529: it stopped watching."""
    project.write("print('slow', flush=True)\nimport time\ntime.sleep(600)\n")
    server = project.serve(ready=False)
    server.wait_for_line("slow", "stdout")

    project.write("print('slow2', flush=True)\nimport time\ntime.sleep(600)\n")
    server.wait_for_line("slow2", "stdout")
    project.say("three")

    server.wait_for_line("listening on")


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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("to", ["parent", "both"])
def test_signal_lets_a_request_finish_and_stops_both(
    project, tmp_path, number, to
):
    """To both it goes when somebody types Ctrl-C."""
    release = tmp_path / "release"
    project.write(LIFE)
    server = project.serve(
        env={"RELEASE": str(release)}, start_new_session=True
    )
    with hold(server) as client:
        if to == "both":
            os.killpg(server.pid, number)
        else:
            server.signal(number)
        server.wait_for_line("stopping, 1 running may finish")
        release.touch()

        assert client.response().status == 200
    assert server.wait() == 0
    assert "lifespan over" in server.stdout
    assert "Traceback" not in server.output()
    assert is_refused(server.address)


def test_second_signal_ends_both_at_once(project):
    project.write(LIFE)
    server = project.serve()
    with hold(server, "/stuck"):
        child = int(get_child(server))
        server.signal(signal.SIGTERM)
        wait_until(lambda: not catches(child, signal.SIGTERM))

        server.signal(signal.SIGTERM)

        assert server.wait() == -signal.SIGTERM
        wait_until(lambda: not exists(child))


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


def test_endless_response_does_not_hold_up_a_reload(project):
    project.write(LIFE)
    server = project.serve()
    with raw.Client(server.address) as client:
        client.request("GET", "/events")
        wait_until(lambda: client.sock.recv(64))

        project.say("two", ASGI)

        server.wait_for_line("listening on", count=2)
    assert get(server.address).body == b"two"
    assert "lifespan over" in server.stdout


def test_request_has_the_time_that_was_set(project, tmp_path):
    """granian#695: somebody at a breakpoint lost his session."""
    release = tmp_path / "release"
    project.write(LIFE)
    server = project.serve(
        *("--timeout-graceful-shutdown", "none"), env={"RELEASE": str(release)}
    )
    with hold(server) as client:
        project.say("two", ASGI)

        line = server.wait_for_line("stopping, ")
        release.touch()

        assert line.endswith("1 running may finish")
        assert client.response().status == 200
    server.wait_for_line("listening on", count=2)


def test_new_folder_and_linked_folder_are_watched(project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    project.folder = tmp_path / "project"
    project.say("one")
    (project.folder / "link").symlink_to(elsewhere)
    server = project.serve()

    project.write("", "new/folder/a.py")
    assert "project/new" in server.wait_for_line("reloading: ")
    server.wait_for_line("listening on", count=2)
    (elsewhere / "b.py").write_text("")

    assert "link/b.py" in server.wait_for_line("reloading: ", count=2)


def test_process_that_the_application_left_does_not_hold_up_a_reload(project):
    """uvicorn#936: a pool of processes did."""
    project.write(LIFE)
    server = project.serve()
    assert get(server.address, "/child").status == 200

    project.say("two", ASGI)

    server.wait_for_line("listening on", count=2)
    assert server.stop() == 0


def test_child_that_exits_by_itself_gives_its_exit_code(project):
    project.write(LIFE)
    server = project.serve()
    with raw.Client(server.address) as client:
        client.request("GET", "/exit")

        assert server.wait() == 7
    assert server.stderr[-1] == (
        "xsgi: the process that serves has ended with exit code 7."
    )
    assert is_refused(server.address)


def test_child_that_is_killed_is_told(project):
    """uvicorn#1801: it went unnoticed."""
    project.write(LIFE)
    server = project.serve()

    os.kill(int(get(server.address).body), signal.SIGKILL)

    assert server.wait() == 128 + signal.SIGKILL
    assert server.stderr[-1] == (
        "xsgi: the process that serves was ended by SIGKILL."
    )


def test_child_does_not_outlive_its_parent(project):
    project.write(LIFE)
    server = project.serve()
    child = int(get(server.address).body)

    server.signal(signal.SIGKILL)
    server.process.wait(PATIENCE)

    wait_until(lambda: not exists(child))
    assert "lifespan over" in server.stdout


def test_unix_socket_stays_during_reloads_and_goes_at_the_end(
    project, tmp_path
):
    path = tmp_path / "x.sock"
    project.say("one")
    server = project.serve("--uds", str(path))
    inode = path.stat().st_ino

    project.say("two")
    server.wait_for_line("listening on", count=2)

    assert path.stat().st_ino == inode
    assert server.stop() == 0
    assert not path.exists()


def test_every_address_stays_open(project, tmp_path):
    """Also one that somebody else has opened."""
    path = str(tmp_path / "x.sock")
    project.say("one")
    with socket.create_server(("127.0.0.1", 0)) as inherited:
        fd = inherited.fileno()
        server = project.serve(
            *("--fd", str(fd), "--bind", f"unix:{path}"),
            *("--bind", "localhost:0"),
            pass_fds=[fd],
        )
        addresses = [inherited.getsockname(), path]
    addresses += [
        ("127.0.0.1", int(url.rpartition(":")[2]))
        for url in server.urls
        if url.startswith("http://127.0.0.1:")
    ]

    project.say("two")
    again = server.wait_for_line("listening on", count=2)

    assert again == server.wait_for_line("listening on")
    assert len(addresses) >= 3
    assert {get(address).body for address in addresses} == {b"two"}


PATCHED = """
from xsgi import reload
{patch}
from xsgi.cli import main
main()
"""


def test_child_that_does_not_stop_is_killed(project):
    project.write(
        """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("deaf", flush=True)
        time.sleep(600)
        """
    )
    program = ("-c", PATCHED.format(patch="reload.MARGIN = 0.1"))
    server = project.serve(
        *("--timeout-graceful-shutdown", "0"),
        *("--timeout-lifespan-shutdown", "1ms"),
        ready=False,
        program=program,
    )
    server.wait_for_line("deaf", "stdout")

    project.say("two")

    server.wait_for_line("listening on")
    assert "killing the process that does not stop" in server.output()


def test_interpreter_that_is_gone_is_one_line(project):
    project.say("one")
    program = PATCHED.format(patch="reload.sys.executable = '/none/python'")
    server = project.serve(ready=False, program=("-c", program))

    assert server.wait() == 1
    assert server.stderr[-1] == (
        "xsgi: /none/python cannot be started: No such file or directory."
    )


def test_child_has_the_standard_input(project):
    """uvicorn#275: breakpoint() did not work."""
    project.write("import sys\nprint('read', sys.stdin.readline())\n" + ASGI)
    project.write("word = input()\nprint('got', word, flush=True)\n")
    reader, writer = os.pipe()
    os.write(writer, b"hello\n")
    os.close(writer)
    with os.fdopen(reader) as stdin:
        command = [sys.executable, "-m", "xsgi", "serve", "project:app"]
        command += ["--reload", "--port", "0"]
        with subprocess.Popen(
            command,
            cwd=project.folder,
            env={**os.environ, **HERE},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            line = process.stdout.readline()
            process.terminate()

    assert line == "got hello\n"


def test_child_has_the_interpreters_flags_and_arguments(project):
    project.write(
        """
        import sys
        print(sys.flags.dev_mode, sys.warnoptions, sys.argv[1:3], flush=True)
        """
    )
    server = project.serve(
        ready=False, program=("-X", "dev", "-W", "error::UserWarning", "-mxsgi")
    )

    line = server.wait_for_line("True", "stdout")
    assert "error::UserWarning" in line
    assert line.endswith("['serve', 'project:app']")


def test_run_reloads_from_a_script_without_a_guard(project):
    """uvicorn#1045: the script was run again by the child."""
    project.say("one")
    project.write(
        """
        import xsgi
        print("script", flush=True)
        xsgi.run("project:app", port=0, reload=True, reload_delay=0.05)
        """,
        "script.py",
    )
    script = str(project.folder / "script.py")
    server = project._serve(
        "-", app_dir=".", program=(script,), cwd=project.folder, env=HERE
    )

    project.say("two")
    server.wait_for_line("listening on", count=2)

    assert get(server.address).body == b"two"
    assert server.stdout.count("script") == 1


def test_files_that_do_not_count_start_nothing_anew(project):
    project.say("one")
    server = project.serve(
        "--reload-exclude", "build", "--reload-include", "*.txt"
    )
    process = get_child(server)
    for name in ("a.html", ".hidden/a.py", "__pycache__/b.py", "build/c.py"):
        project.write("x", name)

    # The first that counts is what is told.
    project.write("x", "notes.txt")
    line = server.wait_for_line("reloading: ")

    assert "reloading: " in line
    assert "notes.txt changed" in line
    assert "," not in line
    server.wait_for_line("listening on", count=2)
    assert get_child(server) != process


def test_only_the_folders_that_are_named_are_watched(project, tmp_path):
    project.say("one")
    watched = tmp_path / "watched"
    watched.mkdir()
    server = project.serve("--reload-dir", str(watched))

    project.say("two")
    (watched / "a.py").write_text("")

    line = server.wait_for_line("reloading: ")
    assert "a.py changed" in line
    assert "project.py" not in line


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


def test_missing_watchfiles_is_one_line():
    hidden = "import sys; sys.modules['watchfiles'] = None;"
    code = hidden + "from xsgi.cli import main; main()"

    assert complaint("serve", "a:b", "--reload", code=code) == (
        2,
        "xsgi: reload: watchfiles is not installed"
        " (pip install 'xsgi[reload]').\n",
    )


def test_watching_that_fails_later_ends_it(project):
    """Instead of serving old code without a word."""
    project.say("one")
    code = """
import time, watchfiles
def watch(*folders, stop_event, **options):
    yield set()
    while "listening" not in open(LOG).read():
        time.sleep(0.02)
    raise OSError("no more watches")
watchfiles.watch = watch
from xsgi.cli import main
main()
"""
    log = project.folder / "log"
    code = code.replace("LOG", repr(str(log)))
    reload = ("--reload", "--port", "0")
    with log.open("w") as stderr:
        done = subprocess.run(
            [sys.executable, "-c", code, "serve", "project:app", *reload],
            cwd=project.folder,
            env={**os.environ, **HERE},
            stderr=stderr,
            timeout=PATIENCE,
        )

    assert done.returncode == 1
    assert log.read_text().splitlines()[-1] == (
        f"xsgi: cannot watch {project.folder}: no more watches."
    )


def test_missing_folder_is_one_line(tmp_path):
    folder = str(tmp_path / "none")

    got = complaint("serve", "a:b", "--reload", "--reload-dir", folder)

    assert got == (2, f"xsgi: reload_dir: there is no folder {folder}.\n")


def test_taken_address_is_told_before_anything_starts(project):
    project.say("one")
    server = project.serve()

    code, line = complaint(
        "serve", "a:b", "--reload", "--port", str(server.port), cwd="/"
    )

    assert code == 1
    assert line.startswith(
        f"xsgi: cannot listen at 127.0.0.1:{server.port}:"
        " something else listens there already"
    )
    assert line.count("\n") == 1


def test_reload_needs_the_name_of_the_application():
    with pytest.raises(xsgi.ConfigError, match=r"^reload: needs the applic"):
        xsgi.run(lambda: None, reload=True)


def test_reload_needs_options_that_can_be_handed_on():
    log_config = {"version": 1, "disable_existing_loggers": False, "x": object}

    with pytest.raises(xsgi.ConfigError, match=r"^reload: an option cannot be"):
        xsgi.run("a:b", reload=True, log_config=log_config)


def test_reload_needs_the_main_thread():
    found = []

    def run():
        try:
            xsgi.run("a:b", reload=True)
        except xsgi.ConfigError as error:
            found.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

    assert found == ["reload: works in the main thread only."]


def test_serve_in_a_loop_does_not_reload():
    with pytest.raises(xsgi.ConfigError, match="not for serving in a loop"):
        xsgi.serve("a:b", reload=True).send(None)
