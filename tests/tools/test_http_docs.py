"""docs/http.md names cases of tests/http: each of them has to exist."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]

NAMED = re.compile(r"\[([a-z-]+\.md)\] (.+?)(?=;| \||$)", re.M)


def titles(document):
    text = (ROOT / "tests/http" / document).read_text()
    return set(re.findall(r"^## (.+)$", text, re.M))


def test_every_case_that_the_document_names_exists():
    named = NAMED.findall((ROOT / "docs/http.md").read_text())

    assert len(named) > 50
    assert [
        (document, title)
        for document, title in named
        if title not in titles(document)
    ] == []


def test_every_document_of_cases_is_named():
    named = {
        name for name, _ in NAMED.findall((ROOT / "docs/http.md").read_text())
    }
    documents = {path.name for path in (ROOT / "tests/http").glob("*.md")}

    assert documents - named - {"README.md"} == set()
