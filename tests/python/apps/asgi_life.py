"""Pages of asgi_app.py: how it ends, the task, the coroutines."""

import asyncio
import collections.abc
import gc
import json
import threading
import weakref

from asgi_pages import (
    PATIENCE,
    body,
    caught,
    context_variable,
    kept,
    page,
    see,
    start,
    text,
)

# How it ends.


@page
async def raises(scope, receive, send):
    raise KeyError("no such thing")


@page
async def raises_after_start(scope, receive, send):
    await send(start())
    raise KeyError("no such thing")


@page
async def raises_in_body(scope, receive, send):
    await send(start())
    await send(body(b"some", True))
    await asyncio.sleep(0)
    raise KeyError("no such thing")


@page
async def raises_after_end(scope, receive, send):
    await text(send, "complete")
    raise KeyError("no such thing")


@page
async def returns_nothing(scope, receive, send):
    return


@page
async def returns_early(scope, receive, send):
    await send(start())
    await send(body(b"some", True))


@page
async def returns_when_told(scope, receive, send):
    """As frameworks do it that watch their client."""
    if scope["query_string"]:
        await send(start())
        await send(body(b"some", True))
    while (await receive())["type"] != "http.disconnect":
        pass


@page
async def exits(scope, receive, send):
    raise SystemExit(3)


@page
async def cancels_itself(scope, receive, send):
    asyncio.current_task().cancel()
    await asyncio.sleep(1)


# The task.


@page
async def task(scope, receive, send):
    current = asyncio.current_task()
    before = [
        isinstance(current, asyncio.Task),
        "coro=<app() running at" in repr(current),
        current in asyncio.all_tasks(),
        current.get_loop() is asyncio.get_running_loop(),
        hasattr(current.get_coro(), "cr_frame"),
    ]
    await asyncio.sleep(0)
    same = asyncio.current_task() is current
    stack = [frame.f_code.co_name for frame in current.get_stack()]
    await text(send, json.dumps([before, same, bool(stack)]))


@page
async def touched(scope, receive, send):
    """A task that is looked at before anything has suspended is all there,
    and what was done to it then holds later."""
    current = asyncio.current_task()
    name = current.get_name()
    current.add_done_callback(lambda task: see("touched", [name, task.done()]))
    current.remark = "kept"
    before = [current.done(), current.cancelled()]
    try:
        current.result()
    except asyncio.InvalidStateError:
        before.append("not done")
    if scope["query_string"] == b"wait":
        await asyncio.sleep(0)
    after = [
        current is asyncio.current_task(),
        current.get_name() == name,
        current.remark,
    ]
    if scope["query_string"] == b"raise":
        raise KeyError("touched")
    if scope["query_string"] == b"cancel":
        raise asyncio.CancelledError
    await text(send, json.dumps([before, after]))


@page
async def renamed(scope, receive, send):
    asyncio.current_task().set_name("mine")
    await asyncio.sleep(0)
    await text(send, asyncio.current_task().get_name())


@page
async def cancel_early(scope, receive, send):
    """Cancelled before the first suspension: it comes at that one."""
    asyncio.current_task().cancel()
    try:
        await asyncio.sleep(PATIENCE)
        end = "slept"
    except asyncio.CancelledError:
        end = "cancelled"
    await text(send, end)


@page
async def group_error(scope, receive, send):
    """How a task group that fails ends, here and in a task that asyncio
    made."""

    async def fail():
        raise ValueError("child")

    async def run():
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
                group.create_task(asyncio.sleep(PATIENCE))
            end = "no error"
        except BaseException as error:
            end = type(error).__name__
        return end, asyncio.current_task().cancelling()

    here = await run()
    there = await asyncio.create_task(run())
    await text(send, json.dumps([here, there]))


@page
async def be_cancelled(scope, receive, send):
    see("victim", True)
    kept.append(asyncio.current_task())
    try:
        await asyncio.sleep(PATIENCE)
    except asyncio.CancelledError:
        see("be_cancelled", "cancelled")
        raise


@page
async def cancel_other(scope, receive, send):
    other = kept.pop()
    listed = other in asyncio.all_tasks()
    other.cancel()
    await asyncio.wait([other])
    await text(send, json.dumps([listed, other.cancelled()]))


@page
async def asyncio_things(scope, receive, send):
    loop = asyncio.get_running_loop()
    async with asyncio.Lock():
        await asyncio.sleep(0)
    queue = asyncio.Queue()
    loop.call_later(0.01, queue.put_nowait, "queued")
    future = loop.create_future()
    future.set_result("at once")
    ends = [
        await queue.get(),
        await future,
        await asyncio.gather(*(asyncio.sleep(0, n) for n in range(3))),
        await loop.run_in_executor(None, lambda: "executed"),
    ]
    await text(send, json.dumps(ends))


@page
async def context(scope, receive, send):
    before = context_variable.get()
    context_variable.set("set by a request")
    await asyncio.sleep(0)
    after = context_variable.get()
    await text(send, json.dumps([before, after]))


@page
async def context_token(scope, receive, send):
    """A token from before the first suspension is good after it."""
    token = context_variable.set("before")
    await asyncio.sleep(0)
    context_variable.reset(token)
    await text(send, context_variable.get())


@page
async def timeouts(scope, receive, send):
    ends = []
    try:
        await asyncio.wait_for(asyncio.Event().wait(), 0.01)
    except asyncio.TimeoutError:
        ends.append("wait_for")
    if hasattr(asyncio, "timeout"):
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            ends.append("timeout")
        async with asyncio.TaskGroup() as group:
            child = group.create_task(asyncio.sleep(0, "TaskGroup"))
        ends.append(child.result())
    await text(send, json.dumps(ends))


@page
async def any_io(scope, receive, send):
    import anyio
    import anyio.to_thread
    import sniffio

    with anyio.move_on_after(0.01) as moved:
        await anyio.sleep(PATIENCE)
    with anyio.CancelScope() as cancelled:
        cancelled.cancel()
        await anyio.sleep(PATIENCE)
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 0)
    ends = [
        sniffio.current_async_library(),
        moved.cancelled_caught,
        cancelled.cancelled_caught,
        await anyio.to_thread.run_sync(lambda: "thread"),
    ]
    await text(send, json.dumps(ends))


@page
async def any_io_at_once(scope, receive, send):
    """A cancel scope before anything has suspended."""
    import anyio

    with anyio.CancelScope() as cancelled:
        cancelled.cancel()
        await anyio.sleep(PATIENCE)
    await text(send, str(cancelled.cancelled_caught))


# The coroutines.


@page
async def coroutines(scope, receive, send):
    one, two = receive(), send(start())
    shown = []
    for each in (one, two):
        shown.append(
            [
                asyncio.iscoroutine(each),
                isinstance(each, collections.abc.Coroutine),
                each.__name__,
                each.cr_running,
                each.cr_await,
            ]
        )
    one.close()
    two.close()
    await text(send, json.dumps(shown))


@page
async def wrapped(scope, receive, send):
    await asyncio.create_task(send(start()))
    await asyncio.wait_for(send(body(b"1", True)), PATIENCE)
    await asyncio.gather(send(body(b"2", True)), asyncio.sleep(0))
    await asyncio.shield(send(body(b"3", True)))
    await asyncio.ensure_future(send(body(b"4")))


@page
async def not_at_the_call(scope, receive, send):
    """Nothing happens until a coroutine is stepped."""
    late = send(start(500))
    await send(start(200))
    dropped = send(body(b"never"))
    del dropped
    await send(body(b"ok"))
    late.close()


@page
async def awaited_twice(scope, receive, send):
    first = send(start())
    await first
    try:
        await first
        again = None
    except RuntimeError as error:
        again = caught(error)
    await send(body(json.dumps(again).encode()))


@page
async def thrown_into(scope, receive, send):
    """throw() and close() as a coroutine that Python compiled has them."""
    ends = []
    for args in ((KeyError("v"),), (KeyError, "v"), (KeyError,), (3,)):
        coroutine = send(start(500))
        try:
            coroutine.throw(*args)
        except (KeyError, TypeError) as error:
            ends.append(caught(error))
        try:
            coroutine.send(None)
        except RuntimeError as error:
            ends.append(str(error))
    await text(send, json.dumps(ends))


@page
async def from_a_thread(scope, receive, send):
    """run_coroutine_threadsafe works; a step on a foreign thread does not."""
    loop = asyncio.get_running_loop()
    ends = []

    def work():
        try:
            send(start(500)).send(None)
        except RuntimeError as error:
            ends.append(str(error))
        for each in (start(), body(b"from a thread")):
            asyncio.run_coroutine_threadsafe(send(each), loop).result(PATIENCE)
        ends.append(threading.current_thread() is threading.main_thread())

    await loop.run_in_executor(None, work)
    see("from_a_thread", ends)


@page
async def keep(scope, receive, send):
    """Objects that outlive their request."""
    kept.extend([scope, receive, send, receive(), send(start())])
    await text(send, "kept")


@page
async def use_kept(scope, receive, send):
    ends = []
    old_scope, old_receive, old_send, old_receiving, old_sending = kept
    ends.append(old_scope["type"])
    for each in (old_receive(), old_receiving):
        ends.append((await each)["type"])
    for each in (old_send(start()), old_send(5), old_sending):
        try:
            await each
            ends.append(None)
        except RuntimeError as error:
            ends.append(type(error).__name__)
    kept.clear()
    await text(send, json.dumps(ends))


class Thing:
    pass


things = []


@page
async def leak(scope, receive, send):
    """Something whose life ends with the request's."""
    thing = Thing()
    things.append(weakref.ref(thing))
    await asyncio.sleep(0)
    scope["thing"] = thing
    scope["send"] = send
    await text(send, "ok")


@page
async def leaked(scope, receive, send):
    gc.collect()
    alive = sum(each() is not None for each in things)
    await text(send, json.dumps([len(things), alive]))
