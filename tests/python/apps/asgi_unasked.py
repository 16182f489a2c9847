"""Pages of asgi_app.py: the task, for who asks it for no attribute."""

import asyncio
import gc
import json
import weakref

from asgi_pages import PATIENCE, context_variable, page, see, text

kept_tasks = []
weak_tasks = []


@page
async def unbound(scope, receive, send):
    """What unbound methods say of the task in its first step."""
    task = asyncio.current_task()
    said = {}
    for name in ("get_context", "cancelling", "uncancel"):
        method = getattr(asyncio.Task, name, None)
        said[name] = None if method is None else repr(method(task))[:9]
    said["get_loop"] = (
        asyncio.Future.get_loop(task) is asyncio.get_running_loop()
    )
    coro = asyncio.Task.get_coro(task)
    said["get_coro"] = asyncio.iscoroutine(coro)
    said["get_name"] = asyncio.Task.get_name(task)[:5]
    for kind in (asyncio.Task, asyncio.Future):
        for name in ("result", "exception"):
            try:
                getattr(kind, name)(task)
            except asyncio.InvalidStateError:
                said[f"{kind.__name__}.{name}"] = "not done"
        said[f"{kind.__name__}.done"] = kind.done(task)
        said[f"{kind.__name__}.cancelled"] = kind.cancelled(task)
        said[f"{kind.__name__}.repr"] = kind.__repr__(task)[:14]
    said["same"] = asyncio.Task.get_coro(asyncio.current_task()) is coro
    said["stack"] = len(asyncio.Task.get_stack(task)) > 0
    await text(send, json.dumps(said))


@page
async def unbound_name(scope, receive, send):
    await text(send, asyncio.Task.get_name(asyncio.current_task()))


@page
async def unbound_context(scope, receive, send):
    """Nothing but the context: it is that of the step."""
    if hasattr(asyncio.Task, "get_context"):
        context = asyncio.Task.get_context(asyncio.current_task())
        context_variable.set("seen through the task")
        assert context[context_variable] == "seen through the task"
    await text(send, "checked")


@page
async def unbound_changes(scope, receive, send):
    """What unbound methods do in the first step holds."""
    task = asyncio.current_task()
    asyncio.Task.set_name(task, "mine")
    asyncio.Future.add_done_callback(task, lambda _: see("called", "one"))
    asyncio.Task.add_done_callback(task, lambda _: see("called_too", "two"))
    if scope["query_string"] == b"wait":
        await asyncio.sleep(0)
    await text(send, asyncio.Task.get_name(asyncio.current_task()))


@page
async def unbound_cancel(scope, receive, send):
    task = asyncio.current_task()
    end = [asyncio.Task.cancel(task, "unbound")]
    try:
        await asyncio.sleep(PATIENCE)
        end.append("slept")
    except asyncio.CancelledError as error:
        end += [*error.args, asyncio.current_task() is task]
    await text(send, json.dumps(end))


@page
async def kept_task(scope, receive, send):
    """Kept by something that asks it for nothing."""
    task = asyncio.current_task()
    kept_tasks.append(task)
    if scope["query_string"] == b"raise":
        raise KeyError("kept")
    if scope["query_string"] == b"cancel":
        raise asyncio.CancelledError
    if scope["query_string"] == b"cancel_late":
        task.cancel()
    if scope["query_string"] == b"cancel_unbound":
        asyncio.Task.cancel(task)
    await text(send, "kept")


@page
async def kept_tasks_end(scope, receive, send):
    tasks = kept_tasks.copy()
    kept_tasks.clear()
    done, pending = await asyncio.wait(tasks, timeout=PATIENCE)
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    said = [
        [task.done(), task.cancelled(), repr(task)[:6], type(end).__name__]
        for task, end in zip(tasks, ends, strict=True)
    ]
    await text(send, json.dumps([len(done), len(pending), said]))


@page
async def weakly_kept_task(scope, receive, send):
    weak_tasks.append(weakref.ref(asyncio.current_task()))
    await text(send, "kept")


@page
async def weakly_kept_tasks_end(scope, receive, send):
    """Those that are still there: none when their requests are over."""
    await asyncio.sleep(0)
    gc.collect()
    alive = [task() for task in weak_tasks if task() is not None]
    await text(send, json.dumps([len(weak_tasks), len(alive)]))
