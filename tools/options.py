#!/usr/bin/env python3
"""Write the tables of docs/options.md from the sources of the command.

tools/options.py            after an option was added or changed
tools/options.py --check    whether that has been done
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/options.md"
BEGIN = "<!-- written by tools/options.py: {} -->\n"
END = "<!-- end -->\n"

sys.path.insert(0, str(ROOT / "python"))

from xsgi import config, foreign, kinds, show, sources  # noqa: E402


def tables() -> str:
    return "".join(table(group) for group in config.GROUPS)


def table(group: str) -> str:
    rows = [
        row(option)
        for option in config.options()
        if option.metadata["group"] == group
    ]
    head = "| option | default | |\n|---|---|---|\n"
    return f"\n### {group}\n\n{head}{''.join(rows)}"


def row(option) -> str:
    meta = option.metadata
    text, _, default = meta["help"].rstrip("]").partition(" [default: ")
    default = default or show.default(option)
    if meta["kind"] is kinds.flag:
        default = "yes" if option.default else "no"
    flags = sources.flags_of(option)
    if meta["kind"] is kinds.flag:
        flags.append("--no-" + flags[-1][2:])
    metavar = meta["kind"].metavar.replace("|", "\\|")
    names = ", ".join(f"`{flag}`" for flag in flags)
    shown = f"{names[:-1]} {metavar}`" if metavar else names
    return f"| {shown} | {default} | {text} |\n"


def renames() -> str:
    rows = (
        f"| `{old}` | `{new}` |\n" for old, new in foreign.renamed().items()
    )
    return f"\n| there | here |\n|---|---|\n{''.join(rows)}"


def renewed(page: str) -> str:
    for name, text in (("options", tables()), ("renames", renames())):
        begin = BEGIN.format(name)
        before, mark, rest = page.partition(begin)
        _, end, after = rest.partition(END)
        if not mark or not end:
            sys.exit(f"options: {PAGE} has lost its marks")
        page = f"{before}{begin}{text}\n{end}{after}"
    return page


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    new = renewed(page)
    if args.check:
        if page != new:
            print("options: docs/options.md is old: run tools/options.py")
        return int(page != new)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
