"""xsgi.Loop is an asyncio loop like the standard library's."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from xsgi import _xsgi
from xsgi.loop import Loop
from xsgi.selector import Selector

#: Longer than any test may last.
LONG = 50


@pytest.fixture
def loop():
    loop = Loop()
    yield loop
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def run(loop, main):
    return loop.run_until_complete(asyncio.wait_for(main, 20))


def test_time_is_the_clock_of_the_backend(loop):
    assert abs(loop.time() - time.monotonic()) < 1
    assert loop.time() <= loop.time()


def test_sleep_waits_and_call_later_comes_in_order(loop):
    came = []

    async def main():
        loop.call_later(0.02, came.append, 2)
        loop.call_later(0.01, came.append, 1)
        start = loop.time()
        await asyncio.sleep(0.03)
        return loop.time() - start

    assert run(loop, main()) >= 0.03
    assert came == [1, 2]


def test_streams_carry_bytes_both_ways(loop):
    async def echo(reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def main():
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = bytes(range(256)) * 8192
        writer.write(sent)
        writer.write_eof()
        got = await reader.read(-1)
        writer.close()
        server.close()
        await server.wait_closed()
        return got == sent

    assert run(loop, main())


def test_executor_runs_and_wakes_the_loop(loop):
    async def main():
        return await loop.run_in_executor(None, threading.get_ident)

    assert run(loop, main()) != threading.get_ident()


def test_call_soon_threadsafe_wakes_a_blocked_loop(loop):
    async def main():
        done = asyncio.Event()
        thread = threading.Timer(
            0.05, loop.call_soon_threadsafe, args=[done.set]
        )
        thread.start()
        await done.wait()
        thread.join()
        return True

    assert run(loop, main())


def test_subprocess_is_awaited(loop):
    async def main():
        asyncio.set_event_loop(loop)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "print(input()[::-1])",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        out, _ = await process.communicate(b"loop\n")
        return out.strip(), process.returncode

    assert run(loop, main()) == (b"pool", 0)
    asyncio.set_event_loop(None)


def test_signal_handler_runs_on_the_loop(loop):
    async def main():
        got = asyncio.Event()
        loop.add_signal_handler(signal.SIGUSR1, got.set)
        signal.raise_signal(signal.SIGUSR1)
        await got.wait()
        loop.remove_signal_handler(signal.SIGUSR1)
        return True

    assert run(loop, main())


def interrupt_soon():
    """As Ctrl-C does, while the loop waits."""
    threading.Timer(0.05, os.kill, [os.getpid(), signal.SIGINT]).start()


def test_interrupt_ends_a_loop_that_waits(loop):
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        run(loop, asyncio.sleep(LONG))

    assert signal.set_wakeup_fd(-1) == -1


def test_interrupt_ends_a_loop_that_has_had_signal_handlers(loop):
    async def main():
        loop.add_signal_handler(signal.SIGUSR1, print)
        loop.remove_signal_handler(signal.SIGUSR1)
        interrupt_soon()
        await asyncio.sleep(LONG)

    with pytest.raises(KeyboardInterrupt):
        run(loop, main())


def test_signal_between_two_runs_reaches_its_handler_in_the_second(loop):
    async def handle():
        got = asyncio.Event()
        loop.add_signal_handler(signal.SIGUSR1, got.set)
        return got

    got = run(loop, handle())
    signal.raise_signal(signal.SIGUSR1)
    run(loop, got.wait())

    loop.remove_signal_handler(signal.SIGUSR1)
    assert signal.set_wakeup_fd(-1) == -1


def test_signals_are_left_to_who_had_them_before(loop):
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())

    run(loop, asyncio.sleep(0))

    assert signal.set_wakeup_fd(-1) == writer.fileno()
    reader.close()
    writer.close()


def test_loop_runs_on_another_thread(loop):
    ran = []
    thread = threading.Thread(
        target=lambda: ran.append(run(loop, asyncio.sleep(0.01, 7)))
    )
    thread.start()
    thread.join(20)

    assert ran == [7]


def test_removed_reader_is_not_called_with_what_was_ready(loop):
    called = []
    left, right = socket.socketpair()

    async def main():
        loop.add_reader(left, called.append, 1)
        right.send(b"x")
        loop.remove_reader(left)
        await asyncio.sleep(0.01)

    run(loop, main())
    left.close()
    right.close()
    assert called == []


def test_selector_knows_what_is_registered():
    backend = _xsgi.Backend()
    selector = Selector(backend)
    left, right = socket.socketpair()

    key = selector.register(left, 1, "data")
    with pytest.raises(KeyError):
        selector.register(left, 1)
    right.send(b"x")
    ready = selector.select(5)
    changed = selector.modify(left, 2, "other")

    assert [(k.data, e) for k, e in ready] == [("data", 1)]
    assert selector.get_key(left) is changed
    assert key.fd == changed.fd
    assert [(k.data, e) for k, e in selector.select(5)] == [("other", 2)]
    selector.unregister(left)
    with pytest.raises(KeyError):
        selector.get_key(left)
    assert list(selector.select(0)) == []
    selector.close()
    left.close()
    right.close()


def test_thread_ticks_while_the_loop_is_blocked(loop):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    run(loop, asyncio.sleep(0.5))
    stop.set()
    thread.join()

    assert len(ticks) >= 20


def test_simulated_hour_takes_no_time():
    loop = Loop("sim", seed=1)

    async def main():
        start = loop.time()
        await asyncio.sleep(3600)
        return loop.time() - start

    began = time.monotonic()
    virtual = loop.run_until_complete(main())
    loop.close()

    assert virtual >= 3600
    assert time.monotonic() - began < 60


def test_simulated_loop_hears_other_threads():
    loop = Loop("sim", seed=1)

    async def main():
        return await loop.run_in_executor(None, lambda: 7)

    assert loop.run_until_complete(main()) == 7
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def test_closed_backend_says_so():
    backend = _xsgi.Backend()
    backend.close()

    with pytest.raises(RuntimeError, match="closed"):
        backend.select(0)


def test_unknown_backend_is_refused():
    with pytest.raises(ValueError, match="no backend 'epoll'"):
        _xsgi.Backend("epoll")


def test_watched_descriptor_that_was_closed_costs_nobody_else():
    backend = _xsgi.Backend()
    left, right = socket.socketpair()
    backend.watch(left.fileno(), 1, "left")
    fd = left.fileno()
    left.close()

    assert list(backend.select(0)) == []
    again, other = socket.socketpair()
    assert again.fileno() == fd
    backend.unwatch(fd)
    backend.watch(fd, 1, "again")
    other.send(b"x")
    assert list(backend.select(5)) == [("again", 1)]
    backend.close()
    for each in (right, again, other):
        each.close()
