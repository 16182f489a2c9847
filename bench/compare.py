"""CPU time per request of hello, side by side with other servers.

    python bench/compare.py --build build/release [--rounds 3] [--seconds 3]

Method. Each server runs alone on one core, `wrk -t1` on another, keep-alive,
no access log, one process. The servers take turns, round after round, so that
drift of the machine hits all of them. A figure is the server's user + system
time over the requests it answered in that time, in microseconds; the best of
the rounds is shown, and the ratio of the medians to xsgi's of the same
interface. Requests per second are shown for orientation: they depend on the
client as well. Which Python was taken, and whether it was built with PGO,
matters as much as the server: it is printed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PORT = 18080
TICK = os.sysconf("SC_CLK_TCK")
BROWSER = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*",
    "Accept-Encoding": "gzip, deflate, br",
    "Accept-Language": "en-GB,en;q=0.8",
    "Cookie": "session=abcdef0123456789; theme=dark",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101",
    "Sec-Fetch-Mode": "navigate",
    "X-Request-Id": "8f14e45f-ceea-467f-9575",
}


@dataclass
class Contender:
    name: str
    interface: str
    command: list[str]
    cpu: list[float] = field(default_factory=list)
    user: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    failed: str = ""


def contenders(build: Path, port: int) -> list[Contender]:
    python = sys.executable
    at = ["--host", "127.0.0.1", "--port", str(port)]

    def xsgi(interface: str, *more: str) -> list[str]:
        return [python, "-m", "xsgi", "serve", f"apps:{interface}", *at,
                "--no-access-log", *more]  # fmt: skip

    found = [
        Contender("C core, no Python", "-", [str(build / "bench/hello_core"),
                                             str(port)]),
        Contender("xsgi", "wsgi", xsgi("wsgi")),
        Contender("xsgi", "asgi", xsgi("asgi")),
        Contender("xsgi --loop uvloop", "asgi",
                  xsgi("asgi", "--loop", "uvloop")),
    ]  # fmt: skip
    for interface in ("wsgi", "asgi"):
        found.append(
            Contender("FastPySGI", interface,
                      [python, "fastpysgi_server.py", interface, str(port)])
        )  # fmt: skip
        found.append(
            Contender("Granian", interface,
                      [python, "-m", "granian", "--interface", interface, *at,
                       "--no-access-log", "--log-level", "error",
                       f"apps:{interface}"])
        )  # fmt: skip
    found.append(
        Contender("uvicorn, uvloop, httptools", "asgi",
                  [python, "-m", "uvicorn", "--loop", "uvloop", "--http",
                   "httptools", "--no-access-log", "--log-level", "error",
                   *at, "apps:asgi"])
    )  # fmt: skip
    return found


def family(pid: int) -> list[int]:
    """The process and all below it."""
    found = [pid]
    for each in found:
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            found += [int(child) for child in task.read_text().split()]
    return found


def cpu_of(pid: int) -> tuple[float, float]:
    """User and system seconds of the process and all below it."""
    user = system = 0.0
    for each in family(pid):
        stat = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2]
        fields = stat.split()
        user += int(fields[11]) / TICK
        system += int(fields[12]) / TICK
    return user, system


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 15
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("does not listen")


def load(args: argparse.Namespace, seconds: int) -> tuple[int, float]:
    """Requests answered and requests per second."""
    command = ["taskset", "-c", str(args.client_core), "wrk", "-t1",
               f"-c{args.connections}", f"-d{seconds}s"]  # fmt: skip
    if args.browser:
        for name, value in BROWSER.items():
            command += ["-H", f"{name}: {value}"]
    if args.pipeline > 1:
        command += ["-s", str(HERE / "pipeline.lua")]
    command += [f"http://127.0.0.1:{args.port}/"]
    if args.pipeline > 1:
        command += ["--", str(args.pipeline)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    count = re.search(r"(\d+) requests in", out.stdout)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", out.stdout)
    bad = re.search(r"Non-2xx.*|Socket errors.*", out.stdout)
    if bad is not None:
        raise RuntimeError(bad.group())
    if count is None or rate is None or int(count.group(1)) < 100:
        raise RuntimeError("answers nothing")
    return int(count.group(1)), float(rate.group(1))


def measure(each: Contender, args: argparse.Namespace) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": f"{args.build / 'python'}:{HERE}",
    }
    process = subprocess.Popen(
        ["taskset", "-c", str(args.server_core), *each.command],
        cwd=HERE,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(args.port, process)
        load(args, 1)
        before = cpu_of(process.pid)
        count, rate = load(args, args.seconds)
        after = cpu_of(process.pid)
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)
    each.user.append((after[0] - before[0]) * 1e6 / count)
    each.cpu.append((sum(after) - sum(before)) * 1e6 / count)
    each.rate.append(rate)


def report(found: list[Contender], args: argparse.Namespace) -> None:
    pgo = "--enable-optimizations" in (
        sysconfig.get_config_var("CONFIG_ARGS") or ""
    )
    print(
        f"CPython {sys.version.split()[0]}{'' if pgo else ', without PGO'};"
        f" {args.connections} connections, {args.rounds} rounds of"
        f" {args.seconds} s, {len(BROWSER) if args.browser else 0} extra"
        f" fields, pipelined x{args.pipeline}"
    )
    ours = {
        each.interface: statistics.median(each.cpu)
        for each in found
        if each.name == "xsgi" and each.cpu
    }
    print(f"{'server':28} {'':5} {'us/request':>10} {'user':>6} {'sys':>6}"
          f" {'ratio':>6} {'req/s':>9}")  # fmt: skip
    for each in found:
        if not each.cpu:
            print(f"{each.name:28} {each.interface:5} {each.failed}")
            continue
        best = min(range(len(each.cpu)), key=each.cpu.__getitem__)
        base = ours.get(each.interface)
        ratio = f"{statistics.median(each.cpu) / base:6.2f}" if base else ""
        print(
            f"{each.name:28} {each.interface:5} {each.cpu[best]:10.2f}"
            f" {each.user[best]:6.2f} {each.cpu[best] - each.user[best]:6.2f}"
            f" {ratio:>6} {each.rate[best]:9.0f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--pipeline", type=int, default=1)
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--client-core", type=int, default=1)
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--only", default="", help="names to run, by comma")
    args = parser.parse_args()
    args.build = args.build.resolve()
    for tool in ("wrk", "taskset"):
        if shutil.which(tool) is None:
            parser.error(f"{tool} is not installed")
    found = [
        each
        for each in contenders(args.build, args.port)
        if any(word in each.name for word in args.only.split(","))
    ]
    for _ in range(args.rounds):
        for each in found:
            try:
                measure(each, args)
            except (RuntimeError, subprocess.CalledProcessError) as error:
                each.failed = str(error)
    report(found, args)


if __name__ == "__main__":
    main()
