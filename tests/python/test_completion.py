"""Completion in the shells: options, choices, files."""

import os
import shutil
import subprocess
import sys

import pytest

import xsgi
from serving import PATIENCE
from xsgi import config

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def run(tmp_path):
    """Run a command line of a shell that has ``xsgi`` in its path."""
    program = tmp_path / "xsgi"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m xsgi "$@"\n')
    program.chmod(0o755)
    environ = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": os.path.dirname(os.path.dirname(xsgi.__file__)),
        "HOME": str(tmp_path),
    }

    def run(*command, **variables):
        if shutil.which(command[0], path=environ["PATH"]) is None:
            pytest.skip(f"there is no {command[0]}")
        done = subprocess.run(
            command,
            env={**environ, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            cwd=tmp_path,
        )
        assert done.stderr == ""
        assert done.returncode == 0
        return done.stdout.splitlines()

    return run


@pytest.fixture
def complete(run):
    """What is offered for the last word of a command line."""

    def complete(*words):
        lines = run(
            "xsgi",
            _XSGI_COMPLETE="bash_complete",
            COMP_WORDS=" ".join(("xsgi", *words)),
            COMP_CWORD=str(len(words)),
        )
        return [line.split(",") for line in lines if line]

    return complete


def test_every_option_is_offered(complete):
    offered = {word for _, word in complete("serve", "--")}

    for option in config.options():
        assert "--" + option.name.replace("_", "-") in offered
    assert {"--config", "--show-config", "--no-access-log"} <= offered


def test_subcommands_are_offered(complete):
    assert complete("") == [["plain", "completion"], ["plain", "serve"]]
    assert complete("completion", "z") == [["plain", "zsh"]]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("--loop", "a"), ["auto", "asyncio"]),
        (
            ("--log-level", ""),
            ["critical", "error", "warning", "info", "debug"],
        ),
        (("--lifespan", "o"), ["on", "off"]),
        (("--port", ""), []),
        (("--interface", "x"), []),
    ],
)
def test_choices_are_offered(complete, words, offered):
    assert [word for _, word in complete("serve", *words)] == offered


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ("--config", "file"),
        ("--uds", "file"),
        ("--app-dir", "dir"),
        ("--reload-dir", "dir"),
    ],
)
def test_files_and_folders_are_the_shells_to_offer(complete, option, kind):
    assert complete("serve", option, "x") == [[kind, "x"]]


def test_bash_completes(run):
    script = """
        eval "$(xsgi completion bash)"
        complete -p xsgi >/dev/null || exit 1
        COMP_WORDS=(xsgi serve --loop a)
        COMP_CWORD=3
        _xsgi_completion xsgi
        printf '%s\\n' "${COMPREPLY[@]}"
    """

    assert run("bash", "--norc", "-c", script) == ["auto", "asyncio"]


def test_fish_completes(run):
    script = """
        xsgi completion fish | source
        complete --do-complete "xsgi serve --loop a"
    """

    assert run("fish", "--no-config", "-c", script) == ["asyncio", "auto"]


def test_zsh_completes(run):
    """With stand-ins for what exists only while somebody types."""
    script = """
        compdef() { print "$2 by $1" }
        compadd() { print -l -- ${(P)@[-1]} }
        eval "$(xsgi completion zsh)"
        words=(xsgi serve --loop a)
        CURRENT=4
        _xsgi_completion
    """

    offered = ["xsgi by _xsgi_completion", "auto", "asyncio"]
    assert run("zsh", "-f", "-c", script) == offered


@pytest.mark.parametrize("shell", SHELLS)
def test_script_of_each_shell_is_printed(run, shell):
    lines = run("xsgi", "completion", shell)

    assert any("_XSGI_COMPLETE" in line for line in lines)
