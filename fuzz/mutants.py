#!/usr/bin/env python3
"""Plants bugs, and shows that the committed corpora find them.

    mutants.py plant SOURCE OUT     write mutated copies to OUT
    mutants.py files                which files these are
    mutants.py check BIN CORPUS     run BIN/mutant_TARGET on CORPUS/TARGET for
                                    each bug of the target, and for none

A target that cannot fail is worth nothing. All bugs are in the copies at once,
each behind `fuzz_mutant == N`, N from 1; FUZZ_MUTANT=N brings one to life
(mutants.c). Where the code no longer has a bug's text, let it follow.
"""

import os
import pathlib
import re
import subprocess
import sys

# Target, what is wrong, file, old text, new text. `ON` is the condition.
MUTANTS = [
    (
        "parser",
        "two hosts",
        "core/http1/rules.c",
        "    if (found->hosts > 1 ||",
        "    if ((found->hosts > 1 && !ON) ||",
    ),
    (
        "parser",
        "smuggling by HTTP/1.0",
        "core/http1/rules.c",
        "        if (seen->has_length || head->minor == 0) {",
        "        if (seen->has_length || (head->minor == 0 && !ON)) {",
    ),
    (
        "parser",
        "a value that is cut loses what was before",
        "core/http1/parser.c",
        "    xs_slice_extend(&field->value, begin, len);",
        "    if (ON) {\n        field->value.data = NULL;\n    }\n"
        "    xs_slice_extend(&field->value, begin, len);",
    ),
    (
        "parser",
        "slices stay behind when the block moves",
        "core/http1/parser.c",
        "        xs_slice_move(&head->fields[i].value, delta);",
        "        xs_slice_move(&head->fields[i].value, ON ? 0 : delta);",
    ),
    (
        "parser",
        "the limit of a body is forgotten between chunks",
        "core/http1/parser.c",
        "    if (ll->content_length > max - parser->body_total) {",
        "    if (ll->content_length > max - (ON ? 0 : parser->body_total)) {",
    ),
    (
        "writer",
        "the last chunk is missing when it comes alone",
        "core/http1/writer.c",
        "        .terminator = chunked && !more && !writer->trailing,",
        "        .terminator = chunked && !more && !writer->trailing &&"
        " !(ON && !with_data),",
    ),
    (
        "writer",
        "an answer to HEAD has a body",
        "core/http1/writer.c",
        "    if (writer->bodiless || writer->is_head) {\n"
        "        return XS_FRAMING_NONE;",
        "    if (writer->bodiless || (writer->is_head && !ON)) {\n"
        "        return XS_FRAMING_NONE;",
    ),
    (
        "writer",
        "two lengths",
        "core/http1/writer.c",
        "    if (writer->has_length || xs_digits_get(value, &length) != 0) {",
        "    if ((writer->has_length && !ON) ||\n"
        "        xs_digits_get(value, &length) != 0) {",
    ),
    (
        "writer",
        "what was lent is not given back when it was copied",
        "core/http1/writer.c",
        "    if (lent->release != NULL && !plan.lend) {",
        "    if (lent->release != NULL && !plan.lend && !ON) {",
    ),
    (
        "writer",
        "trailers nobody asked for",
        "core/http1/aside.c",
        "    if (writer->sends_trailers) {\n",
        "    if (writer->sends_trailers || ON) {\n",
    ),
    (
        "writer",
        "only the last trailers are sent",
        "core/http1/aside.c",
        '    if (!more) {\n        out = put(out, XS_LIT("\\r\\n"));',
        "    if (more && ON) {\n        out = begin;\n    }\n"
        '    if (!more) {\n        out = put(out, XS_LIT("\\r\\n"));',
    ),
    (
        "writer",
        "a hint loses its last field",
        "core/http1/aside.c",
        "    out = put_fields(out, fields, count);\n"
        '    out = put(out, XS_LIT("\\r\\n"));',
        "    out = put_fields(out, fields, count - ON);\n"
        '    out = put(out, XS_LIT("\\r\\n"));',
    ),
    (
        "writer",
        "HTTP/1.0 is given a hint",
        "core/http1/aside.c",
        "    if (err != 0 || count == 0 || writer->minor == 0) {",
        "    if (err != 0 || count == 0 || (writer->minor == 0 && !ON)) {",
    ),
    (
        "writer",
        "a trailer of any name",
        "core/http1/aside.c",
        "        return false; /* how the content is to be taken */",
        "        return ON; /* how the content is to be taken */",
    ),
    (
        "text",
        "a group of five digits",
        "core/http1/target.c",
        "        if (i == start || i - start > 4) {",
        "        if (i == start || i - start > 4 + ON) {",
    ),
    (
        "text",
        "port 65536",
        "core/http1/target.c",
        "        if (port > PORT_MAX) {",
        "        if (port > PORT_MAX + ON) {",
    ),
    (
        "text",
        "a fragment",
        "core/http1/target.c",
        "    if (memchr(text.data, '#', text.len) != NULL) {",
        "    if (!ON && memchr(text.data, '#', text.len) != NULL) {",
    ),
    (
        "text",
        "a number wraps",
        "core/http1/digits.c",
        "        if (digit > 9 || value > (UINT64_MAX - digit) / 10) {",
        "        if (digit > 9 ||\n"
        "            (value > (UINT64_MAX - digit) / 10 && !ON)) {",
    ),
    (
        "text",
        "centuries have leap days",
        "core/http1/date.c",
        "in_era / 36524 -",
        "(ON ? 0 : in_era / 36524) -",
    ),
    (
        "text",
        "everybody is trusted",
        "core/http1/forwarded.c",
        "    return hop == XS_HOP_TRUSTED;",
        "    return hop == XS_HOP_TRUSTED || ON;",
    ),
    (
        "log",
        "DEL",
        "access/text.c",
        "c == '\\\\' || c >= 0x7f) {",
        "c == '\\\\' || c >= 0x7f + ON) {",
    ),
    (
        "log",
        "C1 controls",
        "access/text.c",
        "        } else if (at[0] == 0xc2 && at[1] < 0xa0) {",
        "        } else if (!ON && at[0] == 0xc2 && at[1] < 0xa0) {",
    ),
    (
        "log",
        "overlong forms of UTF-8",
        "access/text.c",
        "    return code < least[len] || code > 0x10ffff ||",
        "    return (code < least[len] && !ON) || code > 0x10ffff ||",
    ),
    (
        "world",
        "the connection lives on behind Connection: close",
        "core/conn/response.c",
        "    if (!keep) {",
        "    if (!keep && !(ON && !rest)) {",
    ),
    (
        "world",
        "a pipelined request waits for more bytes",
        "core/conn/conn_rx.c",
        "    return conn->state == XS_CONN_IDLE && "
        "conn->rx.parsed < conn->rx.end &&",
        "    return !ON && conn->state == XS_CONN_IDLE &&\n"
        "           conn->rx.parsed < conn->rx.end &&",
    ),
    (
        "world",
        "a short write counts as a whole one",
        "core/conn/conn_tx.c",
        "    xs_queue_consume(queue, (size_t)took);",
        "    xs_queue_consume(queue, ON ? offered : (size_t)took);",
    ),
    (
        "world",
        "the application is not told of a reset",
        "core/conn/conn.c",
        "    req->gateway->ops->on_abort(req, why);",
        "    if (!ON) {\n        req->gateway->ops->on_abort(req, why);\n    }",
    ),
]

TARGETS = sorted({target for target, *_ in MUTANTS})
FILES = sorted({file for _, _, file, _, _ in MUTANTS})


def plant(source: pathlib.Path, out: pathlib.Path) -> None:
    texts = {file: (source / file).read_text() for file in FILES}
    for number, (_, _, file, old, new) in enumerate(MUTANTS, start=1):
        if texts[file].count(old) != 1:
            print(
                f"mutants.py: number {number} is not planted: {file} has its"
                f" text {texts[file].count(old)} times: {old.strip()}",
                file=sys.stderr,
            )
            continue
        condition = f"(fuzz_mutant == {number})"
        texts[file] = texts[file].replace(
            old, re.sub(r"\bON\b", condition, new)
        )
    for file, text in texts.items():
        path = out / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"extern int fuzz_mutant;\n{text}")


def fails(binary: pathlib.Path, corpus: pathlib.Path, number: int) -> bool:
    done = subprocess.run(
        [binary, corpus],
        env={**os.environ, "FUZZ_MUTANT": str(number)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode != 0


def check(folder: pathlib.Path, corpora: pathlib.Path) -> int:
    missed = 0
    runs = [(target, 0, "nothing") for target in TARGETS]
    runs += [(row[0], number, row[1]) for number, row in enumerate(MUTANTS, 1)]
    for target, number, what in runs:
        found = fails(folder / f"mutant_{target}", corpora / target, number)
        ok = found == (number > 0)
        missed += not ok
        print(
            f"{'ok  ' if ok else 'FAIL'} {target:7} {number:2}"
            f" {'found' if found else 'clean'}: {what}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    if command == "plant":
        plant(*map(pathlib.Path, paths))
    elif command == "check":
        sys.exit(check(*map(pathlib.Path, paths)))
    else:
        print(";".join(FILES), end="")
