#!/usr/bin/env python3
"""Write the first inputs of the fuzz targets.

    fuzz/seeds.py OUT

makes a folder in OUT for each target, of the cases in tests/http and of
a few lists below, which is where a corpus begins: `fuzz/run --merge` adds what
reaches more.
"""

import itertools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KNOBS = 16
CASE = re.compile(r"```bytes\n(.*?)```", re.DOTALL)
REPEATED = re.compile(r"(.+)\{(\d+)\}")
ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|.)")
ESCAPES = {"r": "\r", "n": "\n", "t": "\t", "\\": "\\"}
CASE_MAX = 4096


def unescape(line: str) -> bytes:
    def one(match: re.Match[str]) -> str:
        code = match[1]
        return ESCAPES.get(code) or chr(int(code[1:], 16))

    return ESCAPE.sub(one, line).encode("latin-1")


def cases() -> list[bytes]:
    """The bytes of all cases that are not long."""
    found = []
    for path in sorted((ROOT / "tests/http").glob("*.md")):
        if path.name == "README.md":
            continue
        for block in CASE.findall(path.read_text(encoding="utf-8")):
            text = b""
            for line in block.splitlines():
                repeated = REPEATED.fullmatch(line)
                if repeated:
                    text += unescape(repeated[1]) * int(repeated[2])
                else:
                    text += unescape(line)
            if len(text) <= CASE_MAX:
                found.append(text)
    return found


def write(folder: pathlib.Path, inputs: list[bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(inputs):
        (folder / f"seed-{number:04}").write_bytes(data)


def requests() -> list[bytes]:
    """The cases, each cut in one of some ways, for fuzz_parser.c; some of them
    once more, under limits that are low."""
    ways = [
        bytes(KNOBS),
        b"\x03\x00" + bytes(range(1, KNOBS - 1)),
        b"\x02\x00" + bytes([0x41, 0x20, 0x00] * 5)[: KNOBS - 2],
    ]
    tight = b"\x01\x0f" + bytes(KNOBS - 2)
    found = cases()
    return [
        text + way
        for text, way in zip(found, itertools.cycle(ways), strict=False)
    ] + [text + tight for text in found[::8]]


def responses() -> list[bytes]:
    """Records for fuzz_writer.c."""
    end, part = b"\x1e", b"\x1f"
    heads = [
        [b"S200" + part],
        [b"S404" + part + b"Nope", b"Hcontent-type" + part + b"text/plain"],
        [b"S204" + part, b"HContent-Length" + part + b" 5 "],
        [b"S304" + part, b"Hcontent-length" + part + b"5"],
        [b"S200" + part, b"Hcontent-length" + part + b"11"],
        [b"S200" + part, b"Hconnection" + part + b"close"],
        [b"S200" + part, b"HConnection" + part + b"x-odd, Keep-Alive"],
        [b"S200" + part, b"Htransfer-encoding" + part + b" chunked"],
        [b"S299" + part + b"Odd", b"HDate" + part + b"x", b"HServer" + part],
        [b"S500" + part, b"Hx" + part + b"y", b"S200" + part],
        [b"C", b"S200" + part],
        [b"S99" + part, b"S200" + part + b"\n", b"H x" + part, b"S201" + part],
    ]
    bodies = [
        [b"Ehello world"],
        [b"Bhello", b"B world", b"E"],
        [b"P70000", b"W5000", b"L hello", b"P9", b"Xend"],
        [b"P20000", b"W1", b"Bx", b"W30000", b"X"],
        [b"Q100", b"W1", b"Bx", b"W90", b"Q20000", b"Z9"],
        [b"F0", b"Bhello", b"F1", b"Bhello", b"F2", b"Ehello"],
        [b"K", b"Bhello", b"E world", b"Ux-sum" + part + b"1"],
        [b"K-", b"Bhello", b"E", b"Tx-sum" + part + b"1", b"U"],
        [
            b"K",
            b"E",
            b"Ta" + part,
            b"W9",
            b"Tcontent-x" + part + b"x",
            b"F0",
            b"Tb" + part + b"2" + part + b"c" + part,
            b"U",
        ],
    ]
    heads.append(
        [
            b"Ilink" + part + b"</a>",
            b"I",
            b"Iupgrade" + part + b"x",
            b"C",
            b"Ia" + part + b"b" + part + b"c",
            *heads[1],
            b"Ia" + part,
        ]
    )
    found = [[b"R%d" % number] for number in range(24)]
    found += [[b"F%d" % n, b"S200" + part, b"F1", b"R1"] for n in range(4)]
    found += [head + body for head in heads for body in bodies]
    found += [
        head + body + [b"N"] + other + [b"E"]
        for head, other in itertools.pairwise(heads)
        for body in bodies[:2]
    ]
    knobs = [bytes([n] * 8 + [1, 2, 3, 4, n % 4, 0, 0, 0]) for n in range(8)]
    return [
        end.join(records) + knobs[number % len(knobs)]
        for number, records in enumerate(found)
    ]


TEXTS = r"""
Aexample.com
Aexample.com:80
A[::1]:8443
A[2001:db8::1:2:3]
A[::ffff:1.2.3.4]
A[1:2:3:4:5:6:7:8]
A[12345::]
A[1::2::3]
A[1:2:3:4:5:6:7::]
A[::1.2.3.256]
A[v1.a:b]
Aa%20b:
Auser@host
A1.2.3.4:65536
TGET /a?b=c?d
TGET http://example.com
TGET https://[::1]:80/x?y
TGET http://a?b
TOPTIONS *
TOPTIONS http://example.com
TGET *
TGET //x/y
TGET a:443
N0
N18446744073709551615
N18446744073709551616
N007
N+1
C5
C00000a;b=c
Cffffffffffffffff
C10000000000000000
C5;a="b c"
C 5
Lclose, keep-alive ,,
L a
W X-Token
Wa\tb\x80
D\x00\x00\x00\x00\x00\x00\x00\x7f
D12345678
F9.9.9.9\x1f8.8.8.8, 10.0.0.1
F"\x1f2001:db8::1, [1::1]:80
Ffor=1\x1f9.9.9.9:81,,1.1.1.1
Gfor=9.9.9.9;proto=https\x1ffor=8.8.8.8;proto=http, for=10.0.0.1
Gfor="a\x1ffor=9.9.9.9;by=x, for=1.1.1.1
"""

LOGS = r"""
GET /x HTTP/1.1
"quoted" back\\slash
\x1b[31m red \x7f
\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80
\xc0\x80 \xed\xa0\x80 \xf5\x80\x80\x80 \xc2\x85
Basic dXNlcjpwYXNz
basic dTpw
Basic dXNlcg==
"""


def lines(text: str) -> list[bytes]:
    return [unescape(line) for line in text.strip().splitlines()]


def texts() -> list[bytes]:
    days = [0, 951782400, 951868800, 4107456000, 4107542400, 1709164800]
    return lines(TEXTS) + [
        b"D" + (day * 10**9).to_bytes(8, "little") for day in days
    ]


def conversations() -> list[bytes]:
    """The cases as what a client of fuzz_world.c says: in calm weather, with
    some choices of its own, and while the memory fails once."""
    mark = b"\n--\n"
    odd = bytes([0, 0, 0, 0, 1, 2, 3] * 8) + mark
    found = []
    for number, text in enumerate(cases()):
        late = bytes(number % 50) + b"\xff"
        ways = [mark * 4, odd * 3 + mark, b"!" + mark * 3 + late + mark]
        found.append(ways[number % len(ways)] + text)
    return found


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1])
    write(out / "parser", requests())
    write(out / "writer", responses())
    write(out / "text", texts())
    write(out / "log", lines(LOGS))
    write(out / "world", conversations())
