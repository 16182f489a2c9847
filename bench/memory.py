"""Memory of a server over many requests of each kind.

    python bench/memory.py --build build/release [--requests 100000]

Method. For each interface one server; for each kind (plain, head, 304,
streamed, error, disconnect) a warm-up of a tenth, then the requests. What is
shown is the resident memory after the warm-up and after the requests, and the
number of open descriptors likewise. Flat means: no growth with the number of
requests. `disconnect` connects anew each time, reads the head of an endless
response and resets.
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PORT = 18081
KINDS = ("plain", "head", "304", "streamed", "error", "disconnect")


def rss_kib(pid: int) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", text)
    assert found is not None
    return int(found.group(1))


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def load(kind: str, count: int) -> None:
    """About `count` requests of the kind."""
    if kind == "disconnect":
        for _ in range(count):
            disconnect()
        return
    if kind == "head":
        heads(count)
        return
    done = 0
    while done < count:
        out = subprocess.run(
            ["wrk", "-t1", "-c16", "-d1s", f"http://127.0.0.1:{PORT}/{kind}"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = re.search(r"(\d+) requests in", out.stdout)
        if found is None or int(found.group(1)) == 0:
            raise SystemExit(f"{kind}: nothing is answered\n{out.stdout}")
        done += int(found.group(1))


def heads(count: int) -> None:
    """HEAD requests, sixteen in a row. wrk waits for bodies of theirs."""
    batch = b"HEAD /head HTTP/1.1\r\nHost: bench\r\n\r\n" * 16
    with socket.create_connection(("127.0.0.1", PORT), 10) as client:
        for _ in range(count // 16):
            client.sendall(batch)
            got = b""
            while got.count(b"\r\n\r\n") < 16:
                data = client.recv(65536)
                if not data:
                    raise SystemExit("head: the connection was closed")
                got += data


def disconnect() -> None:
    with socket.create_connection(("127.0.0.1", PORT), 10) as client:
        client.sendall(b"GET /disconnect HTTP/1.1\r\nHost: bench\r\n\r\n")
        client.recv(4096)
        client.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )


def serve(interface: str, build: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "xsgi", "serve", f"kinds:{interface}",
         "--port", str(PORT), "--no-access-log", "--log-level", "critical"],
        cwd=HERE,
        env={**os.environ, "PYTHONPATH": f"{build / 'python'}:{HERE}"},
    )  # fmt: skip
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", PORT), 1).close()
            return process
        except OSError:
            time.sleep(0.05)
    process.kill()
    raise SystemExit("the server does not listen")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--requests", type=int, default=100_000)
    args = parser.parse_args()
    print(f"{'':5} {'kind':11} {'KiB before':>10} {'after':>8} {'fds':>9}")
    for interface in ("wsgi", "asgi"):
        process = serve(interface, args.build.resolve())
        try:
            for kind in KINDS:
                load(kind, args.requests // 10)
                time.sleep(0.3)
                before = rss_kib(process.pid), descriptors(process.pid)
                load(kind, args.requests)
                time.sleep(0.3)
                after = rss_kib(process.pid), descriptors(process.pid)
                print(
                    f"{interface:5} {kind:11} {before[0]:10} {after[0]:8}"
                    f" {before[1]:4}/{after[1]:4}",
                    flush=True,
                )
        finally:
            process.terminate()
            process.wait(40)


if __name__ == "__main__":
    main()
