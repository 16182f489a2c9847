"""How soon an application learns that its blocked response is over.

    python bench/stress/endings.py --build build/release [--rounds 200]
        [--flat 10000] [--only xsgi,uvicorn | all]

Method. A client with a small receive buffer asks for an endless response,
reads the head and waits until the application is blocked. Then, by kind:

    cancel   the application itself cancels the task that is in `send`:
             until CancelledError is seen there
    send     the client resets: until `send` raises an OSError
    receive  the client resets while another task waits in `receive`: until
             that sees http.disconnect
    close    WSGI, the client resets: until `close()` of the iterable is called

Times are of CLOCK_MONOTONIC, taken by the client before it resets and by the
application. A round that is not told within 2 s counts as lost. With `--flat`
so many endings of each kind follow, 16 at a time and without waiting for the
application to be blocked, and memory, descriptors, tasks (WSGI: threads) are
shown after the first tenth and after all.
"""

from __future__ import annotations

import json
import statistics
import time

from servers import MIB, Running, arguments, chosen

from clients import Client, get, together

KINDS = {
    "asgi": {"cancel": "cancellederror", "send": "oserror",
             "receive": "disconnect"},
    "wsgi": {"close": "close"},
}  # fmt: skip
LOST_S = 2.0
BUFFER = 4096


def begin(port: int, kind: str) -> Client:
    client = Client(port, buffer=BUFFER)
    client.ask(f"/endless/{kind}")
    client.head()
    return client


def noted(port: int, name: str) -> dict[str, list[int]]:
    """What the application noted, with that name; {} if it never comes."""
    end = time.monotonic() + LOST_S
    found: dict[str, list[int]] = {}
    while time.monotonic() < end:
        found.update(json.loads(get(port, "/seen")))
        if name in found:
            return found
        time.sleep(0.01)
    return {}


def once(port: int, kind: str, name: str) -> float | None:
    """Milliseconds until it is told; None: it was not."""
    get(port, "/seen")
    client = begin(port, kind)
    time.sleep(0.04)
    reset = time.monotonic_ns()
    if kind != "cancel":
        client.reset()
    found = noted(port, name)
    client.sock.close()
    if not found:
        return None
    since = found["cancel"][0] if kind == "cancel" else reset
    return (found[name][0] - since) / 1e6


def measure(running: Running, kind: str, rounds: int) -> str:
    name = KINDS[running.server.interface][kind]
    told, lost = [], 0
    for i in range(rounds):
        took = once(running.port, kind, name)
        if took is not None:
            told.append(took)
        else:
            lost += 1
        if lost > 2 and lost == i + 1:
            return "never"
    told.sort()
    words = (
        f"p50 {statistics.median(told):6.2f}  p99"
        f" {told[int(len(told) * 0.99)]:6.2f}  max {told[-1]:6.2f} ms"
    )
    return words + (f"  {lost} lost" if lost else "")


def end(port: int, kind: str) -> None:
    client = begin(port, kind)
    if kind == "cancel":
        client.sock.settimeout(0.1)
        try:
            while client.sock.recv(1 << 20):
                pass
        except OSError:
            pass
        client.sock.close()
    else:
        client.reset()


def state(running: Running) -> list[object]:
    time.sleep(1)
    found = json.loads(get(running.port, "/seen"))
    live = found.get("tasks", found.get("threads"))[0]
    return [f"{running.memory() / MIB:.2f} MiB", running.descriptors(), live]


def flat(running: Running, kind: str, count: int) -> str:
    def some(many: int) -> None:
        together(16, lambda _: [end(running.port, kind) for _ in
                                range(many // 16)])  # fmt: skip

    some(count // 10)
    before = state(running)
    some(count)
    return f"{before} -> {state(running)}"


def main() -> None:
    options = arguments(__doc__, rounds=200, flat=0).parse_args()
    for server in chosen(options):
        with Running(server, options.build) as running:
            for kind in KINDS[server.interface]:
                text = measure(running, kind, options.rounds)
                if options.flat:
                    text += f"\n{'':25} {flat(running, kind, options.flat)}"
                print(f"{server!s:16} {kind:8} {text}", flush=True)


if __name__ == "__main__":
    main()
