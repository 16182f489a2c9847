"""An ASGI application of many small ones, each at a path of its own.

What one of them saw is kept under its name: ``GET /seen/NAME`` waits for it
and gives it as JSON.
"""

import asyncio
import collections.abc
import contextvars
import gc
import json
import threading
import weakref

PATIENCE = 10

pages = {}
seen = {}
news = {}
context_variable = contextvars.ContextVar("context_variable", default="none")
kept = []


def page(function):
    pages["/" + function.__name__] = function
    return function


def see(name, value):
    seen[name] = value
    news.setdefault(name, asyncio.Event()).set()


def start(status=200, *headers):
    return {
        "type": "http.response.start",
        "status": status,
        "headers": list(headers),
    }


def body(data=b"", more=False):
    return {"type": "http.response.body", "body": data, "more_body": more}


async def text(send, data, status=200):
    if isinstance(data, str):
        data = data.encode()
    await send(start(status, (b"content-type", b"text/plain")))
    await send(body(data))


async def read_all(receive):
    data = b""
    while True:
        message = await receive()
        data += message["body"]
        if not message["more_body"]:
            return data


def caught(error):
    return [type(error).__name__, str(error)]


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return await lifespan(scope, receive, send)
    path = scope["path"].removeprefix(scope["root_path"])
    if path.startswith("/seen/"):
        name = path.removeprefix("/seen/")
        event = news.setdefault(name, asyncio.Event())
        await asyncio.wait_for(event.wait(), PATIENCE)
        event.clear()
        return await text(send, json.dumps(seen.pop(name)))
    await pages.get(path, hello)(scope, receive, send)


async def lifespan(scope, receive, send):
    await receive()
    scope["state"]["started"] = ["by the lifespan"]
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


@page
async def hello(scope, receive, send):
    await text(send, "hello")


# The scope.


@page
async def scope(scope, receive, send):
    def plain(value):
        if isinstance(value, bytes):
            return {"bytes": value.decode("latin-1")}
        return repr(value)

    await text(send, json.dumps(scope, default=plain))


@page
async def scope_types(scope, receive, send):
    types = {key: type(value).__name__ for key, value in scope.items()}
    pair = scope["headers"][0]
    types["pair"] = [type(pair).__name__, *(type(e).__name__ for e in pair)]
    await text(send, json.dumps(types))


@page
async def raw(scope, receive, send):
    names = ("path", "root_path", "method", "http_version")
    shown = {name: scope[name] for name in names}
    shown["raw_path"] = scope["raw_path"].decode("latin-1")
    shown["query_string"] = scope["query_string"].decode("latin-1")
    shown["headers"] = [
        [name.decode("latin-1"), value.decode("latin-1")]
        for name, value in scope["headers"]
    ]
    await text(send, json.dumps(shown))


@page
async def spoil_scope(scope, receive, send):
    """Whatever is done to one scope is not in the next one."""
    fresh = "spoilt" not in repr(scope)
    for part in list(scope.values()):
        if isinstance(part, dict):
            part["spoilt"] = True
        if isinstance(part, list):
            part.append((b"spoilt", b""))
    scope.clear()
    scope["spoilt"] = True
    await text(send, str(fresh))


@page
async def state(scope, receive, send):
    scope["state"]["mine"] = 1
    await text(send, json.dumps(scope["state"]))


# Receiving.


@page
async def echo(scope, receive, send):
    await text(send, await read_all(receive))


@page
async def count(scope, receive, send):
    """The length of the body and of its longest message."""
    total, longest = 0, 0
    while True:
        message = await receive()
        total += len(message["body"])
        longest = max(longest, len(message["body"]))
        if not message["more_body"]:
            break
    await text(send, json.dumps([total, longest]))


@page
async def message(scope, receive, send):
    first = await receive()
    first["body"] = [type(first["body"]).__name__, len(first["body"])]
    await text(send, json.dumps(first))


@page
async def after_response(scope, receive, send):
    await read_all(receive)
    await text(send, "done")
    again = [await receive(), await receive()]
    see("after_response", again)


@page
async def wait_for_disconnect(scope, receive, send):
    await read_all(receive)
    see("waiting", True)
    first = await receive()
    again = await receive()
    try:
        await text(send, "late")
        sent = None
    except OSError as error:
        sent = caught(error)
    see("wait_for_disconnect", [first, again, sent])


@page
async def until_disconnect(scope, receive, send):
    """What is received until the client goes."""
    kinds = []
    while "http.disconnect" not in kinds:
        message = await receive()
        kinds.append(message["type"])
        see("until_disconnect", kinds)


@page
async def two_receivers(scope, receive, send):
    messages = await asyncio.gather(receive(), receive(), receive())
    sizes = [len(m.get("body", b"")) for m in messages]
    see("two_receivers", [sum(sizes), [m["type"] for m in messages]])
    await text(send, "both")


@page
async def cancelled_receive(scope, receive, send):
    """A receive() that was given up takes nothing with it."""
    try:
        await asyncio.wait_for(receive(), 0.01)
        gave_up = False
    except asyncio.TimeoutError:
        gave_up = True
    see("cancelled_receive", gave_up)
    await text(send, await read_all(receive))


@page
async def slow_reader(scope, receive, send):
    see("slow_reader", True)
    await asyncio.sleep(0.3)
    await count(scope, receive, send)


# Sending.


@page
async def messages(scope, receive, send):
    """Send what the request says: Python source of a list of messages. The
    first one that is refused is the answer."""
    source = await read_all(receive)
    for each in eval(source):
        try:
            await send(each)
        except Exception as error:
            see("messages", caught(error))
            return await text(send, json.dumps(caught(error)), 500)
    see("messages", None)


@page
async def chunks(scope, receive, send):
    await send(start())
    for part in (b"one", b"", b"two", bytearray(b"three"), memoryview(b"4")):
        await send(body(part, True))
    await send(body())


@page
async def headers(scope, receive, send):
    pairs = iter([[b"X-One", b"1"], (bytearray(b"x-two"), memoryview(b"2"))])
    await send({"type": "http.response.start", "status": 201, "headers": pairs})
    await send({"type": "http.response.body"})


@page
async def bare(scope, receive, send):
    await send({"type": "http.response.start", "status": 204})
    await send({"type": "http.response.body"})


@page
async def large(scope, receive, send):
    """64 bodies of 64 KiB, each different, and how far ahead it got."""
    await send(start(200, (b"content-length", str(64 << 16).encode())))
    for number in range(64):
        await send(body(bytes([number]) * 65536, number < 63))
        see("sent", number)


@page
async def changing(scope, receive, send):
    """A buffer may be used again as soon as send() has returned."""
    buffer = bytearray(100_000)
    await send(start(200, (b"content-length", b"300000")))
    for number in range(3):
        buffer[:] = bytes([number]) * len(buffer)
        await send(body(buffer, number < 2))


@page
async def endless(scope, receive, send):
    await send(start())
    try:
        while True:
            await send(body(b"x" * 65536, True))
    except BaseException as error:
        see("endless", caught(error))
        raise


@page
async def endless_and_receive(scope, receive, send):
    """Blocked in send() and in receive() when the client goes."""

    async def listen():
        while (await receive())["type"] != "http.disconnect":
            pass
        return "told"

    listening = asyncio.ensure_future(listen())
    await send(start())
    try:
        while True:
            await send(body(b"x" * 65536, True))
    except OSError as error:
        told = await asyncio.wait_for(listening, PATIENCE)
        see("endless_and_receive", [told, caught(error)])


@page
async def endless_then_framework(scope, receive, send):
    """What Starlette makes of it: an exception of its own, in handling."""
    await send(start())
    try:
        while True:
            await send(body(b"x" * 65536, True))
    except OSError:
        raise LookupError("client left") from None


@page
async def endless_then_bug(scope, receive, send):
    await send(start())
    try:
        while True:
            await send(body(b"x" * 65536, True))
    except OSError:
        raise LookupError("a bug in cleaning up") from None


@page
async def cancel_blocked_send(scope, receive, send):
    await send(start())
    sent = 0

    async def fill():
        nonlocal sent
        while True:
            await send(body(b"x" * 65536, True))
            sent += 1

    filling = asyncio.ensure_future(fill())
    before = -1
    while before != sent:
        before = sent
        await asyncio.sleep(0.2)
    filling.cancel()
    try:
        await filling
        see("cancel_blocked_send", "not cancelled")
    except asyncio.CancelledError:
        see("cancel_blocked_send", "cancelled")
    await send(body())


@page
async def two_senders(scope, receive, send):
    """Two tasks fill one response: every message arrives whole."""
    await send(start())

    async def fill(byte):
        for _ in range(20):
            await send(body(byte * 65536, True))

    await asyncio.gather(fill(b"a"), fill(b"b"))
    await send(body())


async def break_length(send, name, length, *parts):
    await send(start(200, (b"content-length", length)))
    try:
        for number, part in enumerate(parts, 1):
            await send(body(part, number < len(parts)))
    except RuntimeError as error:
        see(name, caught(error))
        raise


@page
async def too_long(scope, receive, send):
    await break_length(send, "too_long", b"3", b"four")


@page
async def too_short(scope, receive, send):
    await break_length(send, "too_short", b"5", b"four")


@page
async def too_long_later(scope, receive, send):
    await break_length(send, "too_long_later", b"3", b"on", b"e two")


@page
async def too_short_later(scope, receive, send):
    await break_length(send, "too_short_later", b"9", b"one", b"two")


@page
async def after_end(scope, receive, send):
    await text(send, "complete")
    errors = []
    for each in (start(), body(b"more"), {"type": "nonsense"}):
        try:
            await send(each)
            errors.append(None)
        except RuntimeError as error:
            errors.append(caught(error))
    see("after_end", errors)


@page
async def second_start(scope, receive, send):
    await send(start())
    try:
        await send(start())
        see("second_start", None)
    except RuntimeError as error:
        see("second_start", caught(error))
    await send(body(b"ok"))


@page
async def bad_header_then_good(scope, receive, send):
    try:
        await send(start(200, (b"x-one", b"1"), (b"x-bad", b"a\r\nb: c")))
    except ValueError as error:
        await text(send, json.dumps(caught(error)), 500)


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
