"""docs/options.md has every option as python/xsgi/config.py has it."""

import importlib.util
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def options(monkeypatch):
    # It puts the sources before what is built, for itself.
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = ROOT / "tools/options.py"
    spec = importlib.util.spec_from_file_location("tools_options", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_is_as_the_options_are(options):
    page = options.PAGE.read_text()

    assert page == options.renewed(page), "run tools/options.py"


def test_page_has_a_row_for_each_option(options):
    rows = [
        line.split(" | ")[0]
        for line in options.PAGE.read_text().splitlines()
        if line.startswith("| `-")
    ]

    for option in options.config.options():
        flag = options.sources.flag_of(option.name)
        assert [row for row in rows if f"`{flag}" in row], flag


def test_page_that_is_old_is_found(options, tmp_path, monkeypatch):
    page = options.PAGE.read_text()
    old = tmp_path / "options.md"
    monkeypatch.setattr(options, "PAGE", old)
    monkeypatch.setattr("sys.argv", ["options.py", "--check"])

    old.write_text(page)
    assert options.main() == 0
    old.write_text(page.replace("| `--port N`", "| `--prot N`"))
    assert options.main() == 1


def test_page_without_its_marks_is_not_written(options):
    with pytest.raises(SystemExit, match="lost its marks"):
        options.renewed("# Options\n")
