"""One table: how servers behave when streams are under stress.

    python bench/stress/table.py --build build/release [--only all]

Method. Each server in turn, in a process of its own, goes through what the
other scripts here measure, in short form; see there. ✗ is a figure that never
came. The rows:

    readers 4, 100   growth in MiB: slow readers of 16 MiB, of 4 MiB each
    stalled 100      growth in MiB: 100 clients that read nothing of 32 MiB
    upload, chunked  growth in MiB: 4 clients send 16 MiB, by length, in chunks
    told             ms from a reset until the application knows, p50
    closed           s until a client that reads nothing is closed, with
                     defaults, watched for 40 s
    writes           for a fixed response / three pieces / sixteen pipelined
    idle             bytes of memory for each of 2,000 connections that had one
                     response
    stop             SIGTERM with five requests of 2 s running: how many are
                     answered, and the seconds until the process has ended
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable

import deadlines
import endings
import slow_readers
import slow_uploads
import writes
from servers import MIB, Running, arguments, chosen

import clients
from apps import digest_of
from clients import Client, together

WATCH_S = 40


def readers(running: Running, count: int, events: int) -> str:
    got = slow_readers.measure(running, count, events)
    bad = got.wrong(digest_of(events))
    return f"{got.growth / MIB:.1f}" + (" ✗" if bad else "")


def stalled(running: Running) -> str:
    clients.get(running.port, "/body/1")
    time.sleep(0.5)
    idle = running.memory()
    running.forget_peak()
    found = [Client(running.port) for _ in range(100)]
    for client in found:
        client.ask("/events/512")
    time.sleep(3)
    growth = running.peak() - idle
    for client in found:
        client.reset()
    return f"{growth / MIB:.1f}"


def upload(kind: str) -> Callable[[Running], str]:
    size = 16 * MIB

    def measure(running: Running) -> str:
        got = slow_uploads.measure(running, kind, 4, size)
        bad = got.wrong(slow_uploads.digest_of(size // slow_uploads.PIECE))
        return f"{got.growth / MIB:.1f}" + (" ✗" if bad else "")

    return measure


def told(running: Running) -> str:
    kind = "send" if running.server.interface == "asgi" else "close"
    text = endings.measure(running, kind, 20)
    return text.split()[1] if text.startswith("p50") else f"{text} ✗"


def closed(running: Running) -> str:
    with Client(running.port, buffer=deadlines.BUFFER) as client:
        client.ask("/stalled/chunked")
        after = deadlines.closed_after(client, WATCH_S)
    return "no ✗" if after is None else f"{after:.1f}"


def calls(running: Running) -> str:
    return " / ".join(
        f"{writes.measure(running, kind, 32)['writes']:.3g}"
        for kind in writes.KINDS
    )


def idle(running: Running) -> str:
    clients.get(running.port, "/body/1")
    time.sleep(0.5)
    before = running.memory()
    found = [Client(running.port) for _ in range(2000)]
    for client in found:
        client.ask("/body/100")
        client.body()
    time.sleep(0.5)
    grown = running.memory() - before
    for client in found:
        client.sock.close()
    return f"{grown / 2000:.0f}"


def stop(running: Running) -> str:
    def ask(_: int) -> bytes:
        with Client(running.port) as client:
            client.ask("/wait/2000")
            return client.body()

    def end(_: int) -> float:
        time.sleep(0.7)
        began = time.monotonic()
        os.kill(running.process.pid, signal.SIGTERM)
        try:
            running.process.wait(WATCH_S)
        except subprocess.TimeoutExpired:
            return -1
        return time.monotonic() - began

    found = together(6, lambda i: end(i) if i == 5 else ask(i))
    answered = sum(each == b"ok" for each in found[:5])
    took = "never ✗" if found[5] == -1 else f"{found[5]:.1f} s"
    return f"{answered} of 5; {took}"


ROWS: dict[str, Callable[[Running], str]] = {
    "readers 4": lambda running: readers(running, 4, 256),
    "readers 100": lambda running: readers(running, 100, 64),
    "stalled 100": stalled,
    "upload": upload("length"),
    "chunked": upload("chunked"),
    "told": told,
    "closed": closed,
    "writes": calls,
    "idle": idle,
    "stop": stop,
}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", default=",".join(ROWS))
    options = parser.parse_args()
    clients.PATIENCE = 30
    for server in chosen(options):
        print(f"\n{server}", flush=True)
        for row in options.rows.split(","):
            try:
                with Running(server, options.build) as running:
                    text = ROWS[row](running)
            except (OSError, ValueError, KeyError, IndexError) as error:
                text = f"✗ {error!r}"
            print(f"  {row:12} {text}", flush=True)


if __name__ == "__main__":
    main()
