"""The servers of these measurements: how each is started, watched and ended.

    with Running(server, options.build) as running:
        running.port, running.memory(), running.peak()

The name of a server is what `--only` picks from, by comma. All run from this
folder, with one process that serves, no access log, and defaults otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
KIB = 1024
MIB = 1024 * KIB


@dataclass
class Server:
    name: str
    interface: str
    command: list[str]
    module: str  # what has to be installed for it

    def __str__(self) -> str:
        return f"{self.name}-{self.interface[0]}"


def xsgi(interface: str, port: int, *more: str, name: str = "xsgi") -> Server:
    return Server(
        name,
        interface,
        ["xsgi", "serve", f"apps:{interface}", "--port", str(port),
         "--no-access-log", "--log-level", "critical", *more],
        "xsgi",
    )  # fmt: skip


def peers(port: int) -> Iterator[Server]:
    at = ["--host", "127.0.0.1", "--port", str(port)]
    bind = ["--bind", f"127.0.0.1:{port}"]
    yield Server("uvicorn", "asgi", [
        "uvicorn", "--loop", "uvloop", "--http", "httptools", *at,
        "--no-access-log", "--log-level", "critical", "apps:asgi"],
        "uvicorn")  # fmt: skip
    yield Server("hypercorn", "asgi", [
        "hypercorn", *bind, "--log-level", "critical", "apps:asgi"],
        "hypercorn")  # fmt: skip
    for interface in ("asgi", "wsgi"):
        yield Server("granian", interface, [
            "granian", "--interface", interface, *at, "--no-access-log",
            "--log-level", "critical", f"apps:{interface}"],
            "granian")  # fmt: skip
        yield Server("fastpysgi", interface, [
            "fastpysgi_one", interface, str(port)], "fastpysgi")  # fmt: skip
    yield Server("gthread", "wsgi", [
        "gunicorn", "-k", "gthread", "--threads", "128", *bind,
        "--log-level", "critical", "apps:wsgi"], "gunicorn")  # fmt: skip


def every(port: int) -> list[Server]:
    """xsgi and its peers, those that are installed."""
    found = [
        xsgi("asgi", port),
        xsgi("wsgi", port),
        xsgi("wsgi", port, "--threads", "128", name="xsgi-threads"),
        *peers(port),
    ]
    return [each for each in found if importlib.util.find_spec(each.module)]


@dataclass
class Grown:
    """What a server's memory did while something was done to it."""

    idle: int  # bytes before
    growth: int  # from there to the peak
    left: int  # beyond idle, a second later
    seconds: float  # that it took
    result: list[str]

    def wrong(self, right: str) -> str:
        """In words, if not all of the result is this."""
        bad = [each for each in self.result if each != right]
        return f"{len(bad)} wrong: {bad[0]!r}" if bad else ""

    def __str__(self) -> str:
        return (
            f"{mib(self.idle):>9} {mib(self.growth):>7} {mib(self.left):>6}"
            f" {self.seconds:6.1f}"
        )


#: What stands above it.
GROWN = f"{'idle MiB':>9} {'growth':>7} {'left':>6} {'s':>6}"


class Running:
    """A server that listens. Killed at the end of the with statement."""

    def __init__(self, server: Server, build: Path) -> None:
        self.server = server
        self.port = next(
            int(found.group())
            for word in server.command
            if (found := re.search(r"\b\d{5}$", word))
        )
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            raise SystemExit(f"port {self.port} is somebody else's")
        python = [] if "/" in server.command[0] else [sys.executable, "-m"]
        self.process = subprocess.Popen(
            [*python, *server.command],
            cwd=HERE,
            env={**os.environ, "PYTHONPATH": f"{build / 'python'}:{HERE}"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> Running:
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.05)
        self.kill()
        raise SystemExit(f"{self.server} does not listen")

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(10)

    def pids(self) -> list[int]:
        """The process and all below it."""
        found = [self.process.pid]
        for each in found:
            for task in Path(f"/proc/{each}/task").glob("*/children"):
                found += [int(child) for child in task.read_text().split()]
        return found

    def _status(self, word: str) -> int:
        """Bytes, over all processes."""
        found = 0
        for pid in self.pids():
            text = Path(f"/proc/{pid}/status").read_text()
            match = re.search(rf"{word}:\s+(\d+) kB", text)
            found += int(match.group(1)) * KIB if match else 0
        return found

    def memory(self) -> int:
        return self._status("VmRSS")

    def peak(self) -> int:
        """The most memory since `forget_peak`."""
        return self._status("VmHWM")

    def forget_peak(self) -> None:
        for pid in self.pids():
            Path(f"/proc/{pid}/clear_refs").write_text("5")

    def watch(self, work: Callable[[], list[str]]) -> Grown:
        """Do the work, and see what it takes."""
        time.sleep(0.5)
        idle = self.memory()
        self.forget_peak()
        began = time.monotonic()
        result = work()
        seconds = time.monotonic() - began
        growth = self.peak() - idle
        time.sleep(1)
        return Grown(idle, growth, self.memory() - idle, seconds, result)

    def cpu(self) -> int:
        """Nanoseconds on a processor, of all threads that live."""
        return sum(
            int(file.read_text().split()[0])
            for pid in self.pids()
            for file in Path(f"/proc/{pid}/task").glob("*/schedstat")
        )

    def descriptors(self) -> int:
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids())

    def connections(self) -> int:
        """Sockets of its port that are open still, on the server's side."""
        want = f":{self.port:04X}"
        rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
        states = [row.split() for row in rows]
        return sum(
            1
            for row in states
            if row[1].endswith(want) and row[3] not in ("0A", "06")
        )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def arguments(doc: str, **more: int) -> argparse.ArgumentParser:
    """What every script understands, and integers of its own."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--port", type=int, default=free_port())
    parser.add_argument("--only", default="xsgi", help="names, by comma; all")
    for name, default in more.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser


def chosen(options: argparse.Namespace) -> list[Server]:
    options.build = options.build.resolve()
    sys.path.insert(0, str(options.build / "python"))
    words = options.only.split(",")
    return [
        each
        for each in every(options.port)
        if "all" in words or any(str(each).startswith(word) for word in words)
    ]


def mib(count: int) -> str:
    return f"{count / MIB:.2f}"
