"""The command line: options, environment, and one line for each mistake."""

import re
import subprocess
import sys

import pytest

import raw
from commands import complaint
from xsgi import (
    __version__,
    _xsgi,
    cli,
    config,
    kinds,
)


def test_defaults_are_those_of_config(served):
    assert served("a:b") == config.Config("a:b")


def test_every_option_is_on_the_command_line(served, capsys):
    with pytest.raises(SystemExit):
        cli.main(["serve", "--help"])
    text = capsys.readouterr().out

    for option in config.options():
        assert "--" + option.name.replace("_", "-") in text
        assert len(option.metadata["help"]) < 80


def test_options_are_read(served):
    got = served(
        "a:b", "-b", "x:1", "--bind", "unix:/y", "--timeout-write", "5m",
        "--limit-request-body", "1MiB", "--no-access-log", "--factory",
        "--uds-permissions", "600", "--keep-alive", "5", "--loop", "uvloop",
        "--graceful-timeout", "0",
    )  # fmt: skip

    assert got == config.Config(
        "a:b",
        bind=("x:1", "unix:/y"),
        timeout_write=300,
        limit_request_body=1 << 20,
        access_log=False,
        factory=True,
        uds_permissions=0o600,
        timeout_keep_alive=5,
        loop="uvloop",
        timeout_graceful_shutdown=0,
    )


def test_environment_sets_what_the_command_line_does_not(served, monkeypatch):
    monkeypatch.setenv("XSGI_PORT", "81")
    monkeypatch.setenv("XSGI_TIMEOUT_WRITE", "1m")
    monkeypatch.setenv("XSGI_HOST", "::1")
    monkeypatch.setenv("XSGI_ACCESS_LOG", "0")
    monkeypatch.setenv("XSGI_FACTORY", "true")

    got = served("a:b", "--port", "82")

    assert got.port == 82
    assert got.host == "::1"
    assert got.timeout_write == 60
    assert got.access_log is False
    assert got.factory is True


SWITCHES = [
    option.name
    for option in config.options()
    if option.metadata["kind"] is kinds.flag
]


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("given", [True, False])
def test_command_line_switches_what_the_environment_has_switched(
    served, monkeypatch, name, given
):
    flag = name.replace("_", "-")
    monkeypatch.setenv(f"XSGI_{name.upper()}", "0" if given else "1")

    got = served("a:b", f"--{flag}" if given else f"--no-{flag}")

    assert getattr(got, name) is given


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["serve"], "Missing what to serve, as in 'xsgi serve main:app'. See"),
        (["main:app"], "Did you mean 'xsgi serve main:app'? See xsgi --help."),
        (
            ["run", "main:app", "--port=1"],
            "Did you mean 'xsgi serve main:app'?",
        ),
        (["start"], "No such command 'start'. Did you mean 'xsgi serve'?"),
        (["serve", "a:b", "--prot", "1"], "--prot. Did you mean --port? See x"),
        (["serve", "a:b", "--no-acces-log"], "Did you mean --no-access-log?"),
        (["serve", "a:b", "--frob"], "xsgi: No such option --frob. See"),
        (["serve", "a:b", "-x"], "No such option -x. See xsgi serve --help."),
        (["--frob"], "No such option --frob. See xsgi --help."),
        (["completion"], ". Choose from: bash, zsh, fish. See xsgi completion"),
        (["completion", "ksh"], "'ksh' is not one of 'bash', 'zsh', 'fish'."),
        (["serve", "a:b", "--port"], "'--port' requires an argument."),
        (["serve", "a:b", "--port", "http"], "Invalid value for '--port'"),
        (["serve", "a:b", "--port", "65536"], "from 0 to 65535"),
        (["serve", "a:b", "--timeout-write", "soon"], "not a duration"),
        (["serve", "a:b", "--limit-request-body", "1x"], "is not a size"),
        (["serve", "a:b", "--loop", "x"], "auto, xsgi, uvloop, asyncio"),
        (["serve", "a:b", "c:d"], "unexpected extra argument (c:d). See xsgi"),
        (["serve", "os:getcwd", "--bind", "8000"], "is not an address"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(capsys, args, words):
    code, line = complaint(capsys, *args)

    assert code == 2
    assert words in line


def test_command_without_arguments_shows_its_help(capsys):
    with pytest.raises(SystemExit):
        cli.main([])

    shown = "".join(capsys.readouterr())
    assert shown.startswith("Usage: xsgi [OPTIONS] COMMAND")
    assert "Traceback" not in shown


def test_wrong_value_in_the_environment_is_told(capsys, monkeypatch):
    monkeypatch.setenv("XSGI_PORT", "http")

    code, line = complaint(capsys, "serve", "a:b")

    assert code == 2
    assert line.startswith("xsgi: Invalid value for 'XSGI_PORT': 'http' is no")


def test_wrong_value_in_a_file_is_told(capsys, tmp_path):
    file = tmp_path / "x.toml"
    file.write_text("port = 'http'\n")

    code, line = complaint(capsys, "serve", "a:b", "--config", str(file))

    assert code == 2
    assert line.startswith(f"xsgi: Invalid value for 'port' in {file}: 'http'")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="it works there")
def test_what_this_python_cannot_do_is_told_by_its_source(capsys, monkeypatch):
    monkeypatch.setenv("XSGI_TASK_MODE", "eager")

    assert complaint(capsys, "serve", "a:b") == (
        2,
        "xsgi: Invalid value for 'XSGI_TASK_MODE':"
        " 'eager' needs Python 3.12 or newer.\n",
    )


# --- What is set, and by whom ---


def shown(capsys, *args):
    with pytest.raises(SystemExit) as caught:
        cli.main(["serve", "--show-config", *args])
    out, err = capsys.readouterr()
    assert caught.value.code == 0
    assert err == ""
    return out


def lines_of(text):
    """name: (value, source) of each line that says a value."""
    found = {}
    for line in text.splitlines():
        if " = " in line:
            name, _, rest = line.partition(" = ")
            value, _, source = rest.rpartition(" # ")
            found[name] = (value.strip(), source)
    return found


@pytest.fixture
def sourced(tmp_path, monkeypatch):
    """A folder with options in a file, and some in the environment."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        """
        [tool.xsgi]
        app = "main:app"
        uds = "/run/\\"x\\" y.sock"
        threads = 2
        timeout-write = "none"
        uds_permissions = "600"
        """
    )
    monkeypatch.setenv("XSGI_THREADS", "3")
    monkeypatch.setenv("XSGI_ACCESS_LOG", "no")


def test_every_value_is_shown_with_its_source(sourced, capsys):
    found = lines_of(shown(capsys, "--root-path", "/ü", "--keep-alive", "5m"))

    assert set(found) == {"app", *(each.name for each in config.options())}
    file = "pyproject.toml"
    wanted = {
        "app": ('"main:app"', f"from tool.xsgi.app in {file}"),
        "uds": ('"/run/\\"x\\" y.sock"', f"from tool.xsgi.uds in {file}"),
        "threads": ("3", "from XSGI_THREADS"),
        "access_log": ("false", "from XSGI_ACCESS_LOG"),
        "timeout_write": ('"none"', f"from tool.xsgi.timeout-write in {file}"),
        "uds_permissions": (
            '"600"',
            f"from tool.xsgi.uds_permissions in {file}",
        ),
        "root_path": ('"/ü"', "from --root-path"),
        "timeout_keep_alive": ("300", "from --timeout-keep-alive"),
        "bind": ("[]", "default"),
        "timeout_request_head": ("30", "default"),
        "limit_request_body": ('"none"', "default"),
        "server_header": ("true", "default"),
    }
    assert {name: found[name] for name in wanted} == wanted


def place(capsys, *args):
    """What is shown of where it listens: in short, of host, of port."""
    text = shown(capsys, *args)
    found = lines_of(text)
    short = re.search("^# This is at (.*)$", text, re.MULTILINE)[1]
    return short, found["host"], found["port"]


def test_default_place_is_shown(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    host, port = '"none"', '"none"'

    assert place(capsys) == (
        "127.0.0.1:8000",
        (host, "default: 127.0.0.1"),
        (port, "default: 8000"),
    )
    assert place(capsys, "--port", "81") == (
        "127.0.0.1:81",
        (host, "default: 127.0.0.1"),
        ("81", "from --port"),
    )
    assert place(capsys, "--host", "::1", "--uds", "/x") == (
        "[::1]:8000, unix:/x",
        ('"::1"', "from --host"),
        (port, "default: 8000"),
    )
    assert place(capsys, "--bind", ":1", "--fd", "7") == (
        ":1, fd://7",
        (host, "not used, as there is bind and fd"),
        (port, "not used, as there is bind and fd"),
    )


def test_place_that_has_given_way_is_shown_as_such(sourced, capsys):
    found = lines_of(shown(capsys, "--port", "81"))

    assert found["port"] == ("81", "from --port")
    assert found["uds"] == (
        '"none"',
        "default; tool.xsgi.uds in pyproject.toml has given way",
    )


def test_what_is_shown_is_a_file_for_config(
    sourced, capsys, tmp_path, served, monkeypatch
):
    args = ("--bind", "[::1]:0", "-b", "unix:/a b", "--reload-delay", "5ms")
    text = shown(capsys, *args)
    (tmp_path / "shown.toml").write_text(text)
    direct = served(*args)
    for variable in ("XSGI_THREADS", "XSGI_ACCESS_LOG"):
        monkeypatch.delenv(variable)

    assert served("--config", "shown.toml") == direct
    assert direct.uds is None
    assert direct.threads == 3


def test_application_of_the_command_line_is_shown_as_such(sourced, capsys):
    found = lines_of(shown(capsys, "a:b"))

    assert found["app"] == ('"a:b"', "from MODULE:ATTRIBUTE")


def test_config_is_shown_without_an_application(capsys):
    assert "\n# app: not set\n" in shown(capsys)


def test_path_that_is_no_text_is_shown_as_it_is(tmp_path):
    serve = (sys.executable, "-m", "xsgi", "serve")
    done = subprocess.run(
        [*serve, "--show-config", "--uds", b"/run/\xff"],
        capture_output=True,
        timeout=60,
    )

    assert done.stderr == b""
    assert b'uds = "/run/\xff"' in done.stdout


def test_wrong_value_is_not_shown_but_told(capsys):
    code, line = complaint(capsys, "serve", "--show-config", "--port", "x")

    assert code == 2
    assert "'--port'" in line


def test_missing_module_is_one_line_and_code_1(capsys):
    code, line = complaint(capsys, "serve", "no_such_module:app")

    assert code == 1
    assert 'module "no_such_module" was not found: looked in' in line


def test_failing_module_shows_its_traceback_and_then_one_line(capsys, tmp_path):
    (tmp_path / "site_broken.py").write_text("import no_such_thing\n")

    with pytest.raises(SystemExit) as caught:
        cli.main(["serve", "site_broken:app", "--app-dir", str(tmp_path)])

    err = capsys.readouterr().err
    assert caught.value.code == 1
    assert err.startswith("Traceback (most recent call last):\n")
    assert "site_broken.py" in err
    assert "importlib" not in err
    assert "loader.py" not in err
    assert err.splitlines()[-1] == (
        'xsgi: importing "site_broken" failed: ModuleNotFoundError:'
        " No module named 'no_such_thing'"
    )


def test_server_is_made_from_a_file_and_the_environment(serve, tmp_path):
    file = tmp_path / "x.toml"
    file.write_text('app = "life_app:wsgi"\nserver-header = false\n')
    environ = {"XSGI_ROOT_PATH": "/api", "XSGI_ACCESS_LOG": "0"}

    server = serve(f"--config={file}", env=environ)
    with raw.Client(server.address) as client:
        answer = client.get("/echo")

    assert answer.header("server") is None
    assert b"/api" in answer.body
    assert server.stop() == 0
    assert server.stdout == []


@pytest.mark.parametrize("args", [["--version"], ["serve", "--version"]])
def test_module_runs_as_a_program(args):
    done = subprocess.run(
        [sys.executable, "-m", "xsgi", *args],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.stdout == f"xsgi {__version__}\n"
    assert done.returncode == 0


def test_import_is_light():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, xsgi; print(*sys.modules)"],
        capture_output=True,
        text=True,
        timeout=60,
    )

    loaded = done.stdout.split()
    assert "xsgi" in loaded
    assert not {"asyncio", "click", "xsgi._xsgi", "socket"} & set(loaded)


def test_version_is_that_of_the_extension():
    assert _xsgi.__version__ == __version__
