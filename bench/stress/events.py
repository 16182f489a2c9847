"""How soon an event of a stream is with a thousand clients.

    python bench/stress/events.py --build build/release [--clients 1000]
        [--seconds 10] [--load 8] [--only xsgi,uvicorn | all]

Method. Each client holds one response of `text/event-stream`. `spread`: each
request sends an event every 500 ms, at moments of its own. `burst`: one task
wakes all requests every 500 ms, which then send. An event carries the time
right before its `send()`. Meanwhile `wrk` asks for 100 bytes on `--load`
connections. The clients are in one process that shares the machine's cores
with all that, so two delays are shown: `kernel` is until the event's segment
had reached the client's socket, a time that the kernel notes (SO_TIMESTAMPNS),
which is what the server does; `client` is until the client had read it.
"""

from __future__ import annotations

import gc
import select
import socket
import struct
import subprocess
import time

from servers import Running, arguments, chosen

from clients import Client

TIMESTAMPS = 35  # SO_TIMESTAMPNS


class Streams:
    """So many open event streams, read by one thread."""

    def __init__(self, port: int, path: str, count: int) -> None:
        self.poll = select.epoll()
        self.socks: dict[int, socket.socket] = {}
        self.delays: list[tuple[float, float]] = []
        for _ in range(count):
            client = Client(port)
            client.sock.setsockopt(socket.SOL_SOCKET, TIMESTAMPS, 1)
            client.ask(path)
            client.sock.setblocking(False)
            self.socks[client.sock.fileno()] = client.sock
            self.poll.register(client.sock, select.EPOLLIN)

    def run(self, until: float) -> None:
        while time.monotonic() < until:
            for fd, _ in self.poll.poll(0.1):
                self._read(self.socks[fd])

    def _read(self, sock: socket.socket) -> None:
        try:
            data, extra, _, _ = sock.recvmsg(65536, 64)
        except BlockingIOError:
            return
        now = time.time_ns()
        if not data:
            raise ConnectionError("a stream has ended")
        came = now
        for level, kind, value in extra:
            if (level, kind) == (socket.SOL_SOCKET, TIMESTAMPS):
                seconds, ns = struct.unpack("qq", value)
                came = seconds * 10**9 + ns
        for word in data.split(b"data: ")[1:]:
            sent = int(word.partition(b"\n")[0])
            self.delays.append(((came - sent) / 1e6, (now - sent) / 1e6))

    def close(self) -> None:
        for sock in self.socks.values():
            sock.close()
        self.poll.close()


def of(delays: list[float]) -> str:
    delays.sort()
    at = [delays[int(len(delays) * part)] for part in (0.5, 0.99)]
    return f"{at[0]:7.2f} {at[1]:7.2f} {delays[-1]:7.2f}"


def measure(
    running: Running, kind: str, clients: int, seconds: int, load: int
) -> dict[str, object]:
    streams = Streams(running.port, f"/stream/{kind}", clients)
    streams.run(time.monotonic() + 2)
    wrk = None
    if load:
        wrk = subprocess.Popen(
            ["wrk", "-t1", f"-c{load}", f"-d{seconds + 1}s",
             f"http://127.0.0.1:{running.port}/body/100"],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
    streams.delays.clear()
    gc.disable()
    streams.run(time.monotonic() + seconds)
    gc.enable()
    if wrk is not None:
        wrk.wait()
    found = streams.delays
    streams.close()
    if not found:
        return {"events": 0, "late": 0, "kernel": "-", "client": "-"}
    return {
        "events": len(found),
        "late": sum(1 for kernel, _ in found if kernel > 20),
        "kernel": of([kernel for kernel, _ in found]),
        "client": of([client for _, client in found]),
    }


def main() -> None:
    parser = arguments(__doc__, clients=1000, seconds=10, load=8)
    options = parser.parse_args()
    print(f"{options.clients} clients, ms: p50, p99, most")
    print(f"{'server':16} {'':6} {'events':>7} {'>20 ms':>7}"
          f" {'kernel':>23} {'client':>23}")  # fmt: skip
    for server in chosen(options):
        if server.interface != "asgi":
            continue
        for kind in ("spread", "burst"):
            try:
                with Running(server, options.build) as running:
                    got = measure(running, kind, options.clients,
                                  options.seconds, options.load)  # fmt: skip
            except OSError as error:
                print(f"{server!s:16} {kind:6} {error!r}", flush=True)
                continue
            print(
                f"{server!s:16} {kind:6} {got['events']:7} {got['late']:7}"
                f" {got['kernel']} {got['client']}",
                flush=True,
            )


if __name__ == "__main__":
    main()
