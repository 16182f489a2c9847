"""fuzz/run, and what lies beside it. The targets themselves: ctest -L fuzz."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = sorted(
    path.stem.removeprefix("fuzz_") for path in ROOT.glob("fuzz/fuzz_*.c")
)
CORPUS_MAX = 1_000_000  # bytes of all corpora


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "fuzz" / "run", *arguments],
        text=True,
        capture_output=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nothing"], "invalid choice: 'nothing'"),
        (["parser", "--time", "0"], "--time is a number of seconds from 1"),
        (["parser", "--replay", "no/such"], "there is no no/such"),
        (["all", "--replay", "x"], "of which target is it?"),
        (["parser", "--replay", "x", "--trace"], "go with `world --replay"),
    ],
)
def test_run_says_what_is_wrong_in_a_line(arguments, what):
    done = run(*arguments)

    assert done.returncode == 2
    assert what in done.stderr.splitlines()[-1]


def test_every_target_has_a_corpus_and_a_row_in_the_docs():
    docs = (ROOT / "docs/fuzzing.md").read_text(encoding="utf-8")

    for target in TARGETS:
        assert any((ROOT / "fuzz/corpus" / target).iterdir()), target
        assert f"| `{target}` |" in docs


def test_corpora_are_small():
    files = [path for path in ROOT.glob("fuzz/corpus/*/*") if path.is_file()]

    assert sum(path.stat().st_size for path in files) < CORPUS_MAX


def test_every_entry_of_the_dictionary_is_one():
    entry = re.compile(r'"([^"\\]|\\x[0-9a-f]{2}|\\["\\])+"')

    for line in (ROOT / "fuzz/http.dict").read_text().splitlines():
        assert line.startswith("#") or entry.fullmatch(line), line
