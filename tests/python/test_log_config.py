"""Python's logging: set up from files, and the access log's way through it."""

import contextlib
import json
import logging

import pytest

import raw
from xsgi import Config, ConfigError, log

BOTH = pytest.mark.parametrize("app", ["log_app:asgi", "log_app:wsgi"])

ACCESS = "%(levelname)s|%(name)s|%(message)s|%(client_addr)s|%(request_line)s|"
ACCESS += "%(status_code)d|%(response_bytes)d|%(end)s|%(connection)d"

SETTINGS = {
    "version": 1,
    "formatters": {
        "access": {"format": ACCESS},
        "plain": {"format": "%(levelname)s %(name)s %(message)s"},
    },
    "handlers": {
        "out": {
            "class": "logging.StreamHandler",
            "stream": "ext://sys.stdout",
            "formatter": "access",
        },
        "err": {
            "class": "logging.StreamHandler",
            "formatter": "plain",
        },
    },
    "loggers": {
        "xsgi": {"handlers": ["err"], "level": "DEBUG"},
        "xsgi.access": {"handlers": ["out"], "propagate": False},
    },
}

INI = """
[loggers]
keys=root,access

[handlers]
keys=out,err

[formatters]
keys=plain

[logger_root]
level=INFO
handlers=err

[logger_access]
qualname=xsgi.access
level=INFO
handlers=out
propagate=0

[handler_out]
class=StreamHandler
args=(sys.stdout,)
formatter=plain

[handler_err]
class=StreamHandler
args=(sys.stderr,)
formatter=plain

[formatter_plain]
format=%(levelname)s %(name)s %(message)s
"""

YAML = """
version: 1
formatters:
  plain: {format: '%(levelname)s %(name)s %(message)s'}
handlers:
  err: {class: logging.StreamHandler, formatter: plain}
root: {level: INFO, handlers: [err]}
"""


@pytest.fixture
def configured(serve, tmp_path):
    """``configured(app, name, text, *options)`` serves with that file."""

    def start(app, name, text, *options, **more):
        path = tmp_path / name
        path.write_text(text)
        options = ("--lifespan", "off", "--log-config", str(path), *options)
        return serve(app, *options, **more)

    return start


def get(server, target, *fields):
    with raw.Client(server.address) as client:
        return client.get(target, *fields)


@BOTH
def test_access_logger_of_a_json_file_gets_records_like_uvicorn_s(
    configured, app
):
    server = configured(app, "log.json", json.dumps(SETTINGS))

    get(server, "/a?b=c")

    line = server.wait_for_line("/a", "stdout").split("|")
    client = line[3]
    assert client.startswith("127.0.0.1:")
    assert line == [
        "INFO",
        "xsgi.access",
        f'{client} - "GET /a?b=c HTTP/1.1" 200',
        client,
        "GET /a?b=c HTTP/1.1",
        "200",
        "5",
        "ok",
        "1",
    ]
    assert server.wait_for_line("listening").startswith("INFO xsgi.error xsgi")


@BOTH
def test_uvicorn_s_own_formatter_understands_the_records(configured, app):
    pytest.importorskip("uvicorn")
    settings = {
        **SETTINGS,
        "formatters": {
            **SETTINGS["formatters"],
            "access": {
                "()": "uvicorn.logging.AccessFormatter",
                "fmt": "%(client_addr)s %(request_line)s %(status_code)s",
                "use_colors": False,
            },
        },
    }
    server = configured(app, "log.json", json.dumps(settings))

    get(server, "/a?b=c")
    get(server, "/fail")

    line = server.wait_for_line("/a", "stdout")
    assert line.endswith(" GET /a?b=c HTTP/1.1 200 OK")
    line = server.wait_for_line("/fail", "stdout")
    assert line.endswith("500 Internal Server Error")


@BOTH
def test_ini_file_is_understood(configured, app):
    server = configured(app, "log.ini", INI)

    get(server, "/a")

    line = server.wait_for_line("/a", "stdout")
    assert line.startswith("INFO xsgi.access 127.0.0.1:")
    assert server.wait_for_line("listening").startswith("INFO xsgi.error xsgi")


@BOTH
def test_yaml_file_sends_access_lines_to_the_root_logger(configured, app):
    pytest.importorskip("yaml")
    server = configured(app, "log.yaml", YAML)

    get(server, "/a")

    assert server.wait_for_line("/a").startswith("INFO xsgi.access 127")
    assert not [line for line in server.stdout if "/a" in line]


@BOTH
def test_format_that_was_chosen_is_the_message(configured, app):
    server = configured(
        app,
        "log.ini",
        INI,
        "--access-log-format",
        "%(r)s %(s)s %({user-agent}i)s",
    )

    get(server, "/a", 'User-Agent: "x"')

    line = server.wait_for_line("/a", "stdout")
    assert line == r"INFO xsgi.access GET /a HTTP/1.1 200 \x22x\x22"


@BOTH
def test_access_lines_without_a_handler_stay_what_they_are(configured, app):
    settings = {"version": 1, "loggers": {"mine": {"level": "DEBUG"}}}
    server = configured(app, "log.json", json.dumps(settings))

    get(server, "/a")

    assert server.wait_for_line("/a", "stdout").startswith("INFO:     127.0")
    assert server.wait_for_line("listening").startswith("INFO:     xsgi")


@BOTH
def test_level_above_info_is_no_access_log(configured, app):
    settings = {"version": 1, "loggers": {"xsgi.access": {"level": "WARNING"}}}
    server = configured(app, "log.json", json.dumps(settings))

    get(server, "/a")
    server.stop()

    assert "/a" not in server.output()


@BOTH
def test_handler_that_raises_costs_its_line_only(configured, app):
    settings = {
        **SETTINGS,
        "formatters": {"access": {"format": "%(nothing)s"}, "plain": {}},
    }
    server = configured(app, "log.json", json.dumps(settings))

    assert get(server, "/a").status == 200
    assert get(server, "/b").status == 200

    server.wait_for_line("nothing")


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("log.json", "{", "Expecting property name"),
        ("log.json", "[]", "it holds no mapping"),
        ("log.json", "{}", "version"),
        ("log.json", '{"version": 2}', "Unsupported version: 2"),
        (
            "log.json",
            '{"version": 1, "handlers": {"x": {"class": "no.such.Class"}}}',
            "Unable to configure handler 'x'",
        ),
        ("log.ini", "nothing", "log.ini"),
        ("log.ini", "[loggers]\nkeys=root\n", "log.ini"),
        ("log.yaml", "a: [", "log.yaml"),
    ],
)
def test_wrong_file_is_one_line(configured, name, text, wanted):
    server = configured("log_app:wsgi", name, text, ready=False)

    assert server.wait() == 2
    assert len(server.stderr) == 1
    assert server.stderr[0].startswith("xsgi: log_config: ")
    assert wanted in server.stderr[0]


def test_missing_file_is_one_line(serve):
    options = ("--log-config", "/no/such/file.json")
    server = serve("log_app:wsgi", *options, ready=False)

    assert server.wait() == 2
    assert server.stderr == [
        "xsgi: log_config: /no/such/file.json: No such file or directory"
    ]


def test_missing_ini_file_is_one_line_that_says_so(serve):
    options = ("--log-config", "/no/such/file.ini")
    server = serve("log_app:wsgi", *options, ready=False)

    assert server.wait() == 2
    assert server.stderr == [
        "xsgi: log_config: /no/such/file.ini: No such file or directory"
    ]


def test_ini_file_that_is_a_folder_is_one_line_that_says_so(serve, tmp_path):
    options = ("--log-config", str(tmp_path))
    server = serve("log_app:wsgi", *options, ready=False)

    assert server.wait() == 2
    assert server.stderr == [f"xsgi: log_config: {tmp_path}: Is a directory"]


@pytest.fixture
def access():
    """The logger, as it was before."""
    logger = log.access
    kept = logger.level, logger.handlers[:], logger.disabled
    yield logger
    logger.level, logger.handlers[:], logger.disabled = kept
    logger.setLevel(kept[0])


def test_access_way_is_c_unless_the_logger_was_set_up(access):
    assert log.access_way(Config("a:b")) == (True, None)
    access.addHandler(logging.NullHandler())
    wanted, emit = log.access_way(Config("a:b"))

    assert wanted
    assert emit is not None
    assert access.level == logging.INFO


def test_log_level_does_not_touch_access_lines(access):
    records = []
    handler = logging.NullHandler()
    handler.handle = records.append
    access.addHandler(handler)
    above = logging.getLogger("xsgi")
    level = above.level
    above.setLevel("CRITICAL")

    _, emit = log.access_way(Config("a:b"))
    emit("1.2.3.4:5", "GET", "/a", "1.1", 200, 5, 0.5, "ok", 7, None)
    above.setLevel(level)

    assert records[0].args == ("1.2.3.4:5", "GET", "/a", "1.1", 200)
    assert records[0].duration == 0.5


def test_access_way_is_none_where_it_is_switched_off(access):
    assert log.access_way(Config("a:b", access_log=False)) == (False, None)
    access.disabled = True
    assert log.access_way(Config("a:b")) == (False, None)
    access.disabled = False
    access.setLevel("ERROR")
    assert log.access_way(Config("a:b")) == (False, None)


@contextlib.contextmanager
def bare_loggers():
    """``xsgi`` and the root, without pytest's handlers."""
    both = logging.getLogger("xsgi"), logging.getLogger()
    kept = [(each.level, each.handlers[:], each.propagate) for each in both]
    for each in both:
        each.handlers[:] = []
    try:
        yield both
    finally:
        for each, (level, handlers, propagate) in zip(both, kept, strict=True):
            each.setLevel(level)
            each.handlers[:] = handlers
            each.propagate = propagate


def recorder(records):
    """A handler that keeps messages."""
    handler = logging.NullHandler()
    handler.handle = lambda record: records.append(record.getMessage())
    return handler


HANDLED = {**SETTINGS, "loggers": {"xsgi": {"level": 10, "handlers": ["err"]}}}


@pytest.mark.parametrize(
    ("log_config", "log_level", "level"),
    [
        (None, "info", logging.INFO),
        (None, "warning", logging.WARNING),
        (HANDLED, "info", logging.DEBUG),
        (HANDLED, "error", logging.ERROR),
        ({"version": 1}, "info", logging.INFO),
    ],
)
def test_level_is_log_config_s_unless_another_was_chosen(
    log_config, log_level, level
):
    with bare_loggers() as (xsgi, _):
        log.setup(Config("a:b", log_config=log_config, log_level=log_level))

        assert xsgi.level == level


def test_handler_that_comes_later_does_not_double_the_lines(capsys):
    records = []
    with bare_loggers() as (xsgi, root):
        log.setup(Config("a:b"))
        root.addHandler(recorder(records))
        xsgi.warning("once")

    assert capsys.readouterr().err == "WARNING:  once\n"
    assert records == []


def test_program_that_has_a_handler_gets_the_lines(capsys):
    records = []
    with bare_loggers() as (xsgi, root):
        root.addHandler(recorder(records))
        log.setup(Config("a:b"))
        xsgi.warning("once")

    assert capsys.readouterr().err == ""
    assert records == ["once"]


def test_log_config_is_a_path_or_a_mapping():
    assert Config("a:b", log_config={"version": 1}).log_config == {"version": 1}
    assert Config("a:b", log_config="none").log_config is None
    with pytest.raises(ConfigError, match="log_config: 5 is not a path"):
        Config("a:b", log_config=5)
