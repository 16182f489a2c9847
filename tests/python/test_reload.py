"""--reload: new code is served, whatever changes, and nobody is refused."""

import socket
import threading
import time

import pytest

import raw
from reloading import (
    ASGI,
    HERE,
    LIFE,
    WSGI,
    Project,
    get,
    get_child,
    hold,
    wait_until,
)


@pytest.fixture
def project(tmp_path, serve):
    return Project(tmp_path, serve)


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


@pytest.mark.parametrize("source", [WSGI, ASGI])
def test_no_request_is_lost_during_reloads(project, source):
    project.say("1", source)
    server = project.serve()
    seen = []
    over = threading.Event()

    def ask():
        while not over.is_set():
            began, took = time.monotonic(), 0
            try:
                with raw.Client(server.address) as client:
                    client.request("GET", "/")
                    took = time.monotonic() - began
                    seen.append(client.response().status)
            except (EOFError, OSError) as error:
                # Who has said nothing for a second is not waited for.
                if took < 0.5:
                    seen.append(error)

    asking = [threading.Thread(target=ask) for _ in range(4)]
    for each in asking:
        each.start()
    try:
        for round_ in range(2, 6):
            project.say(str(round_), source)
            server.wait_for_line("listening on", count=round_)
    finally:
        over.set()
        for each in asking:
            each.join()

    assert {*map(repr, seen)} == {"200"}
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
