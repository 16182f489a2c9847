"""How a blocked ASGI application learns that it is over: at once, and nothing
of it stays. On the simulated backend, in calm weather.
"""

import asyncio
import gc
import logging
import tracemalloc
import types

import pytest

from xsgi import _xsgi
from xsgi.loop import Loop

#: Of each kind; more than what is kept for the next to use.
MANY = 500

#: More than fits between the two: who sends it is blocked.
LARGE = 1_000_000

#: Turns of the loop from an event until a task that waits for it has gone on:
#: the backend tells of it in the first, the task runs in the next.
TURNS = 2

REQUEST = b"GET / HTTP/1.1\r\nhost: sim\r\n\r\n"
START = {"type": "http.response.start", "status": 200}


@pytest.fixture(autouse=True)
def quiet():
    """What pytest keeps of the log would not be nothing."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def piece(data=b"x" * 50_000, more=True):
    return {"type": "http.response.body", "body": data, "more_body": more}


async def flood(send):
    while True:
        await send(piece())


class Site:
    """An application, its server and the turns of the loop."""

    def __init__(self):
        self.turns = 0
        self.told = []  # what an application has seen, and in which turn
        self.blocked = asyncio.Event()

    def see(self, error):
        self.told.append((type(error).__name__, self.turns))

    async def count_turns(self):
        while True:
            self.turns += 1
            await asyncio.sleep(0)

    async def flood_and_see(self, send):
        try:
            await send(piece(bytes(LARGE)))
            self.told.append(("nothing", self.turns))
        except (OSError, asyncio.CancelledError) as error:
            self.see(error)
            raise

    async def receive_and_see(self, receive):
        while (await receive())["type"] != "http.disconnect":
            pass
        self.told.append(("http.disconnect", self.turns))


class Ending:
    """A connection whose application is blocked, and what ends that."""

    def __init__(self, loop, address):
        self.peer = _xsgi.SimPeer(loop.backend, *address)
        self.peer.write(REQUEST)

    def reset(self, site):
        self.peer.reset()

    def cancel(self, site):
        site.task.cancel()


ENDINGS = {
    "cancel": (Ending.cancel, ["CancelledError"]),
    "send": (Ending.reset, ["ClientDisconnected"]),
    "receive": (Ending.reset, ["ClientDisconnected", "http.disconnect"]),
}


def application(site, kind):
    async def app(scope, receive, send):
        await send(START)
        flooding = asyncio.ensure_future(site.flood_and_see(send))
        tasks = [flooding]
        if kind == "receive":
            tasks.append(asyncio.ensure_future(site.receive_and_see(receive)))
        site.task = flooding
        # In the simulation no time passes while anybody can go on.
        await asyncio.sleep(1)
        site.blocked.set()
        await asyncio.gather(*tasks, return_exceptions=True)

    return app


def simulate(make_app, main):
    """What `await main(loop, site, address, server)` gives."""
    loop = Loop("sim", faults=False)
    asyncio.set_event_loop(loop)
    site = Site()
    server = _xsgi.Server(
        loop.backend, make_app(site), "asgi3", types.SimpleNamespace(), loop
    )
    address = server.listen(port=8000)
    try:
        return loop.run_until_complete(main(loop, site, address, server))
    finally:
        server.stop(0)
        while not server.stopped:
            loop.run_until_complete(asyncio.sleep(1))
        server.close()
        asyncio.set_event_loop(None)
        loop.close()


async def blocked(loop, site, address):
    site.blocked.clear()
    ending = Ending(loop, address)
    await site.blocked.wait()
    return ending


@pytest.mark.parametrize("kind", ENDINGS)
def test_blocked_application_is_told_at_once(kind):
    end, told = ENDINGS[kind]

    async def main(loop, site, address, server):
        ending = await blocked(loop, site, address)
        counting = asyncio.ensure_future(site.count_turns())
        await asyncio.sleep(0)
        before = site.turns
        end(ending, site)
        while len(site.told) < len(told):
            await asyncio.sleep(0)
        counting.cancel()
        ending.peer.close()
        return [(name, turn - before) for name, turn in site.told]

    seen = simulate(lambda site: application(site, kind), main)

    assert sorted(name for name, _ in seen) == told
    assert all(turns <= TURNS for _, turns in seen)


@pytest.mark.parametrize("kind", ENDINGS)
def test_many_endings_leave_nothing(kind):
    end, _ = ENDINGS[kind]

    async def endings(loop, site, address, server, count):
        for _ in range(count):
            ending = await blocked(loop, site, address)
            end(ending, site)
            while server.stats()["running"]:
                await asyncio.sleep(0)
            ending.peer.close()
        site.told.clear()
        await asyncio.sleep(60)  # those who linger
        gc.collect()
        return (
            len(asyncio.all_tasks()),
            server.stats()["connections"],
            tracemalloc.get_traced_memory()[0],
        )

    async def main(loop, site, address, server):
        before = await endings(loop, site, address, server, MANY // 10)
        return before, await endings(loop, site, address, server, MANY)

    tracemalloc.start()
    before, after = simulate(lambda site: application(site, kind), main)
    tracemalloc.stop()

    assert after[:2] == before[:2] == (1, 0)
    assert after[2] - before[2] < LARGE // 10


def test_cancelled_send_leaves_those_that_follow_alone():
    """What it had queued stays queued; whoever waits then is woken."""

    def make_app(site):
        async def app(scope, receive, send):
            await send(START)
            for _ in range(5):
                tasks = [asyncio.ensure_future(flood(send)) for _ in range(3)]
                await asyncio.sleep(1)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            await send(piece(b"and this"))
            await send(piece(b"last", False))

        return app

    async def main(loop, site, address, server):
        ending = Ending(loop, address)
        await asyncio.sleep(10)
        got = b""
        while not got.endswith(b"0\r\n\r\n"):
            got += ending.peer.read(1000) or b""
            await asyncio.sleep(0)
        ending.peer.close()
        return got

    got = simulate(make_app, main)

    assert got.endswith(b"\r\n8\r\nand this\r\n4\r\nlast\r\n0\r\n\r\n")
