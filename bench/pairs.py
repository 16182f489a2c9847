"""CPU time per request of hello, of two builds of xsgi in turns.

    python bench/pairs.py --base OLD/build/release --head build/release
        [--rounds 6] [--turns 10] [--only wsgi] [-- OPTION...]

Method. Both servers run at once on one core, and wait but in their turn: a
second of `wrk -t1` from another core, keep-alive. Two turns, one of each, are
a pair; who begins changes from pair to pair. Every round starts the servers
anew, since the places where a process lays its memory matter as much as a
change of code. A figure is the time on the core that the kernel counted for
the server's threads over the requests of the turn, in microseconds. Shown are
both medians, the median of the pairs' ratios with the quarters around it, and
that of the time in user space alone. Both run the same `apps.py`, with the
options behind `--`; without any, with --no-access-log.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import compare

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Turn:
    cpu: float  # us per request
    user: float


class Running:
    """A server of one build."""

    def __init__(
        self, build: Path, interface: str, port: int, args: argparse.Namespace
    ) -> None:
        python = build.resolve() / "python"
        self.port = port
        self.process = subprocess.Popen(
            ["taskset", "-c", str(args.server_core), sys.executable, "-m",
             "xsgi", "serve", f"apps:{interface}", "--host", "127.0.0.1",
             "--port", str(port), *(args.options or ["--no-access-log"])],
            cwd=HERE,
            env={**os.environ, "PYTHONPATH": f"{python}:{HERE}"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def ready(self, args: argparse.Namespace) -> None:
        compare.wait_for(self.port, self.process)
        self.turn(args)

    def on_core(self) -> int:
        """Nanoseconds that its threads have run."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in tasks)

    def turn(self, args: argparse.Namespace) -> Turn:
        began, (user, _) = self.on_core(), compare.cpu_of(self.process.pid)
        args.port = self.port
        count, _ = compare.load(args, 1)
        ended, (later, _) = self.on_core(), compare.cpu_of(self.process.pid)
        return Turn((ended - began) / 1e3 / count, (later - user) * 1e6 / count)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)


def measure(
    interface: str, args: argparse.Namespace
) -> list[tuple[Turn, Turn]]:
    """One round: pairs of a turn of the base and one of the head."""
    found = []
    base = Running(args.base, interface, args.base_port, args)
    head = Running(args.head, interface, args.base_port + 1, args)
    try:
        base.ready(args)
        head.ready(args)
        for number in range(args.turns):
            first, second = (base, head) if number % 2 == 0 else (head, base)
            turns = {each: each.turn(args) for each in (first, second)}
            found.append((turns[base], turns[head]))
    finally:
        base.stop()
        head.stop()
    return found


def report(interface: str, pairs: list[tuple[Turn, Turn]]) -> None:
    ratios = [head.cpu / base.cpu for base, head in pairs]
    users = [head.user / base.user for base, head in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(
        f"{interface:5} {statistics.median(b.cpu for b, _ in pairs):8.2f}"
        f" {statistics.median(h.cpu for _, h in pairs):8.2f}"
        f" {middle:8.3f}   {low:.3f} to {high:.3f}"
        f" {statistics.median(users):8.3f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--head", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--turns", type=int, default=10, help="pairs a round")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--pipeline", type=int, default=1)
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--client-core", type=int, default=1)
    parser.add_argument("--base-port", type=int, default=compare.PORT)
    parser.add_argument("--only", default="wsgi,asgi")
    parser.add_argument("options", nargs="*", help="of both servers")
    args = parser.parse_args()
    print(f"CPython {sys.version.split()[0]}, {args.connections} connections,"
          f" {args.rounds} rounds of {args.turns} pairs")  # fmt: skip
    print(f"{'':5} {'base us':>8} {'head us':>8} {'ratio':>8}"
          f"   {'its quarters':14} {'of user':>8}")  # fmt: skip
    for interface in args.only.split(","):
        pairs = []
        for _ in range(args.rounds):
            pairs += measure(interface, args)
        report(interface, pairs)


if __name__ == "__main__":
    main()
