"""Loader: each way in which an application is missing has its own line."""

import sys
import textwrap

import pytest

from xsgi import loader
from xsgi.config import Config
from xsgi.errors import AppError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of modules that are forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return tmp_path

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


APP = """
    async def app(scope, receive, send): ...
    class holder:
        @staticmethod
        def wsgi(environ, start_response): return []
    def create_app():
        return app
    def create_nothing():
        return 3
    async def create_later():
        return app
    def create_badly():
        raise RuntimeError("no database")
    text = "hello"
    """


def load(directory, target, **options):
    return loader.load(Config(target, app_dir=str(directory), **options))


def test_module_of_the_app_dir_is_imported(folder):
    loaded = load(folder("site_a.py", APP), "site_a:app")

    assert loaded.app.__name__ == "app"
    assert loaded.interface == "asgi3"


def test_app_dir_comes_before_the_rest_of_the_path(folder):
    directory = folder("site_b.py", APP)
    sys.path.append(str(directory))

    load(directory, "site_b:app")

    assert sys.path[0] == str(directory)


def test_attribute_of_an_attribute_is_found(folder):
    loaded = load(folder("site_a.py", APP), "site_a:holder.wsgi")

    assert loaded.interface == "wsgi"


def test_factory_is_called(folder):
    loaded = load(folder("site_a.py", APP), "site_a:create_app", factory=True)

    assert loaded.app.__name__ == "app"


def test_application_object_is_taken_as_it_is():
    async def app(scope, receive, send): ...

    assert loader.load(Config(app)).app is app


def test_interface_that_is_said_where_it_cannot_be_seen_is_taken(
    folder, caplog
):
    directory = folder("site_a.py", "app = lambda *args: None")

    loaded = load(directory, "site_a:app", interface="wsgi")

    assert loaded.interface == "wsgi"
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("target", "given", "line"),
    [
        (
            "site_a:app",
            "wsgi",
            '"site_a:app" looks like ASGI, and is called as WSGI:'
            " the option interface is wsgi",
        ),
        (
            "site_a:holder.wsgi",
            "asgi3",
            '"site_a:holder.wsgi" looks like WSGI, and is called as ASGI:'
            " the option interface is asgi3",
        ),
    ],
)
def test_interface_that_the_application_has_not_is_taken_with_a_warning(
    folder, caplog, target, given, line
):
    loaded = load(folder("site_a.py", APP), target, interface=given)

    assert loaded.interface == given
    assert caplog.messages == [line]


@pytest.mark.parametrize(
    ("target", "options", "line"),
    [
        ("site_a", {}, '"site_a" is not MODULE:ATTRIBUTE, as in "site_a:app".'),
        (":app", {}, '":app" is not MODULE:ATTRIBUTE, as in "main:app".'),
        ("site_a.py:app", {}, 'not a file, as in "site_a:app"'),
        ("./site_a.py:app", {}, 'not a file, as in "site_a:app"'),
        ("a/site_a.py:app", {}, 'not a file, as in "a.site_a:app"'),
        ("a/site_a:app", {}, 'not a file, as in "a.site_a:app"'),
        ("../site_a.py:app", {}, 'not a file, as in "site_a:app"'),
        ("/srv/a/site_a.py:app", {}, 'not a file, as in "site_a:app"'),
        ("site_a:create_app()", {}, 'write "site_a:create_app" --factory'),
        ("sit_a:app", {}, 'module "sit_a" was not found: looked in .* and on'),
        ("sit_a:app", {}, 'Did you mean "site_a"'),
        ("site_a.b:app", {}, "site_a is not a package"),
        ("nowhere.b:app", {}, 'module "nowhere" was not found'),
        ("site_a:ap", {}, 'has no attribute "ap". Did you mean "app"'),
        ("site_a:zzz", {}, 'has no attribute "zzz". Did you mean "app"'),
        ("site_a:holder.wsg", {}, '"wsg". Did you mean "wsgi"'),
        ("site_a:text", {}, '"site_a:text" cannot be called: it is a str'),
        ("site_a:create_app", {}, "--factory"),
        ("site_a:create_nothing", {"factory": True}, "returned an int"),
        ("site_a:create_later", {"factory": True}, "is async"),
        ("site_a:create_badly", {"factory": True}, "RuntimeError: no database"),
    ],
)
def test_each_mistake_has_its_line(folder, target, options, line):
    directory = folder("site_a.py", APP)

    with pytest.raises(AppError, match=line) as caught:
        load(directory, target, **options)

    assert "\n" not in str(caught.value)


def test_app_dir_that_is_not_there_is_told(tmp_path):
    with pytest.raises(AppError, match="nowhere does not exist"):
        load(tmp_path / "nowhere", "a:b")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("from os import no_such_name", "ImportError: cannot import name"),
        ("import site_c.no_such", "No module named 'site_c.no_such'"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def f(:", "SyntaxError"),
    ],
)
def test_failure_inside_the_module_is_not_taken_for_a_missing_one(
    folder, body, words
):
    directory = folder("site_c.py", body)

    with pytest.raises(AppError, match=words) as caught:
        load(directory, "site_c:app")

    assert caught.value.__cause__ is not None
    assert "was not found" not in str(caught.value)


def test_traceback_has_the_frames_of_the_user_only(folder):
    directory = folder("site_d.py", "def f():\n    1 / 0\nf()")

    with pytest.raises(AppError) as caught:
        load(directory, "site_d:app")

    trace = loader.user_traceback(caught.value.__cause__)
    files = []
    while trace is not None:
        files.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    assert files == [str(directory / "site_d.py")] * 2
