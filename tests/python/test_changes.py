"""Which changes of files start the application anew."""

import os

import pytest
import watchfiles

from xsgi import changes
from xsgi.config import Config
from xsgi.errors import ConfigError, Error


def counts(folder, *paths, **options):
    """Those of ``paths`` below ``folder`` whose change counts."""
    options = {"reload_dir": str(folder), **options}
    matters = changes.Filter(Config("a:b", **options))
    return [p for p in paths if matters(1, os.path.join(folder, p))]


@pytest.mark.parametrize(
    "path", ["a.py", "p/a.py", "p/q/a.py", "a b.py", "tests/a.py", "ü.py"]
)
def test_python_file_counts_wherever_it_is(tmp_path, path):
    assert counts(tmp_path, path) == [path]


@pytest.mark.parametrize(
    "path",
    [
        "a.txt",
        "a.pyc",
        "a.py~",
        "py",
        ".a.py",
        "~a.py",
        ".venv/lib/a.py",
        "p/.hidden/q/a.py",
        "__pycache__/a.py",
        "p/node_modules/q/a.py",
    ],
)
def test_other_hidden_and_made_files_do_not_count(tmp_path, path):
    assert counts(tmp_path, path) == []


def test_file_outside_of_the_folders_does_not_count(tmp_path):
    assert counts(tmp_path, "../a.py", f"../{tmp_path.name}2/a.py") == []


def test_folder_that_comes_counts_as_its_files_do(tmp_path):
    """git checkout and mv bring a folder with files in it."""
    for name in ("p/q/a.py", "t/a.txt", ".h/a.py", "n/node_modules/a.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("")
    (tmp_path / "empty").mkdir()
    matters = changes.Filter(Config("a:b", reload_dir=str(tmp_path)))
    names = ("p", "p/q", "t", ".h", "n", "empty", "gone")

    for added in (int(watchfiles.Change.added), watchfiles.Change.added):
        assert [n for n in names if matters(added, str(tmp_path / n))] == [
            "p",
            "p/q",
        ]
    modified = watchfiles.Change.modified
    assert [n for n in names if matters(modified, str(tmp_path / n))] == []


def test_include_adds_to_python_files(tmp_path):
    paths = ["a.py", "a.html", "t/a.html", "a.css"]

    got = counts(tmp_path, *paths, reload_include=["*.html"])

    assert got == ["a.py", "a.html", "t/a.html"]


def test_include_is_matched_with_the_path_too(tmp_path):
    paths = ["t/a.html", "a.html", "t/u/b.html"]

    got = counts(tmp_path, *paths, reload_include=["t/*.html"])

    assert got == ["t/a.html", "t/u/b.html"]


@pytest.mark.parametrize("pattern", [".env", ".env*", ".e*"])
def test_include_that_begins_with_its_dot_gets_a_hidden_file(tmp_path, pattern):
    """uvicorn#2639: .env could not be watched without all hidden files."""
    paths = [".env", ".git/config", ".a.py"]

    assert counts(tmp_path, *paths, reload_include=[pattern]) == [".env"]


@pytest.mark.parametrize("pattern", ["*", "*.env", "?env", "[.]env"])
def test_wildcard_does_not_get_hidden_files(tmp_path, pattern):
    paths = [".env", ".git/HEAD", "__pycache__/a.pyc"]

    assert counts(tmp_path, *paths, reload_include=[pattern]) == []


@pytest.mark.parametrize(
    "pattern", ["build", "buil?", "*/build", "p/build", "p/build/*", "p/*"]
)
def test_exclude_takes_out_what_is_in_a_folder(tmp_path, pattern):
    """uvicorn#2531: only the top one was taken out."""
    got = counts(
        tmp_path, "p/build/q/a.py", "other/a.py", reload_exclude=[pattern]
    )

    assert got == ["other/a.py"]


def test_exclude_may_be_the_path_of_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for pattern in ("./build", "build/", str(tmp_path / "build")):
        got = counts(tmp_path, "build/a.py", "a.py", reload_exclude=[pattern])
        assert got == ["a.py"]


def test_exclude_beats_include(tmp_path):
    options = {"reload_include": ["*.txt"], "reload_exclude": ["a.*"]}

    assert counts(tmp_path, "a.txt", "b.txt", "a.py", **options) == ["b.txt"]


def test_virtual_environment_does_not_count(tmp_path, monkeypatch):
    """nicegui#5750: packages that were installed started it anew."""
    monkeypatch.setattr(changes.sys, "prefix", str(tmp_path / "venv"))
    inside = "venv/lib/python3/site-packages/x.py"

    assert counts(tmp_path, inside, "venv2/a.py") == ["venv2/a.py"]
    # Unless it is what was asked for.
    (tmp_path / "venv/lib").mkdir(parents=True)
    assert counts(tmp_path / "venv/lib", "a.py") == ["a.py"]


def test_folder_of_the_application_is_the_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()

    here = changes.Filter(Config("a:b")).folders
    there = changes.Filter(Config("a:b", app_dir="src")).folders

    assert here == [os.path.realpath(tmp_path)]
    assert there == [os.path.realpath(tmp_path / "src")]


def test_folder_below_another_is_not_watched_twice(tmp_path):
    for name in ("a", "a/b", "ab"):
        (tmp_path / name).mkdir()
    folders = [str(tmp_path / name) for name in ("ab", "a/b", "a", "a")]

    got = changes.Filter(Config("a:b", reload_dir=folders)).folders

    assert got == [os.path.realpath(tmp_path / name) for name in ("a", "ab")]


def test_folder_that_is_a_link_is_watched_where_it_is(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    folders = changes.Filter(
        Config("a:b", reload_dir=str(tmp_path / "link"))
    ).folders

    assert folders == [os.path.realpath(tmp_path / "real")]


def test_missing_folder_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"^reload_dir: there is no folder"):
        changes.Filter(Config("a:b", reload_dir=str(tmp_path / "x")))


@pytest.mark.parametrize("first", [[], [set()]])
def test_watcher_that_cannot_watch_says_why(tmp_path, monkeypatch, first):
    def watch(*folders, **options):
        yield from first
        raise OSError("no more watches")

    monkeypatch.setattr("watchfiles.watch", watch)
    told = []
    watcher = changes.Watcher(
        Config("a:b", reload_dir=str(tmp_path)), told.append
    )

    try:
        watcher.start()
    except Error as error:
        assert error is watcher.error
    watcher.stop()

    assert told == [None]
    assert str(watcher.error) == f"cannot watch {tmp_path}: no more watches."


def test_watcher_that_was_never_started_can_be_stopped(tmp_path):
    changes.Watcher(Config("a:b", reload_dir=str(tmp_path)), print).stop()
