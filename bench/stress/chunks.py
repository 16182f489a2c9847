"""Throughput of responses in pieces, and the memory of one huge piece.

    python bench/stress/chunks.py --build build/release [--rounds 5]
        [--mib 200] [--body 1000] [--only xsgi,uvicorn,streams,writev | all]

Method. 10 and 100 pieces of 1 KiB, 1 MiB and 10 MiB, by length, from the same
bytes object; one client, one connection, into one buffer of a MiB, until
`--mib` MiB have come (of small responses 2,000). The servers take turns, round
after round. Shown are the median MiB/s, its ratio to that of asyncio's own
streams (write, drain), and the server's CPU time for a MiB, which a busy
machine disturbs less. `writev` is a loop around that call in C, without a
parser. Then one body of `--body` MiB in one message, or a list of one: the
most memory, over that body and what is resident when idle.
"""

from __future__ import annotations

import statistics
import time

from servers import MIB, Running, Server, arguments, chosen

from clients import Client

KIB = 1024
SIZES = [(n, s) for s in (KIB, MIB, 10 * MIB) for n in (10, 100)]


def specials(options: object) -> list[Server]:
    port = str(options.port)
    program = str(options.build / "bench/writev_loop")
    found = [
        Server("streams", "asyncio", ["streams", port], ""),
        Server("writev", "c", [program, port], ""),
    ]
    words = options.only.split(",")
    return [each for each in found if "all" in words or each.name in words]


def drain(client: Client, buffer: bytearray) -> int:
    """Read one response; the bytes of its body."""
    length = int(client.head()[b"content-length"])
    left = length - len(client.rest)
    client.rest = b""
    while left > 0:
        got = client.sock.recv_into(buffer, min(left, len(buffer)))
        if not got:
            raise ConnectionError(f"{left} bytes are missing")
        left -= got
    return length


def measure(
    running: Running, count: int, size: int, total: int
) -> tuple[float, float]:
    """MiB/s, and CPU microseconds for a MiB."""
    buffer = bytearray(MIB)
    responses = max(1, min(2000, total // (count * size)))
    path = f"/chunks/{count}/{size}"
    with Client(running.port) as client:
        client.ask(path)
        drain(client, buffer)
        cpu, began, done = running.cpu(), time.monotonic(), 0
        for _ in range(responses):
            client.ask(path)
            done += drain(client, buffer)
        seconds = time.monotonic() - began
        cpu = running.cpu() - cpu
    return done / MIB / seconds, cpu / 1000 * MIB / done


def huge(running: Running, size: int) -> str:
    with Client(running.port) as client:
        client.ask("/body/1")
        client.body()
        time.sleep(0.3)
        idle = running.memory()
        running.forget_peak()
        client.ask(f"/body/{size}")
        drain(client, bytearray(MIB))
    peak = running.peak()
    return (
        f"idle {idle / MIB:.1f}, peak {peak / MIB:.1f} MiB:"
        f" {(peak - idle) / size:.4f} of the body"
    )


def turns(
    servers: list[Server], options: object
) -> dict[tuple[str, int, int], list[tuple[float, float]]]:
    found: dict[tuple[str, int, int], list[tuple[float, float]]] = {}
    for _ in range(options.rounds):
        for server in servers:
            with Running(server, options.build) as running:
                for count, size in SIZES:
                    got = measure(running, count, size, options.mib * MIB)
                    found.setdefault((str(server), count, size), []).append(got)
    return found


def main() -> None:
    parser = arguments(__doc__, rounds=5, mib=200, body=1000)
    options = parser.parse_args()
    servers = chosen(options) + specials(options)
    found = turns(servers, options)
    for count, size in SIZES:
        print(f"{count} x {size // KIB} KiB")
        base = found.get(("streams-a", count, size))
        for server in servers:
            rows = found[(str(server), count, size)]
            rate = statistics.median(rate for rate, _ in rows)
            cpu = statistics.median(cpu for _, cpu in rows)
            ratio = ""
            if base:
                ratio = f"{rate / statistics.median(r for r, _ in base):5.2f}"
            print(f"  {server!s:16} {rate:8.0f} MiB/s {ratio:>6}"
                  f" {cpu:8.0f} us/MiB")  # fmt: skip
    for server in servers:
        if options.body and server.interface in ("asgi", "wsgi"):
            with Running(server, options.build) as running:
                print(f"  {server!s:16} {huge(running, options.body * MIB)}")


if __name__ == "__main__":
    main()
