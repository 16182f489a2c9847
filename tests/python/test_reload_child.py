"""--reload: the child, and how both processes end."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import raw
import xsgi
from reloading import (
    ASGI,
    HERE,
    LIFE,
    WSGI,
    Project,
    catches,
    complaint,
    exists,
    get,
    get_child,
    hold,
    is_refused,
    wait_until,
)
from serving import PATIENCE


@pytest.fixture
def project(tmp_path, serve):
    return Project(tmp_path, serve)


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


def test_signals_that_come_at_once_are_one(project, tmp_path):
    """As from a terminal, and from a supervisor that heard the same."""
    release = tmp_path / "release"
    project.write(LIFE)
    server = project.serve(
        env={"RELEASE": str(release)}, start_new_session=True
    )
    with hold(server) as client:
        server.signal(signal.SIGSTOP)
        os.killpg(server.pid, signal.SIGINT)
        server.signal(signal.SIGTERM)
        server.signal(signal.SIGCONT)
        server.wait_for_line("stopping, 1 running may finish")
        release.touch()

        assert client.response().status == 200
    assert server.wait() == 0
    assert "lifespan over" in server.stdout


def test_second_signal_ends_both_at_once(project):
    project.write(LIFE)
    server = project.serve()
    with hold(server, "/stuck"):
        child = int(get_child(server))
        server.signal(signal.SIGTERM)
        wait_until(lambda: not catches(child, signal.SIGTERM))

        while server.process.poll() is None:  # those at once are one
            server.signal(signal.SIGTERM)
            time.sleep(0.05)

        assert server.wait() == -signal.SIGTERM
        wait_until(lambda: not exists(child))


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


def test_child_whose_application_takes_the_default_for_ctrl_c_is_replaced(
    project,
):
    source = WSGI.replace(
        "start_response(",
        "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        "    start_response(",
    )
    project.say("one", source)
    server = project.serve()
    assert get(server.address).body == b"one"

    project.say("two", source)
    server.wait_for_line("listening on", count=2)

    assert get(server.address).body == b"two"
    assert "killing" not in server.output()


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
