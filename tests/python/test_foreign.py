"""Habits from other servers: what is told to who comes with them."""

import pathlib
import re

import pytest

from commands import complaint
from xsgi import config, foreign, sources


@pytest.mark.parametrize("args", [["--workers", "1"], ["-w1"], []])
def test_one_process_is_what_there_is(served, monkeypatch, args):
    if not args:
        monkeypatch.setenv("XSGI_WORKERS", "1")

    assert served("a:b", *args).workers == 1


def test_platform_that_asks_for_processes_is_told(served, capsys, monkeypatch):
    monkeypatch.setenv("WEB_CONCURRENCY", "4")

    assert served("a:b").workers == 1
    assert capsys.readouterr().err == (
        "xsgi: WEB_CONCURRENCY is '4', and ignored: xsgi runs one process.\n"
    )


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--workers", "4"], "'--workers': xsgi runs one process, so '4' can"),
        (["--workers=auto"], "'--workers': xsgi runs one process, so 'auto'"),
        (["-w", "0"], "'--workers': xsgi runs one process, so '0' cannot be"),
        (["-w4"], "'--workers': xsgi runs one process, so '4' cannot be"),
        (["--max-requests", "9"], "--max-requests: it serves until it is st"),
        (["--print-config"], "--print-config: it is called --show-config her"),
        (["--log-access"], "--log-access: it is called --access-log here."),
        (["--check-config"], "--check-config: --show-config checks it, too"),
        (["--statsd-host", "x"], "--statsd-host: there are no metrics yet"),
        (["--http2-max-frame-size=1"], "HTTP/1.1 is all there is yet."),
        (["--no-ws"], "--no-ws: there are no WebSockets yet."),
        (["--proxy-protocol"], "--proxy-protocol: there is no PROXY protocol"),
        (["-R"], "-R: what the application prints is left alone."),
        (["--ssl-certfile", "x"], "--ssl-certfile: there is no TLS yet"),
        (["--ssl-anything=x"], "--ssl-anything: there is no TLS yet"),
        (["--certfile", "x"], "--certfile: there is no TLS yet"),
        (["--ws", "auto"], "--ws: there are no WebSockets yet"),
        (["--ws-max-size", "1"], "--ws-max-size: there are no WebSockets yet"),
        (["--http", "h11"], "--http: HTTP/1.1 is all there is"),
        (["-k", "gthread"], "-k: whether it is ASGI or WSGI is found out"),
        (["--chdir", "x"], "--chdir: it is called --app-dir here."),
        (["--limit-request-field_size", "1"], "--limit-request-field-size"),
        (["--daemon"], "--daemon: leave that to the service manager."),
        (["-c", "gunicorn.conf.py"], "-c: --config FILE takes options in TOML"),
    ],
)
def test_flag_of_another_server_is_refused_with_a_hint(capsys, args, words):
    code, line = complaint(capsys, "serve", "a:b", *args)

    assert code == 2
    assert words in line


def our_flags():
    ours = {"-h", "--help", "--version", "--config", "--show-config"}
    for option in config.options():
        flags = sources.flags_of(option)
        ours |= {*flags, *(f"--no-{flag[2:]}" for flag in flags)}
    return ours


def uvicorn_flags():
    return click_flags(pytest.importorskip("uvicorn").main)


def granian_flags():
    return click_flags(pytest.importorskip("granian.cli").cli)


def click_flags(command):
    return {
        flag
        for each in command.params
        for flag in (*each.opts, *each.secondary_opts)
        if flag.startswith("-")
    }


def hypercorn_flags():
    main = pytest.importorskip("hypercorn.__main__")
    text = pathlib.Path(main.__file__).read_text()
    return set(re.findall(r'"(--?[a-z][\w-]*)"', text))


def gunicorn_flags():
    parser = pytest.importorskip("gunicorn.config").Config().parser()
    return set(parser._option_string_actions)


@pytest.mark.parametrize(
    "flags", [uvicorn_flags, granian_flags, hypercorn_flags, gunicorn_flags]
)
def test_every_flag_of_another_server_is_ours_or_has_a_hint(flags):
    unknown = flags() - our_flags()

    assert [flag for flag in unknown if foreign.hint(flag) is None] == []


def test_hints_are_for_flags_that_are_not_ours():
    ours = our_flags()

    assert not ours & set(foreign.flags())
    assert [flag for flag in ours if foreign.hint(flag) is not None] == []
    assert set(foreign.renamed().values()) <= ours


def test_processes_that_a_platform_asks_for_are_told_and_not_started():
    told = ["WEB_CONCURRENCY is '4', and ignored: xsgi runs one process."]

    def lines(count, **flags):
        settings = sources.from_flags(flags)
        return list(sources.concurrency({"WEB_CONCURRENCY": count}, settings))

    assert lines("4") == told
    assert lines("1") == []
    assert lines("") == []
    assert lines("4", workers="1") == []
