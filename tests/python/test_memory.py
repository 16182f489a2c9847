"""What a client costs while its application, or it, is slow.

Memory is the kernel's number, the growth over many clients. The bounds have
room for what an allocator keeps; what they forbid is twice as much and more.
"""

import contextlib
import os
import pathlib
import re
import socket
import time

import pytest

from serving import PATIENCE, Served

KIB = 1024
CLIENTS = 60

pytestmark = pytest.mark.skipif(
    not pathlib.Path("/proc/self/status").exists()
    or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="the kernel does not say it, or a sanitizer keeps what is freed",
)


def resident(served):
    text = pathlib.Path(f"/proc/{served.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) * KIB


def settled(served):
    """The memory once it has been the same for a while."""
    end = time.monotonic() + PATIENCE
    seen = []
    while len(set(seen[-5:])) != 1 or len(seen) < 5:
        assert time.monotonic() < end, seen
        time.sleep(0.1)
        seen.append(resident(served))
    return seen[-1]


def send_all_that_fits(client, count):
    """Up to so many bytes, until nothing is taken for a while."""
    client.settimeout(0.05)
    with contextlib.suppress(TimeoutError):
        while count > 0:
            count -= client.send(bytes(min(count, 64 * KIB)))


def exchange(served):
    with socket.create_connection(served.address, PATIENCE) as client:
        client.sendall(b"GET / HTTP/1.0\r\nhost: h\r\n\r\n")
        while client.recv(KIB):
            pass


def cost(served, begin):
    """Bytes of a client, on average; `begin` connects one."""
    exchange(served)
    with contextlib.ExitStack() as stack:
        begin(stack)
        before = settled(served)
        for _ in range(CLIENTS):
            begin(stack)
        return (settled(served) - before) / CLIENTS


def test_upload_that_is_not_asked_for_takes_no_block():
    taken = []

    def begin(stack):
        client = socket.create_connection(served.address, PATIENCE)
        stack.enter_context(client)
        client.sendall(
            b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 9999999\r\n\r\n"
        )
        client.sendall(b"x")
        taken.append(1)
        served.wait_for_line("taken", "stdout", count=len(taken))
        send_all_that_fits(client, 256 * KIB)

    with Served("memory_app:asgi", "--lifespan", "off") as served:
        assert cost(served, begin) < 24 * KIB
