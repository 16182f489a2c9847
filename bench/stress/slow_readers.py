"""Memory of a server whose clients read slowly.

    python bench/stress/slow_readers.py --build build/release [--clients 4]
        [--events 1024] [--only xsgi,uvicorn | all]

Method. Each client reads a response of 1,024 events of 64 KiB, 64 MiB, in
reads of 16 KiB that are 1 ms apart, and checks length and SHA-256. No two
events have the same bytes or the same memory: an application that sends one
object again and again needs no memory however much is queued. Idle is the
resident memory after two quick clients have read 4 MiB; the peak is the
kernel's (VmHWM, set back before). Shown is the growth from idle to the peak,
and what is left a second after the end.
"""

from __future__ import annotations

from servers import GROWN, Grown, Running, arguments, chosen

from apps import digest_of
from clients import read_slowly, together

PIECE = 16 * 1024
PAUSE = 0.001


def measure(running: Running, clients: int, events: int) -> Grown:
    for _ in range(2):
        read_slowly(running.port, "/events/64", 1 << 20, 0)
    path = f"/events/{events}"
    return running.watch(
        lambda: together(
            clients, lambda _: read_slowly(running.port, path, PIECE, PAUSE)
        )
    )


def main() -> None:
    parser = arguments(__doc__, clients=4, events=1024)
    options = parser.parse_args()
    print(f"{options.clients} clients read {options.events // 16} MiB each")
    print(f"{'server':16} {GROWN}")
    for server in chosen(options):
        with Running(server, options.build) as running:
            got = measure(running, options.clients, options.events)
        wrong = got.wrong(digest_of(options.events))
        print(f"{server!s:16} {got} {wrong}", flush=True)


if __name__ == "__main__":
    main()
