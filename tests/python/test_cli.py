"""The command line: options, environment, and one line for each mistake."""

import subprocess
import sys

import pytest

from xsgi import __version__, _xsgi, cli, config, runner


@pytest.fixture
def served(monkeypatch):
    """The Config that the command line came to."""
    seen = []
    monkeypatch.setattr(runner, "run", seen.append)

    def serve(*args):
        with pytest.raises(SystemExit) as caught:
            cli.main(["serve", *args])
        assert caught.value.code == 0
        return seen[-1]

    return serve


def complaint(capsys, *args):
    """The exit code and the one line of a command that fails."""
    with pytest.raises(SystemExit) as caught:
        cli.main(list(args))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("xsgi: ")
    assert err.count("\n") == 1
    return caught.value.code, err


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


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["serve"], "Missing argument 'MODULE:ATTRIBUTE'"),
        (["main:app"], "Did you mean 'xsgi serve main:app'?"),
        (["start"], "No such command 'start'"),
        (["serve", "a:b", "--prot", "1"], "--port"),
        (["serve", "a:b", "--port", "http"], "Invalid value for '--port'"),
        (["serve", "a:b", "--port", "65536"], "from 0 to 65535"),
        (["serve", "a:b", "--timeout-write", "soon"], "not a duration"),
        (["serve", "a:b", "--limit-request-body", "1x"], "is not a size"),
        (["serve", "a:b", "--loop", "x"], "auto, xsgi, uvloop, asyncio"),
        (["serve", "a:b", "c:d"], "unexpected extra argument"),
        (["serve", "os:getcwd", "--bind", "8000"], "is not an address"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(capsys, args, words):
    code, line = complaint(capsys, *args)

    assert code == 2
    assert words in line


def test_wrong_value_in_the_environment_is_told(capsys, monkeypatch):
    monkeypatch.setenv("XSGI_PORT", "http")

    code, line = complaint(capsys, "serve", "a:b")

    assert code == 2
    assert "XSGI_PORT" in line or "--port" in line


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


def test_module_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "xsgi", "--version"],
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
