"""System calls that write, per response.

    python bench/stress/writes.py --build build/release [--requests 64]
        [--only xsgi,uvicorn | all]

Method. strace attaches to the running server, counts `write`, `writev`,
`sendto` and `sendmsg` on sockets over so many requests on one connection, one
after the other, and is taken away again; all calls of that time are counted,
too, with those that only wait. `fixed` is one body of 100 bytes, `three` the
same in three messages (ASGI) or by a generator (WSGI) without a wait between
them, `sixteen` are requests for `fixed`, sixteen in one write of the client:
the figure is per sixteen responses. A server that loses its connection is
asked again on a new one.
"""

from __future__ import annotations

import argparse
import collections
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from servers import Running, arguments, chosen

from clients import Client

KINDS = {"fixed": ("/body/100", 1), "three": ("/parts/3", 1),
         "sixteen": ("/body/100", 16)}  # fmt: skip
WRITES = ("write", "writev", "sendto", "sendmsg")
CALL = re.compile(r"^\d+\s+(?:\[pid\s+\d+\]\s+)?(\w+)\((\d+<socket:)?")


def ask(port: int, path: str, row: int, count: int) -> None:
    """So many times `row` requests in one write."""
    batch = f"GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode() * row
    done = 0
    while done < count:
        with Client(port) as client:
            try:
                while done < count:
                    client.sock.sendall(batch)
                    for _ in range(row):
                        client.body()
                    done += 1
            except (ConnectionError, KeyError):
                done += 1


def traced(pids: list[int], out: Path) -> subprocess.Popen[bytes]:
    command = ["strace", "-f", "-y", "-qq", "-e", "signal=none", "-o", str(out)]
    for pid in pids:
        command += ["-p", str(pid)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    time.sleep(1)  # until it has attached to all of them
    return process


def measure(running: Running, kind: str, count: int) -> dict[str, float]:
    """Writes, and calls of any kind, for each batch."""
    path, row = KINDS[kind]
    ask(running.port, path, row, 4)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "calls"
        tracer = traced(running.pids(), out)
        ask(running.port, path, row, count)
        tracer.send_signal(signal.SIGINT)
        tracer.wait(20)
        lines = out.read_text().splitlines()
    calls: collections.Counter[str] = collections.Counter()
    for line in lines:
        found = CALL.match(line)
        if found is not None:
            calls["all"] += 1
            calls["writes"] += found[1] in WRITES and found[2] is not None
    return {"writes": calls["writes"] / count, "all": calls["all"] / count}


def main() -> None:
    parser = arguments(__doc__, requests=64)
    options: argparse.Namespace = parser.parse_args()
    if shutil.which("strace") is None:
        parser.error("strace is not installed")
    print(f"{'server':16}" + "".join(f"{kind:>16}" for kind in KINDS))
    print(" " * 16 + f"{'writes    all':>16}" * len(KINDS))
    for server in chosen(options):
        row = f"{server!s:16}"
        with Running(server, options.build) as running:
            for kind in KINDS:
                got = measure(running, kind, options.requests)
                row += f"{got['writes']:9.2f} {got['all']:6.2f}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
