"""Pages of asgi_app.py: the scope, receiving and sending."""

import asyncio
import contextlib
import json
import pathlib
import sys
import time

from asgi_pages import (
    PATIENCE,
    body,
    caught,
    page,
    read_all,
    see,
    start,
    text,
)

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
            for inner in part.values():
                if isinstance(inner, dict):
                    inner["spoilt"] = True
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


def hint(*links):
    return {"type": "http.response.early_hint", "links": links}


def trailers(*headers, more=False):
    return {
        "type": "http.response.trailers",
        "headers": headers,
        "more_trailers": more,
    }


def started(*headers):
    return {**start(200, *headers), "trailers": True}


@page
async def trailers_that_fail(scope, receive, send):
    """The body is whole, and its end is not said."""
    await send(started())
    await send(body(b"x"))
    await send(trailers((b"a", b"b"), more=True))
    raise ZeroDivisionError


@page
async def hints(scope, receive, send):
    """Before the body of the request is there, and after."""
    await send(hint(b"</a.css>; rel=preload"))
    await read_all(receive)
    for link in (b"</b.js>", bytearray(b"</c>")):
        await send({"type": "http.response.early_hint", "links": iter([link])})
    await text(send, "late")


@page
async def hints_for_nobody(scope, receive, send):
    """Until the client reads."""
    count = 0

    async def flood():
        nonlocal count
        while True:
            await send(hint(b"x" * 8000))
            count += 1

    flooding = asyncio.create_task(flood())
    before = -1
    while before != count:
        before = count
        await asyncio.sleep(0.2)
    see("hints_for_nobody", count)
    await read_all(receive)
    flooding.cancel()
    await text(send, "at last")


@page
async def start_alone(scope, receive, send):
    """The body waits for that of the request."""
    await send(start(200, (b"x-early", b"1")))
    see("start_alone", True)
    await read_all(receive)
    await send(body(b"late"))


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
async def huge(scope, receive, send):
    """One body of 16 MiB: whether send() has returned, and how many more
    references to it there are, before the client reads and after."""
    data = bytes(16 << 20)
    await send(start(200, (b"content-length", str(len(data)).encode())))
    references = sys.getrefcount(data)
    message = body(data, True)
    sending = asyncio.ensure_future(send(message))
    del message
    await asyncio.wait([sending], timeout=0.3)
    see("huge_before", [sending.done(), sys.getrefcount(data) - references])
    await sending
    del sending
    await send(body())
    for _ in range(PATIENCE * 100):
        if sys.getrefcount(data) == references:
            break
        await asyncio.sleep(0.01)
    see("huge_after", sys.getrefcount(data) - references)


@page
async def start_first(scope, receive, send):
    await send(start(202))
    await send(body((await receive())["body"]))


@page
async def refused_large(scope, receive, send):
    """A large body that is refused is not held by anybody afterwards."""
    data = bytes(100_000)
    references = sys.getrefcount(data)
    await send(start(200, (b"content-length", b"5")))
    with contextlib.suppress(RuntimeError):
        await send(body(data))
    see("refused_large", sys.getrefcount(data) - references)


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


together = []


@page
async def burst(scope, receive, send):
    """Forty go on in one turn, which ends when there is a file."""
    file = pathlib.Path(scope["query_string"].decode())
    loop = asyncio.get_running_loop()
    together.append(mine := loop.create_future())

    def keep():
        end = time.monotonic() + PATIENCE / 2
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.01)
        see("burst", file.exists())

    if len(together) == 40:
        for each in together:
            loop.call_soon(each.set_result, None)
        loop.call_soon(loop.call_soon, keep)
    await mine
    await text(send, "event")


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
