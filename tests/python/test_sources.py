"""Options from the environment and from files, and which of them wins."""

import json
import re

import pytest

from xsgi import cli, config, runner, show, sources
from xsgi.errors import ConfigError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A current folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def gathered(flags=None, environ=None, file=None):
    settings = sources.gather(flags or {}, environ or {}, file)
    return sources.config_of({"app": APP, **settings})


APP = sources.Setting("a:b", sources.Source("app"))


def refusal(flags=None, environ=None, file=None):
    with pytest.raises(ConfigError) as caught:
        gathered(flags, environ, file)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def pyproject(folder, text):
    (folder / "pyproject.toml").write_text(f"[tool.xsgi]\n{text}\n")


#: By what its kind is called: text, the same in TOML, and what it is.
VALUES = {
    "": ("yes", "true", True),
    "ADDRESS": ("[::1]:81", '"[::1]:81"', "[::1]:81"),
    "FILE": ("x.json", '"x.json"', "x.json"),
    "FOLDER": ("src", '"src"', "src"),
    "FORMAT": ("json", '"json"', "json"),
    "LIST": ("::1,unix", '["::1", "unix"]', ("::1", "unix")),
    "HOSTS": ("A.test,.b", '["a.test", ".b"]', ("a.test", ".b")),
    "MODE": ("600", '"600"', 0o600),
    "N": ("77", "77", 77),
    "PATH": ("/x", '"/x"', "/x"),
    "SIZE": ("1KiB", '"1KiB"', 1024),
    "TEXT": ("word", '"word"', "word"),
    "TIME": ("10s", '"10s"', 10),
}


def value_of(option):
    """(text, TOML, value), and not its default."""
    kind = option.metadata["kind"]
    if option.default is True:
        return "no", "false", False
    if kind.words and kind.metavar:
        other = next(
            w for w in kind.words if w not in (option.default, "eager")
        )
        return other, f'"{other}"', other
    if option.name == "workers":  # has no other
        return "1", "1", 1
    if option.name == "limit_write_backlog":  # not below limit_write_buffer
        return "1MiB", '"1MiB"', 1 << 20
    text, toml, value = VALUES[kind.metavar]
    if kind.item is not None:
        return text, f"[{toml}]", (value,)
    return text, toml, value


@pytest.mark.parametrize("option", config.options(), ids=lambda o: o.name)
def test_every_option_is_a_variable_and_a_key(folder, option):
    text, toml, value = value_of(option)
    assert value != option.default or option.name == "workers"
    (folder / "x.toml").write_text(f"{option.name} = {toml}\n")

    by_variable = gathered(environ={f"XSGI_{option.name.upper()}": text})
    by_key = gathered(file="x.toml")

    assert getattr(by_variable, option.name) == value
    assert getattr(by_key, option.name) == value


@pytest.mark.parametrize("option", config.options(), ids=lambda o: o.name)
def test_every_option_survives_being_shown_and_being_sent(folder, option):
    """--show-config prints it, --reload sends it to a child."""
    text, _, value = value_of(option)
    variable = sources.variable_of(option.name)
    settings = sources.gather({}, {variable: text}, None)
    (folder / "x.toml").write_text(show.as_toml({"app": APP, **settings}))
    sent = json.dumps({option.name: value})

    assert getattr(gathered(file="x.toml"), option.name) == value
    received = config.Config(**{"app": "a:b", **json.loads(sent)})
    assert getattr(received, option.name) == value


def test_command_line_beats_environment_and_that_the_file(folder):
    pyproject(folder, "backlog = 1\nthreads = 1\nlimit_concurrency = 1")
    environ = {"XSGI_BACKLOG": "2", "XSGI_THREADS": "2"}

    got = gathered({"backlog": "3"}, environ)

    assert (got.backlog, got.threads, got.limit_concurrency) == (3, 2, 1)
    assert got.log_level == "info"


@pytest.mark.parametrize("name", ["timeout_write", "timeout-write"])
def test_key_is_written_with_a_dash_or_without(folder, name):
    pyproject(folder, f'{name} = "1m"')

    assert gathered().timeout_write == 60


def test_application_is_a_variable_and_a_key(folder):
    pyproject(folder, 'app = "file:app"')

    from_file = sources.config_of(sources.gather({}, {}, None))
    from_variable = gathered(environ={"XSGI_APP": "variable:app"})
    from_flag = gathered({"app": "flag:app"}, {"XSGI_APP": "variable:app"})

    assert from_file.app == "file:app"
    assert from_variable.app == "variable:app"
    assert from_flag.app == "flag:app"


@pytest.mark.parametrize(
    "text", ["a:1 b:2", "a:1,b:2", " a:1,\tb:2 ,", "a:1\nb:2"]
)
def test_variable_of_a_repeatable_option_is_split(text):
    assert gathered(environ={"XSGI_BIND": text}).bind == ("a:1", "b:2")


@pytest.mark.parametrize(
    ("words", "value"),
    [("1 true YES On", True), ("0 false NO Off", False)],
)
def test_variable_of_a_switch_is_a_word(words, value):
    for word in words.split():
        got = gathered(environ={"XSGI_ACCESS_LOG": word, "XSGI_FACTORY": word})
        assert (got.access_log, got.factory) == (value, value)


def test_empty_variable_says_nothing(folder):
    """As `XSGI_PORT=${PORT:-}` of a compose file is."""
    pyproject(folder, "port = 81")
    environ = {"XSGI_PORT": "", "XSGI_BIND": "", "XSGI_CONFIG": ""}

    assert gathered(environ=environ).port == 81


# --- Where to listen is said as a whole ---


@pytest.mark.parametrize(
    ("flags", "environ", "wanted"),
    [
        ({}, {}, {"bind": ("f:1",), "uds": "/f", "host": "f"}),
        ({"port": "81"}, {}, {"port": 81, "host": "f"}),
        ({"uds": "/x"}, {}, {"uds": "/x"}),
        ({"bind": ["a:1"]}, {}, {"bind": ("a:1",)}),
        ({}, {"XSGI_PORT": "82"}, {"port": 82, "host": "f"}),
        ({"port": "81"}, {"XSGI_UDS": "/e"}, {"port": 81, "host": "f"}),
        ({"port": "81"}, {"XSGI_HOST": "e"}, {"port": 81, "host": "e"}),
        ({"uds": "/x"}, {"XSGI_PORT": "82"}, {"uds": "/x"}),
        ({"backlog": "9"}, {"XSGI_UDS": "/e"}, {"uds": "/e"}),
    ],
)
def test_place_to_listen_displaces_those_of_weaker_sources(
    folder, flags, environ, wanted
):
    pyproject(folder, 'bind = ["f:1"]\nuds = "/f"\nhost = "f"')

    got = gathered(flags, environ)

    nothing = {"bind": (), "host": None, "port": None, "uds": None, "fd": None}
    found = {name: getattr(got, name) for name in nothing}
    assert found == {**nothing, **wanted}


# --- Files ---


def test_config_file_is_read_instead_of_pyproject(folder):
    pyproject(folder, "port = 1\nthreads = 9")
    (folder / "x.toml").write_text("port = 2\n")

    assert gathered(file="x.toml").port == 2
    assert gathered(file="x.toml").threads == 1


def test_config_file_may_have_the_table(folder):
    (folder / "x.toml").write_text("port = 9\n[tool.xsgi]\nthreads = 2\n")

    got = gathered(file="x.toml")

    assert (got.threads, got.port) == (2, None)


def test_variable_names_the_config_file_and_the_flag_beats_it(folder):
    (folder / "x.toml").write_text("port = 2\n")
    (folder / "y.toml").write_text("port = 3\n")
    environ = {"XSGI_CONFIG": "x.toml"}

    assert gathered(environ=environ).port == 2
    assert gathered(environ=environ, file="y.toml").port == 3


def test_other_tables_of_pyproject_are_left_alone(folder):
    (folder / "pyproject.toml").write_text("port = 1\n[tool.x]\nport = 2\n")

    assert gathered().port is None


def test_pyproject_of_another_folder_is_not_read(folder, monkeypatch):
    pyproject(folder, "port = 81")
    (folder / "below").mkdir()

    monkeypatch.chdir(folder / "below")

    assert gathered().port is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prot = 1", "tool.xsgi.prot in pyproject.toml is not an option. Did"),
        ("prot = 1", "Did you mean port?"),
        ("keep-alive = 1", "Did you mean timeout_keep_alive?"),
        ("zzz = 1", "tool.xsgi.zzz in pyproject.toml is not an option."),
        ("workers = 4", "'tool.xsgi.workers' in pyproject.toml: xsgi runs one"),
        ("unix-socket = 'a'", "unix-socket in pyproject.toml: it is called --"),
        ("[tool.xsgi.tls]", "tool.xsgi.tls in pyproject.toml: there is no TLS"),
        ('"a\\nb" = 1', "'tool.xsgi.a\\nb' in pyproject.toml is not an opt"),
        ("a-b = 1\na_b = 2", "tool.xsgi.a-b in pyproject.toml is not an"),
        ("timeout-write = 1\ntimeout_write = 2", "timeout_write in pyproject"),
        ("timeout-write = 1\ntimeout_write = 2", "is there twice"),
        ("app = 5", "Invalid value for 'tool.xsgi.app' in pyproject.toml: 5"),
        ("port = 'x'", "Invalid value for 'tool.xsgi.port' in pyproject.toml"),
        ("port = 1.5", "1.5 is not a whole number"),
        ("port = true", "True is not a whole number"),
        ("port = [1]", "[1] is not a whole number"),
        ("port = 1979-05-27", "is not a whole number"),
        ("access_log = 'no'", "'no' is neither True nor False"),
        ("access_log = 0", "0 is neither True nor False"),
        ("uds_permissions = 660", "write it in quotes"),
        ("uds_permissions = 0o660", "write it in quotes"),
        ("bind = 5", "5 is not plain text"),
        ("bind = ['a']", "'a' is not an address"),
        ("bind = ['a:1', ['b:1']]", "['b:1'] is not plain text"),
        ("bind = {a = 1}", "{'a': 1} is not plain text"),
        ("uds = 5", "5 is not a path"),
        ("app_dir = 5", "5 is not a path"),
        ("root_path = 5", "5 is not plain text"),
        ("timeout_write = nan", "nan is not a duration"),
        ("timeout_write = -1", "-1 is not a duration"),
        ("limit_request_body = 0.5", "0.5 is not a size"),
        ("log_level = 3", "3 is not one of critical"),
        ("reload_dir = ['a', 5]", "5 is not a path"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_file_and_key(folder, text, words):
    pyproject(folder, text)

    found = refusal()

    assert words in found
    assert "pyproject.toml" in found


def test_wrong_key_of_a_config_file_is_told_by_its_own_name(folder):
    (folder / "x.toml").write_text("port = 'http'\n")

    assert refusal(file="x.toml") == (
        "Invalid value for 'port' in x.toml:"
        " 'http' is not a whole number from 0 to 65535."
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"port = x\n", r"x\.toml is not TOML: .*line 1"),
        (b"port = 1\nport = 2", r"x\.toml is not TOML: "),
        (b"\xff\xfe", r"x\.toml is not TOML: "),
        (b"a = " + b"[" * 100_000, r"x\.toml is not TOML: "),
        (b"#" * (sources.FILE_MAX + 1), r"x\.toml is too large"),
        (b"[tool]\nxsgi = 1", r"tool\.xsgi in x\.toml is not a table"),
    ],
)
def test_file_that_is_no_file_of_options_is_one_line(folder, content, words):
    (folder / "x.toml").write_bytes(content)

    assert re.match(words, refusal(file="x.toml"))


def test_file_of_the_largest_size_is_read(folder):
    text = "port = 81\n#"
    (folder / "x.toml").write_text(text.ljust(sources.FILE_MAX, "x"))

    assert gathered(file="x.toml").port == 81


def test_file_that_cannot_be_read_is_one_line(folder):
    (folder / "folder.toml").mkdir()
    (folder / "deep").mkdir()
    (folder / "deep/pyproject.toml").write_text("")

    assert refusal(file="no.toml") == (
        "cannot read no.toml: there is no such file."
    )
    assert refusal(file="folder.toml") == (
        "cannot read folder.toml: Is a directory."
    )
    assert refusal(file="a\0b").startswith("cannot read 'a")
    assert refusal(environ={"XSGI_CONFIG": "gone"}).startswith("cannot read ")
    assert refusal(file="deep/pyproject.toml") == (
        "deep/pyproject.toml has no table [tool.xsgi]."
    )


def test_empty_file_is_a_way_to_read_none(folder):
    pyproject(folder, "port = 1")

    assert gathered(file="/dev/null").port is None


# --- The environment ---


@pytest.mark.parametrize(
    ("variable", "text", "reason"),
    [
        ("XSGI_PORT", "http", "'http' is not a whole number"),
        ("XSGI_ACCESS_LOG", "maybe", "'maybe' is not one of 1, 0, true"),
        ("XSGI_BIND", "a:1 8000", "'8000' is not an address"),
        ("XSGI_TIMEOUT_WRITE", "soon", "'soon' is not a duration"),
        ("XSGI_LOOP", "trio", "'trio' is not one of auto"),
        ("XSGI_UDS_PERMISSIONS", "888", "'888' is not an octal mode"),
    ],
)
def test_wrong_variable_is_told_by_its_name(variable, text, reason):
    found = refusal(environ={variable: text})

    assert found.startswith(f"Invalid value for '{variable}': {reason}")


def test_wrong_value_that_is_overridden_does_not_matter(folder):
    pyproject(folder, "port = 'x'")

    assert gathered({"port": "81"}, {"XSGI_PORT": "y"}).port == 81


def test_unknown_variable_is_named_and_serving_goes_on():
    environ = {
        "XSGI_PROT": "1",
        "XSGI_KEEP_ALIVE": "1",
        "XSGI_ZZZ": "",
        "XSGI_SIM_SEED": "17",
        "XSGI_CONFIG": "x",
        "XSGI_APP": "a:b",
        "XSGI_PORT": "1",
        "XSG_PORT": "1",
    }

    assert list(sources.strangers(environ)) == [
        "XSGI_KEEP_ALIVE is not an option, and ignored."
        " Did you mean XSGI_TIMEOUT_KEEP_ALIVE?",
        "XSGI_PROT is not an option, and ignored. Did you mean XSGI_PORT?",
        "XSGI_ZZZ is not an option, and ignored.",
    ]


@pytest.mark.parametrize("variable", ["XSGI_SSL_KEYFILE", "XSGI_WS"])
def test_variable_that_asks_for_what_is_not_there_is_refused(variable):
    with pytest.raises(ConfigError, match=f"^{variable}: there "):
        list(sources.strangers({variable: "x"}))


def test_python_interface_does_not_look_at_either(folder, monkeypatch):
    pyproject(folder, "port = 81")
    monkeypatch.setenv("XSGI_HOST", "::1")

    assert config.Config("a:b").port is None
    assert config.Config("a:b").host is None


def test_command_reads_them_and_warns(folder, monkeypatch, capsys):
    pyproject(folder, "port = 81")
    monkeypatch.setenv("XSGI_APP", "a:b")
    monkeypatch.setenv("XSGI_HOTS", "::1")
    seen = []
    monkeypatch.setattr(runner, "run", seen.append)

    with pytest.raises(SystemExit) as caught:
        cli.main(["serve"])

    assert caught.value.code == 0
    assert seen == [config.Config("a:b", port=81)]
    assert capsys.readouterr().err == (
        "xsgi: XSGI_HOTS is not an option, and ignored."
        " Did you mean XSGI_HOST?\n"
    )


#: What somebody may write by mistake, in TOML and as text.
ODD_TOML = [
    "''",
    "'x'",
    "' '",
    "'\\u0000'",
    '"\\n"',
    '"\\u007f"',
    "'ü'",
    "'" + "9" * 5000 + "'",
    "'1e400'",
    "'" + "x" * 5000 + "'",
    "0",
    "-1",
    "1" + "0" * 400,
    "-1" + "0" * 400,
    "0.0",
    "1e308",
    "inf",
    "-inf",
    "nan",
    "true",
    "false",
    "[]",
    "[[]]",
    "['', 5, true]",
    "{}",
    "{a = 'b'}",
    "1979-05-27",
    "07:32:00",
    "1979-05-27T07:32:00Z",
]
ODD_TEXT = [
    " ",
    "\n",
    ",",
    "\0",
    "\x7f",
    "ü",
    "\udcff",
    "-1",
    "9" * 5000,
    "9" * 5000 + ".0",
    "0." + "0" * 5000 + "1",
    "1e400",
    "٣",
    "²",
    "none",
    "x" * 5000,
    "[::1]",
    "fd://" + "9" * 30,
    "unix:",
    "0o777",
]


@pytest.mark.parametrize("name", config.names())
def test_odd_value_is_taken_or_refused_in_one_line(folder, name):
    path = folder / "x.toml"
    for odd in ODD_TOML:
        path.write_text(f"{name} = {odd}\n")
        taken_or_refused(name, file="x.toml")
    for odd in ODD_TEXT:
        taken_or_refused(name, environ={f"XSGI_{name.upper()}": odd})
        taken_or_refused(name, flags={name: odd})


def taken_or_refused(name, **source):
    try:
        got = gathered(**source)
    except ConfigError as error:
        assert str(error).isprintable()
        assert len(str(error)) < 300
        assert name in str(error).lower().replace("-", "_")
    else:
        # What was taken once is taken again.
        value = getattr(got, name)
        again = config.Config(**{"app": "a:b", name: value})
        assert getattr(again, name) == value
