"""tools/tidy.py: each rule is broken once and must be noticed, and only it."""

import pathlib
import subprocess
import sys

import pytest

TIDY = pathlib.Path(__file__).parents[2] / "tools/tidy.py"

# A tree in order.
HOUSE = {
    "core/CMakeLists.txt": "add_library(xsgi_core STATIC base/a.c)\n",
    "core/base/a.h": "/* a.h - a. */\n",
    "core/base/a.c": '/* a.c - a. */\n\n#include "core/base/a.h"\n',
    "core/io.h": '/* io.h - io. */\n\n#include "core/base/a.h"\n',
    "tests/unit/test_a.c": "/* test_a.c - a's tests. */\n",
    "tests/unit/CMakeLists.txt": "xs_test(test_a unit xsgi::core)\n",
    "tools/tool.py": '"""A tool."""\n',
}


def faults(
    tmp_path: pathlib.Path, changes: dict[str, str], *options: str
) -> list[str]:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name, text in {**HOUSE, **changes}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    result = subprocess.run(
        [sys.executable, str(TIDY), "--root", str(tmp_path), *options],
        cwd=tmp_path,
        text=True,
        capture_output=True,
    )
    assert result.stderr == ""
    lines = result.stdout.splitlines()[:-1]
    assert result.returncode == (1 if lines else 0)
    return lines


def test_a_tree_in_order_has_no_fault(tmp_path):
    assert faults(tmp_path, {}) == []


@pytest.mark.parametrize(
    ("rule", "name", "text"),
    [
        ("first-line", "core/base/a.h", "/* b.h - b. */\n"),
        ("first-line", "tools/tool.py", "import sys\n"),
        ("columns", "core/base/a.h", "/* a.h - a. */\n" + "x" * 81),
        ("length", "core/base/a.h", "/* a.h - a. */\n" + "\n" * 500),
        ("length", "tools/tool.py", '"""A."""\n' + "\n" * 500),
        (
            "length",
            "core/CMakeLists.txt",
            HOUSE["core/CMakeLists.txt"] + "\n" * 41,
        ),
        (
            "function",
            "core/base/a.c",
            "/* a.c - a. */\nint f(void)\n{\n" + "\n" * 68 + "}\n",
        ),
        (
            "function",
            "tools/tool.py",
            '"""A."""\n\n\ndef f():\n' + "    f()\n" * 70,
        ),
        ("leftover", "README.md", "TO" + "DO\n"),
        ("machine", "README.md", "see /ho" + "me/me/x\n"),
        ("banned", "core/base/a.h", "/* a.h - a. */\nstrcpy(a, b);\n"),
        ("banned", "core/base/a.c", "/* a.c - a. */\n    malloc(1);\n"),
        ("include", "core/base/a.c", '/* a.c - a. */\n#include "a.h"\n'),
        (
            "layer",
            "core/base/a.c",
            '/* a.c - a. */\n#include "core/io.h"\n',
        ),
        ("layer", "core/base/a.c", "/* a.c - a. */\n#include <time.h>\n"),
        ("layer", "core/base/a.c", "/* a.c - a. */\n#include <llhttp.h>\n"),
        (
            "layer",
            "tests/unit/test_a.c",
            "/* test_a.c - a. */\n# include <Python.h>\n",
        ),
    ],
)
def test_a_broken_rule_is_named_alone(tmp_path, rule, name, text):
    lines = faults(tmp_path, {name: text})

    assert len(lines) == 1
    assert lines[0].startswith(f"{name}:")
    assert lines[0].endswith(f"[{rule}]")


def build_faults(tmp_path: pathlib.Path, source: str) -> list[str]:
    """What tidy says of a build whose core library is made from `source`."""
    for part in ("core", "io", "sim", "access"):
        folder = tmp_path / "build" / part
        folder.mkdir(parents=True)
        text = source if part == "core" else "int nothing(void);"
        (folder / "a.c").write_text(text)
        subprocess.run(["cc", "-fPIC", "-c", "a.c"], cwd=folder, check=True)
        archive = ["ar", "rc", f"libxsgi_{part}.a", "a.o"]
        subprocess.run(archive, cwd=folder, check=True)
    return faults(tmp_path, {".gitignore": "build\n"}, "--build", "build")


def test_modules_that_import_each_other_are_named(tmp_path):
    changes = {
        "python/xsgi/a.py": '"""A."""\n\nfrom xsgi import b\n',
        "python/xsgi/b.py": '"""B."""\n\nif x:\n    from xsgi.c import x\n',
        "python/xsgi/c.py": '"""C."""\n\nfrom xsgi import b, d\n',
        "python/xsgi/d.py": '"""D."""\n\nfrom xsgi.e import x\n',
        "python/xsgi/e.py": '"""E."""\n\nimport json\n\nfrom xsgi import f\n',
        "python/xsgi/f.py": '"""F."""\n\nfrom xsgi.e import x\n',
    }

    lines = faults(tmp_path, changes)

    assert [line.split(":")[0] for line in lines] == [
        f"python/xsgi/{name}.py" for name in "bcef"
    ]


OWNED = """/* a.h - a. */
struct xs_a {
    int free;

    /* Written only by b.c. */
    int one; /* of many */
    int more[2];

    /* Written only by c.c,
     * and by d.c. */
    struct {
        int n;
    } rx;
};
"""


@pytest.mark.parametrize(
    ("line", "is_fault"),
    [
        ("a->free = 1;", False),
        ("a->one = 1;", True),
        ("a->one == 1;", False),
        ("b->one = 1;", False),
        ("a->more[1] += 1;", True),
        ("a->rx.n++;", True),
        ("Py_SETREF(a->one, two);", True),
    ],
)
def test_only_who_is_named_writes(tmp_path, line, is_fault):
    changes = {
        "core/base/a.h": OWNED,
        "core/base/a.c": f"/* a.c - a. */\n    {line}\n",
    }

    lines = faults(tmp_path, changes)

    assert len(lines) == is_fault
    assert all(each.endswith("[writer]") for each in lines)


@pytest.mark.parametrize("line", ["a->one = 1;", "a->more[0]--;"])
def test_who_is_named_writes(tmp_path, line):
    changes = {
        "core/base/a.h": OWNED.replace("b.c", "a.c"),
        "core/base/a.c": f"/* a.c - a. */\n    {line}\n",
    }

    assert faults(tmp_path, changes) == []


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        ("global", "int xs_f(void) { static int n; return ++n; }"),
        ("global", "int xs_n = 1;"),
        ("global", "static const char *s = 0; void *xs_f(void) { return &s; }"),
        ("global", "_Thread_local int xs_n;"),
        ("prefix", "int f(void) { return 1; }"),
    ],
)
def test_a_broken_rule_of_the_library_is_named_alone(tmp_path, rule, source):
    lines = build_faults(tmp_path, source)

    assert len(lines) == 1
    assert lines[0].startswith("core/a.o:1:")
    assert lines[0].endswith(f"[{rule}]")


def test_constant_tables_of_pointers_are_no_globals(tmp_path):
    source = 'const char *const xs_t[] = {"a"}; int xs_f(void) { return 1; }'

    assert build_faults(tmp_path, source) == []


def test_a_source_without_a_unit_test_or_a_line_in_cmake_is_named(tmp_path):
    lines = faults(tmp_path, {"core/base/b.c": "/* b.c - b. */\n"})

    assert [line.split("[")[-1] for line in lines] == ["unit-test]", "listed]"]


def test_seventy_lines_and_eighty_columns_are_allowed(tmp_path):
    text = "/* a.c - a. */\nint f(void)\n{\n" + "\n" * 67 + "}\n" + "x" * 80

    assert faults(tmp_path, {"core/base/a.c": text}) == []
