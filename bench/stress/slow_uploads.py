"""Memory of a server whose application reads uploads slowly.

    python bench/stress/slow_uploads.py --build build/release [--clients 4]
        [--mib 64] [--only xsgi,uvicorn | all]

Method. Each client sends 64 MiB as fast as it can, by Content-Length and then
in chunks of 16 KiB; the application sleeps 4 ms for each 64 KiB that it takes
and answers with the SHA-256 of all, which is checked. Idle, growth and what
is left are those of slow_readers.py; the warm-up is one upload of a MiB. Each
way has a server of its own.
"""

from __future__ import annotations

import functools
import hashlib

from servers import GROWN, KIB, MIB, Grown, Running, arguments, chosen

from clients import Client, together

PIECE = 16 * KIB
SLEEP_MS = 4
KINDS = ("length", "chunked")


def piece_of(i: int) -> bytes:
    return i.to_bytes(8, "big") * (PIECE // 8)


@functools.cache
def digest_of(count: int) -> str:
    digest = hashlib.sha256()
    for i in range(count):
        digest.update(piece_of(i))
    return digest.hexdigest()


def upload(port: int, kind: str, size: int) -> str:
    """Send it; what the application answers."""
    field = (
        f"Content-Length: {size}"
        if kind == "length"
        else "Transfer-Encoding: chunked"
    )
    with Client(port) as client:
        lines = [f"POST /upload/{SLEEP_MS} HTTP/1.1", "Host: bench", field]
        client.sock.sendall("\r\n".join([*lines, "", ""]).encode())
        for i in range(size // PIECE):
            data = piece_of(i)
            if kind == "chunked":
                data = b"%x\r\n%s\r\n" % (len(data), data)
            client.sock.sendall(data)
        if kind == "chunked":
            client.sock.sendall(b"0\r\n\r\n")
        return client.body().decode()


def measure(running: Running, kind: str, clients: int, size: int) -> Grown:
    upload(running.port, kind, MIB)
    return running.watch(
        lambda: together(clients, lambda _: upload(running.port, kind, size))
    )


def main() -> None:
    options = arguments(__doc__, clients=4, mib=64).parse_args()
    size = options.mib * MIB
    print(f"{options.clients} clients send {options.mib} MiB each")
    print(f"{'server':16} {'':8} {GROWN}")
    for server in chosen(options):
        for kind in KINDS:
            with Running(server, options.build) as running:
                got = measure(running, kind, options.clients, size)
            wrong = got.wrong(digest_of(size // PIECE))
            print(f"{server!s:16} {kind:8} {got} {wrong}", flush=True)


if __name__ == "__main__":
    main()
