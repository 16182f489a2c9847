"""The documents say which test shows a rule: each of those has to exist."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]

# `test_name`, but not `test_file.py`.
NAMED = re.compile(r"`(test_\w+)`")
DEFINED = re.compile(
    r"^\s*(?:async )?def (test_\w+)|^static void (test_\w+)\(", re.M
)


def defined():
    names = set()
    for path in [*ROOT.glob("tests/**/*.py"), *ROOT.glob("tests/**/*.c")]:
        for match in DEFINED.finditer(path.read_text()):
            names.add(match[1] or match[2])
        names.add(path.stem)
    return names


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("docs/*.md")), ids=lambda path: path.name
)
def test_every_test_that_a_document_names_exists(page):
    assert set(NAMED.findall(page.read_text())) - defined() == set()
