"""When a client that stops reading is closed, and one that reads slowly is not.

    python bench/stress/deadlines.py --build build/release [--deadline 2]
        [--watch 24] [--rate 1024] [--only xsgi | all]

Method. The server runs with `--timeout-write` 2 s (peers with what they have).
For each path a client with a receive buffer of 4 KiB sends its request, reads
nothing, and is watched in /proc/net/tcp until the server has closed.
Shown is that time; what the application was told and when, where it has a way
to learn it; and the resident memory beyond idle after the end.

    fixed, chunked, close    a generator of 64 KiB events without end, ASGI
                             awaits and WSGI yields, by framing
    list                     one body of 32 MiB in one message, a list of it
    error                    300,000 pipelined requests for an error page
    taken                    64 KiB that the kernel takes, so the response is
                             complete for the application and the server

`slow` reads `--rate` bytes each second of a response of 32 MiB with the
kernel's own buffers: how long it was served, up to `--watch` seconds. It is
asked for twice, since what a peer acknowledges depends on the size of a
segment: with that of loopback, 64 KiB, and with that of an Ethernet, 1,460
bytes. With 1 KiB the kernel is silent for 64 s and for 125 s, so a deadline
below that ends it, whoever sets it: see docs/lifecycle.md.
"""

from __future__ import annotations

import json
import select
import time
from pathlib import Path

from servers import MIB, Running, Server, arguments, chosen

from clients import Client, get

BUFFER = 4096
PATHS = {
    "fixed": ("/stalled/fixed", "1.1"),
    "chunked": ("/stalled/chunked", "1.1"),
    "close": ("/stalled/chunked", "1.0"),
    "list": (f"/body/{32 * MIB}", "1.1"),
    "taken": ("/body/65536", "1.1"),
}
ERRORS = 300_000


def is_open(client: Client) -> bool:
    """Whether the server has its side of this connection still."""
    port, own = client.ports
    for row in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = row.split()
        if words[1].endswith(f":{port:04X}"):
            if words[2].endswith(f":{own:04X}"):
                return words[9] != "0"  # the inode of its descriptor
    return False


def closed_after(client: Client, watch: float) -> float | None:
    began = time.monotonic()
    while not is_open(client) and time.monotonic() - began < 5:
        pass  # it is not accepted yet
    while time.monotonic() - began < watch:
        if not is_open(client):
            return time.monotonic() - began
        time.sleep(0.02)
    return None


def stalled(running: Running, kind: str, watch: float) -> str:
    get(running.port, "/seen")
    idle = running.memory()
    began = time.monotonic_ns()
    with Client(running.port, buffer=BUFFER) as client:
        if kind == "error":
            send_errors(client)
        else:
            path, version = PATHS[kind]
            client.ask(path, version=version)
        after = closed_after(client, watch)
    time.sleep(0.5)
    left = (running.memory() - idle) / MIB
    told = told_of(running, began)
    when = "never" if after is None else f"{after:.2f} s"
    return f"closed {when:>8}  memory left {left:5.2f} MiB  told: {told}"


def told_of(running: Running, began: int) -> str:
    """The notes of how it ended, with their seconds since `began`."""
    found = json.loads(get(running.port, "/seen"))
    words = [
        f"{name} at {(times[0] - began) / 1e9:.2f} s"
        for name, times in found.items()
        if name not in ("tasks", "threads", "sent")
    ]
    return ", ".join(words) or "-"


def send_errors(client: Client) -> None:
    """Requests for error pages, as many as the server takes."""
    batch = b"GET /error HTTP/1.1\r\nHost: bench\r\n\r\n" * 1000
    client.sock.setblocking(False)
    for _ in range(ERRORS // 1000):
        left = batch
        while left:
            try:
                left = left[client.sock.send(left) :]
            except BlockingIOError:
                if not select.select([], [client.sock], [], 0.5)[1]:
                    return


def slow(running: Running, segment: int, rate: int, watch: float) -> str:
    """`rate` bytes each second."""
    began = time.monotonic()
    with Client(running.port, segment=segment) as client:
        client.ask(f"/chunks/512/{64 * 1024}")
        client.sock.settimeout(1)
        while time.monotonic() - began < watch:
            time.sleep(1)
            if not is_open(client):
                return f"cut after {time.monotonic() - began:.0f} s"
            client.sock.recv(rate)
        return f"served for {watch:.0f} s"


def with_deadline(server: Server, seconds: int) -> Server:
    if server.module != "xsgi":
        return server
    more = ["--timeout-write", str(seconds)]
    return Server(server.name, server.interface, server.command + more,
                  server.module)  # fmt: skip


def main() -> None:
    parser = arguments(__doc__, deadline=2, watch=24, rate=1024)
    parser.add_argument("--paths", default="", help="by comma")
    options = parser.parse_args()
    names = [*PATHS, "error", "slow"]
    names = options.paths.split(",") if options.paths else names
    for server in chosen(options):
        server = with_deadline(server, options.deadline)
        with Running(server, options.build) as running:
            for kind in names:
                if kind == "slow":
                    text = "; ".join(
                        slow(running, segment, options.rate, options.watch)
                        for segment in (0, 1460)
                    )
                else:
                    text = stalled(running, kind, options.watch)
                print(f"{server!s:16} {kind:8} {text}", flush=True)


if __name__ == "__main__":
    main()
