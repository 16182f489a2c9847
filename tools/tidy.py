#!/usr/bin/env python3
"""The house rules that no compiler and no formatter checks.

    tools/tidy.py                    the sources
    tools/tidy.py --build build/dev  and what was built from them

One line a fault, as FILE:LINE: what is wrong. docs/style.md has the rules,
tests/tools/test_tidy.py breaks each of them once.
"""

import argparse
import ast
import pathlib
import re
import subprocess
import sys

# Who may include what: the first row whose pattern fits the including file,
# then what the included path may begin with. Rows go from left to right along
# the flow of data; tests, fuzz and bench stand outside and may look at all.
LAYERS = [
    ("core/base/", ["core/base/"]),
    ("core/io.h", ["core/base/"]),
    ("core/drive.h", ["core/base/", "core/io.h"]),
    ("core/gateway.h", ["core/base/", "core/io.h", "core/http1/head.h"]),
    ("core/http1/", ["core/base/", "core/http1/"]),
    ("core/conn/", ["core/"]),
    ("io/", ["core/base/", "core/io.h", "core/drive.h", "io/"]),
    (
        "sim/",
        ["core/base/", "core/io.h", "core/drive.h", "core/gateway.h", "sim/"],
    ),
    (
        "access/",
        [
            "core/base/",
            "core/io.h",
            "core/http1/",
            "core/conn/access.h",
            "access/",
        ],
    ),
    ("python/ext/", ["core/", "io/", "sim/", "access/", "python/ext/"]),
    ("", [""]),
]

# The C library as core/ may see it: no threads, clocks or signals.
C_LIBRARY = {
    "assert.h",
    "ctype.h",
    "errno.h",
    "inttypes.h",
    "limits.h",
    "stdalign.h",
    "stdarg.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
}
# Other headers, and the only places that may include each.
GUESTS = {
    "llhttp.h": ("core/http1/", "tests/unit/"),
    "uv.h": ("io/", "tests/", "bench/"),
    "Python.h": ("python/ext/python.h",),
    "structmember.h": ("python/ext/python.h",),
}

# What names seen outside their file begin with, by library.
PREFIXES = {
    "core": ("xs_",),
    "io": ("xs_",),
    "sim": ("xs_", "sim_"),
    "access": ("access_",),
}

# Words that may not stand anywhere, in C, and in core/.
LEFTOVERS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
HOMES = re.compile(r"(?<![\w.])/(?:home|root|Users)/\w")
C_BANNED = re.compile(
    r"\b(strcpy|strcat|strncpy|strncat|sprintf|vsprintf|gets|strtok|atoi|atol"
    r"|alloca|setjmp|longjmp|system)\s*\("
)
CORE_BANNED = re.compile(
    r"\b(malloc|calloc|realloc|free|time|rand|getenv)\s*\("
)
HAS_MALLOC = "core/base/mem.c"
# Deprecated in cmocka 2, or a macro of its own there.
CMOCKA_BANNED = re.compile(r"\bassert_(not_)?in_(range|set)\s*\(|\bstop\(\w")

# Bytes of any kind.
NOT_TEXT = ("fuzz/corpus/",)

FILE_MAX = 500
FUNCTION_MAX = 70
COLUMN_MAX = 80
CMAKELISTS_MAX = 40

# Exceptions, (rule, file). The list may only shrink: one that is not needed
# any more is a fault.
EXCEPTIONS = {
    # One machine in nine files, proven whole by tests/contract/test_gateway
    # and tests/sim.
    ("unit-test", "core/conn/abort.c"),
    ("unit-test", "core/conn/access.c"),
    ("unit-test", "core/conn/conn.c"),
    ("unit-test", "core/conn/conn_rx.c"),
    ("unit-test", "core/conn/conn_time.c"),
    ("unit-test", "core/conn/conn_tx.c"),
    ("unit-test", "core/conn/request.c"),
    ("unit-test", "core/conn/response.c"),
    ("unit-test", "core/conn/server.c"),
}


# Where structs say who writes their fields.
ROOMS = ("core/", "io/", "sim/", "access/", "python/ext/")


def written_only_by(text: str):
    """(variable, fields, files) of the groups that say so. A struct is known
    by the last word of its name: `conn` is a struct xs_conn."""
    for struct in re.finditer(r"(?ms)^struct (\w+) \{\n(.*?)^\};", text):
        name = struct[1].rpartition("_")[2]
        groups = re.split(r"(?m)^    /\* Written", struct[2])[1:]
        for group in groups:
            said, _, body = group.partition("*/\n")
            if not said.startswith(" only by"):
                continue
            body = re.sub(r"(?s)/\*.*?\*/", "", body.split("\n\n")[0])
            body = re.sub(r"(?ms)^    struct \{.*?^    \}", "    struct", body)
            fields = set(re.findall(r"(\w+)(?:\[[^]]*\])*(?:;|,)", body))
            yield name, fields, set(re.findall(r"\w+\.c", said))


def imported(text: str, package: str) -> set[str]:
    """The files of the package that one of them imports."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == "xsgi":
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.removeprefix("xsgi."))
    return {f"{package}{name}.py" for name in found}


def reached(ahead: dict[str, set[str]], name: str) -> set[str]:
    """What `name` imports, and what that imports, and so on."""
    found: set[str] = set()
    new = {name}
    while new:
        new = {to for each in new for to in ahead.get(each, ())} - found
        found |= new
    return found


class Tidy:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.faults: list[str] = []
        self.used: set[tuple[str, str]] = set()
        listed = self.run("git", "ls-files", "-co", "--exclude-standard")
        self.files = {
            name: path.read_text(encoding="utf-8")
            for name in sorted(set(listed.splitlines()))
            if (path := root / name).is_file() and not path.is_symlink()
            if not name.startswith(NOT_TEXT)
        }

    def run(self, *command: str) -> str:
        return subprocess.run(
            command, cwd=self.root, check=True, text=True, capture_output=True
        ).stdout

    def fault(self, rule: str, file: str, line: int, what: str) -> None:
        if (rule, file) in EXCEPTIONS:
            self.used.add((rule, file))
        else:
            self.faults.append(f"{file}:{line}: {what} [{rule}]")

    # --- Sources ---

    def check_sources(self) -> None:
        for name, text in self.files.items():
            lines = text.splitlines()
            self.check_text(name, lines)
            if name.endswith((".c", ".h")):
                self.check_c(name, lines)
            elif name.endswith(".py") and text:
                self.check_python(name, text)
            if name.startswith("core/") and name.endswith(".c"):
                self.check_has_unit_test(name)

    def check_text(self, name: str, lines: list[str]) -> None:
        if name.endswith((".c", ".h", ".py")) and len(lines) > FILE_MAX:
            self.fault("length", name, len(lines), f"over {FILE_MAX} lines")
        if name.endswith("CMakeLists.txt"):
            rules = [line for line in lines if not re.search(r"\.c\)?$", line)]
            if len(rules) > CMAKELISTS_MAX:
                what = f"over {CMAKELISTS_MAX} lines that name no source"
                self.fault("length", name, len(lines), what)
        for number, line in enumerate(lines, 1):
            if name != "tools/tidy.py" and LEFTOVERS.search(line):
                self.fault("leftover", name, number, "a leftover: finish it")
            if HOMES.search(line):
                self.fault("machine", name, number, "a path of one machine")

    def check_c(self, name: str, lines: list[str]) -> None:
        base = name.rsplit("/", 1)[-1]
        if not lines or not lines[0].startswith(f"/* {base} - "):
            what = f"the first line is not '/* {base} - what it is. */'"
            self.fault("first-line", name, 1, what)
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMN_MAX:
                self.fault("columns", name, number, f"over {COLUMN_MAX}")
            if C_BANNED.search(line):
                self.fault("banned", name, number, "a banned function")
            if name.startswith("tests/") and CMOCKA_BANNED.search(line):
                self.fault("banned", name, number, "not with cmocka 2")
            if included := re.match(r'\s*#\s*include\s+(["<])(.+)[">]', line):
                self.check_include(name, number, *included.groups())
            core = name.startswith("core/") and name != HAS_MALLOC
            code = line.split("/*")[0]
            if core and CORE_BANNED.search(code) and not line.startswith(" *"):
                what = "core/ asks the backend for time, chance and memory"
                self.fault("banned", name, number, what)
        self.check_c_functions(name, lines)

    # --- Who writes what ---

    def check_writers(self) -> None:
        """A struct that says "Written only by conn_rx.c." above a group of
        its fields is held to it. Who makes and frees it may do that whole."""
        for header, text in self.files.items():
            if header.startswith(ROOMS) and header.endswith(".h"):
                for name, fields, writers in written_only_by(text):
                    self.check_writes(header, name, fields, writers)

    def check_writes(
        self, header: str, name: str, fields: set[str], writers: set[str]
    ) -> None:
        field = rf"\b{name}->({'|'.join(sorted(fields))})\b[\w.\[\]]*"
        write = re.compile(
            rf"{field}(?: (?:[-+*/%|&^]|<<|>>)?= |\+\+|--)"
            rf"|Py_X?SETREF\({field}"
        )
        folder = header.rpartition("/")[0]
        for source, text in self.files.items():
            if source.rpartition("/")[0] != folder or source == header:
                continue
            if source.endswith(".c") and source.rpartition("/")[2] in writers:
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if m := write.search(line):
                    only = " and ".join(sorted(writers))
                    what = f"{name}->{m[1] or m[2]} is written by {only} only"
                    self.fault("writer", source, number, what)

    def check_include(self, name: str, number: int, how: str, what: str):
        if how == '"':
            layer = next(may for start, may in LAYERS if name.startswith(start))
            if what not in self.files:
                self.fault("include", name, number, "not a path from the root")
            elif not what.startswith(tuple(layer)):
                self.fault("layer", name, number, f"may not include {what}")
        elif what in GUESTS:
            if not name.startswith(GUESTS[what]):
                only = f"<{what}> belongs to {' '.join(GUESTS[what])} only"
                self.fault("layer", name, number, only)
        elif name.startswith("core/") and what not in C_LIBRARY:
            self.fault("layer", name, number, f"may not include <{what}>")

    def check_c_functions(self, name: str, lines: list[str]) -> None:
        """clang-format puts a function's braces, and no others, at the
        margin and alone."""
        start = 0
        for number, line in enumerate(lines, 1):
            if line == "{":
                start = number
            elif line == "}" and start and number - start + 2 > FUNCTION_MAX:
                what = f"a function of over {FUNCTION_MAX} lines"
                self.fault("function", name, start - 1, what)

    def check_python(self, name: str, text: str) -> None:
        tree = ast.parse(text)
        if ast.get_docstring(tree) is None:
            self.fault(
                "first-line", name, 1, "the file does not say what it is"
            )
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if node.end_lineno - node.lineno + 1 > FUNCTION_MAX:
                    what = f"a function of over {FUNCTION_MAX} lines"
                    self.fault("function", name, node.lineno, what)

    def check_has_unit_test(self, name: str) -> None:
        test = f"tests/unit/test_{pathlib.PurePath(name).name}"
        if test not in self.files:
            self.fault("unit-test", name, 1, f"has no {test}")

    def check_sources_are_listed(self) -> None:
        for name in self.files:
            if not name.endswith(".c"):
                continue
            folder = pathlib.PurePath(name).parent
            while f"{folder}/CMakeLists.txt" not in self.files:
                folder = folder.parent
            listed = self.files[f"{folder}/CMakeLists.txt"]
            inside = pathlib.PurePath(name).relative_to(folder)
            if not re.search(
                rf"(?m)(^|[\s(,:]){inside.with_suffix('')}\b", listed
            ):
                what = f"is not in {folder}/CMakeLists.txt"
                self.fault("listed", name, 1, what)

    def check_circles(self) -> None:
        """The modules of the package import each other along one way, those
        that do it late included."""
        package = "python/xsgi/"
        ahead = {
            name: imported(text, package)
            for name, text in self.files.items()
            if name.startswith(package) and name.endswith(".py")
        }
        for name in sorted(ahead):
            behind = reached(ahead, name)
            circle = {n for n in behind if name in reached(ahead, n)} - {name}
            if circle:
                what = f"is in a circle with {' '.join(sorted(circle))}"
                self.fault("circle", name, 1, what)

    # --- What was built ---

    def check_build(self, build: pathlib.Path) -> None:
        for part in PREFIXES:
            library = build / part / f"libxsgi_{part}.a"
            for file, line in self.symbols(library):
                self.check_symbol(part, file, *line)
        for module in build.glob("python/xsgi/_xsgi*.so"):
            seen = self.run("nm", "-D", "--defined-only", str(module))
            names = {line.split()[-1] for line in seen.splitlines()}
            if names - {"_init", "_fini"} != {"PyInit__xsgi"}:
                what = f"exports {' '.join(sorted(names))}"
                self.fault("exports", module.name, 1, what)

    def symbols(self, library: pathlib.Path):
        """(object file, (flags, section, name)) of all that is defined."""
        file = ""
        for line in self.run("objdump", "-t", str(library)).splitlines():
            if ":     file format" in line:
                file = line.split(":")[0]
            elif m := re.match(
                r"[0-9a-f]+ (.{7}) (\S+)\s+[0-9a-f]+ +(?:\.\w+ )?(\S+)$", line
            ):
                yield file, m.groups()

    def check_symbol(
        self, part: str, file: str, flags: str, section: str, name: str
    ) -> None:
        writable = re.match(r"\.(data|bss|tdata|tbss)|\*COM\*", section)
        constant = section.startswith(".data.rel.ro")
        named = flags[5] != "d" and not name.startswith(".")
        if part == "core" and named and writable and not constant:
            what = f"core/ has no mutable globals, but there is {name}"
            self.fault("global", f"{part}/{file}", 1, what)
        is_global = flags[0] == "g" and section != "*UND*"
        if is_global and not name.startswith(PREFIXES[part]):
            what = f"{name} is seen outside its file: call it xs_*"
            self.fault("prefix", f"{part}/{file}", 1, what)

    def check_exceptions(self) -> None:
        here = {(rule, file) for rule, file in EXCEPTIONS if file in self.files}
        for rule, file in sorted(here - self.used):
            what = f"is in order now: strike ({rule}, {file}) from EXCEPTIONS"
            self.faults.append(f"{file}:1: {what}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path)
    args = parser.parse_args()
    tidy = Tidy(args.root or pathlib.Path(__file__).resolve().parent.parent)
    tidy.check_sources()
    tidy.check_sources_are_listed()
    tidy.check_writers()
    tidy.check_circles()
    if args.build:
        tidy.check_build(args.build.resolve())
    tidy.check_exceptions()
    print(*tidy.faults, sep="\n", end="\n" if tidy.faults else "")
    print(f"tidy: {len(tidy.files)} files, {len(tidy.faults)} faults")
    return 1 if tidy.faults else 0


if __name__ == "__main__":
    sys.exit(main())
