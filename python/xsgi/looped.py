"""Serving inside an asyncio loop: ours, or one that the user brings."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from xsgi import _xsgi, log, signals
from xsgi.errors import ConfigError, Error
from xsgi.guest import Guest
from xsgi.lifespan import Lifespan
from xsgi.loop import Loop
from xsgi.service import Service
from xsgi.watchdog import Watchdog

Stop = Callable[[], Awaitable[object]]

#: Our loops whose backend has a server; a second one is a guest.
_driving: WeakSet[asyncio.AbstractEventLoop] = WeakSet()

#: How often it is looked whether the last application task has ended.
LOOK = 0.02

#: Seconds that cancelled requests get to clean up.
CANCEL_PATIENCE = 2.0

#: Seconds that the threads of the default executor get to end.
EXECUTOR_PATIENCE = 5.0


def run(service: Service) -> None:
    """Make the loop that the options name, serve in it, and close it."""
    loop = _new_loop(service.config.loop)
    watchdog = Watchdog()
    asyncio.set_event_loop(loop)
    serving = loop.create_task(_until_signalled(service, watchdog))
    try:
        if not _complete(loop, serving, serving.cancel):
            raise Error("The application has stopped the event loop: stopped.")
        log.error.info("stopped")
    except asyncio.CancelledError:
        # It was a graceful stop, but nobody has asked for it.
        raise Error(
            "The application has cancelled the task of the server: stopped."
        ) from None
    finally:
        try:
            watchdog.renew(CANCEL_PATIENCE + EXECUTOR_PATIENCE)
            _wind_up(loop)
        finally:
            watchdog.stop()
            asyncio.set_event_loop(None)
            loop.close()


def _complete(
    loop: asyncio.AbstractEventLoop,
    task: asyncio.Future[Any],
    on_stop: Callable[[], object] = lambda: None,
) -> bool:
    """Run ``task`` to its end, also if the application stops the loop.

    The first time that it does so ``on_stop`` is called. False if it has.
    """
    was_stopped = False
    while True:
        try:
            loop.run_until_complete(task)
            return not was_stopped
        except asyncio.CancelledError:
            if was_stopped:
                return False
            raise
        except RuntimeError:
            if task.done():
                raise
            if not was_stopped:
                on_stop()
            was_stopped = True


async def _until_signalled(service: Service, watchdog: Watchdog) -> None:
    stop = asyncio.Event()
    grace = service.config.timeout_graceful_shutdown
    patience = None if grace is None else grace + CANCEL_PATIENCE
    loop = asyncio.get_running_loop()

    def on_signal(number: int) -> None:
        service.interrupted = number == signal.SIGINT
        stop.set()

    with signals.on_loop(loop, on_signal, watchdog, patience):
        await serve(service, stop.wait, watchdog.renew)


def _new_loop(name: str) -> asyncio.AbstractEventLoop:
    if name == "asyncio":
        return asyncio.SelectorEventLoop()
    if name == "uvloop":
        try:
            import uvloop
        except ImportError:
            raise ConfigError(
                "loop: uvloop is not installed (pip install uvloop)."
            ) from None
        loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        return loop
    return Loop()


def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    """What asyncio.run does at the end, in bounded time."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        waiting = asyncio.wait(tasks, timeout=CANCEL_PATIENCE)
        _complete(loop, loop.create_task(waiting))
        _leave({task for task in tasks if not task.done()})
    _complete(loop, loop.create_task(loop.shutdown_asyncgens()))
    # Before 3.12 there is no time limit: the watchdog is one.
    limit = (EXECUTOR_PATIENCE,) if sys.version_info >= (3, 12) else ()
    executor = loop.shutdown_default_executor(*limit)
    _complete(loop, loop.create_task(executor))


def _leave(tasks: set[asyncio.Task[Any]]) -> None:
    """Go on without these, that do not end although they were cancelled."""
    if not tasks:
        return
    for task in tasks:
        # Freeing it raises GeneratorExit in its coroutine. One that goes on
        # after that, too, would run for ever in the interpreter's end, where
        # no watchdog can bite.
        _xsgi.keep_for_ever(task)
    coroutines = [task.get_coro() for task in tasks]
    names = {getattr(each, "__name__", str(each)) for each in coroutines}
    log.error.error(
        "tasks that do not end although they were cancelled: %d (%s)",
        len(tasks),
        ", ".join(sorted(names)),
    )


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()


async def serve(
    service: Service,
    stop: Stop = _for_ever,
    renew: Callable[[float | None], object] = lambda limit: None,
) -> None:
    """Serve until ``stop()`` returns or this task is cancelled.

    ``renew`` is told how long the next part of a shutdown may take.
    """
    config = service.config
    lifespan = Lifespan(
        service.loaded.app,
        "off" if service.is_wsgi else config.lifespan,
        startup_timeout=config.timeout_lifespan_startup,
        shutdown_timeout=config.timeout_lifespan_shutdown,
    )
    if not await _unless_stopped(lifespan.startup(), stop):
        return
    try:
        await _serve_requests(service, stop, lifespan.state)
    finally:
        renew(config.timeout_lifespan_shutdown)
        await lifespan.shutdown()


async def _unless_stopped(work: Coroutine[Any, Any, None], stop: Stop) -> bool:
    """Do ``work`` to its end. False if it was to stop before."""
    stopping = asyncio.ensure_future(stop())
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait(
            {stopping, working}, return_when=asyncio.FIRST_COMPLETED
        )
        if working.done():
            working.result()
            return True
        return False
    finally:
        stopping.cancel()
        working.cancel()
        await asyncio.wait({stopping, working})


async def _serve_requests(
    service: Service, stop: Stop, state: dict[str, Any] | None
) -> None:
    """What happens between start-up and shutdown of the application."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    with _backend(loop) as backend:
        server = service.open(backend, loop, state)
        server.on_stopped = stopped.set
        try:
            service.listen(_name(loop))
            try:
                await stop()
            finally:
                # Also when cancelled: and this may be cancelled again.
                service.stop()
                await _finish(service, stopped)
        finally:
            server.close()


@contextmanager
def _backend(loop: asyncio.AbstractEventLoop) -> Iterator[_xsgi.Backend]:
    """The loop's own backend, if it has one that is free, or a guest's."""
    if isinstance(loop, Loop) and loop not in _driving:
        _driving.add(loop)
        try:
            yield loop.backend
        finally:
            _driving.discard(loop)
        return
    guest = Guest(loop)
    try:
        yield guest.backend
    finally:
        guest.close()


async def _finish(service: Service, stopped: asyncio.Event) -> None:
    """Let connections and tasks end within the grace, then cancel them."""
    loop = asyncio.get_running_loop()
    grace = service.config.timeout_graceful_shutdown
    until = None if grace is None else loop.time() + grace
    await stopped.wait()
    if await _none_runs(service, until):
        return
    log.error.warning(
        "cancelling %s: %g s are over", _requests(service.running), grace
    )
    service.server.cancel()
    if not await _none_runs(service, loop.time() + CANCEL_PATIENCE):
        log.error.error(
            "requests that do not end although they were cancelled: %d",
            service.running,
        )


def _requests(count: int) -> str:
    return f"{count} request{'' if count == 1 else 's'}"


async def _none_runs(service: Service, until: float | None) -> bool:
    """Wait until no application task runs; False if it lasts too long."""
    loop = asyncio.get_running_loop()
    while service.running > 0:
        if until is not None and loop.time() >= until:
            return False
        await asyncio.sleep(LOOK)
    return True


def _name(loop: asyncio.AbstractEventLoop) -> str:
    if isinstance(loop, Loop):
        return "xsgi"
    return type(loop).__module__.partition(".")[0]
