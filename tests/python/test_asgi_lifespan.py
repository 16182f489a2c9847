"""The lifespan protocol, without a server."""

import asyncio
import logging

import pytest

from xsgi.errors import StartupError
from xsgi.lifespan import Lifespan
from xsgi.loop import Loop

COMPLETE = {"type": "lifespan.startup.complete"}
STOPPED = {"type": "lifespan.shutdown.complete"}


async def good(scope, receive, send):
    assert await receive() == {"type": "lifespan.startup"}
    scope["state"]["answer"] = 42
    await send(COMPLETE)
    assert await receive() == {"type": "lifespan.shutdown"}
    await send(STOPPED)


def start(app, mode="auto", **limits):
    """Start ``app`` up and down again: its state in between, and whether the
    shutdown went well."""

    async def main():
        lifespan = Lifespan(app, mode, **limits)
        await lifespan.startup()
        state = lifespan.state
        return state, await lifespan.shutdown()

    return asyncio.run(main())


def fails(app, mode="auto", **limits):
    """The one line that a failing start-up gives."""
    with pytest.raises(StartupError) as caught:
        start(app, mode, **limits)
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize("mode", ["auto", "on"])
def test_state_is_what_the_application_put_there(mode):
    state, stopped = start(good, mode)

    assert state == {"answer": 42}
    assert stopped


def test_scope_says_lifespan_and_its_version():
    seen = {}

    async def app(scope, receive, send):
        seen.update(scope)
        await good(scope, receive, send)

    start(app)

    assert seen["type"] == "lifespan"
    assert seen["asgi"] == {"version": "3.0", "spec_version": "2.0"}


def test_off_does_not_call_the_application():
    async def app(scope, receive, send):
        raise AssertionError("called")

    assert start(app, "off") == (None, True)


async def refuses(scope, receive, send):
    raise ValueError("only http here")


async def returns(scope, receive, send):
    return


async def answers_http(scope, receive, send):
    await receive()
    await send({"type": "http.response.start", "status": 200})


@pytest.mark.parametrize("app", [refuses, returns, answers_http])
def test_auto_goes_on_without_an_unsupported_lifespan(app):
    assert start(app, "auto") == (None, True)


@pytest.mark.parametrize("app", [refuses, returns, answers_http])
def test_on_refuses_an_unsupported_lifespan(app):
    fails(app, "on")


def test_auto_goes_on_with_a_line_that_says_why(caplog):
    with caplog.at_level(logging.INFO, "xsgi.error"):
        start(refuses)

    (record,) = caplog.records
    assert record.levelname == "INFO"
    assert record.getMessage() == (
        "The application raised ValueError: only http here when asked for its"
        " lifespan: it is served without (--lifespan on refuses that)"
    )
    assert record.exc_info is None


def test_what_was_raised_is_told_on_one_line_that_ends(caplog):
    async def app(scope, receive, send):
        raise ValueError("one\ntwo\n" + "x" * 1000)

    with caplog.at_level(logging.INFO, "xsgi.error"):
        start(app)

    (line,) = caplog.messages
    assert "ValueError: one two xxx" in line
    assert "\n" not in line
    assert len(line) < 400


def test_auto_goes_on_in_silence_if_nothing_was_raised(caplog):
    with caplog.at_level(logging.INFO, "xsgi.error"):
        start(returns)

    assert caplog.messages == []


def test_auto_shows_why_it_goes_on_to_who_looks_closer(caplog):
    with caplog.at_level(logging.DEBUG, "xsgi.error"):
        start(refuses)

    assert "ValueError: only http here" in caplog.text


@pytest.mark.parametrize("mode", ["auto", "on"])
def test_an_exception_after_the_startup_message_is_a_failed_startup(
    mode, caplog
):
    async def app(scope, receive, send):
        await receive()
        raise KeyError("DATABASE_URL")

    line = fails(app, mode)

    assert "KeyError: 'DATABASE_URL'" in line
    assert "Traceback" in caplog.text


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("mode", ["auto", "on"])
def test_an_application_that_is_cancelled_at_its_startup_has_failed(mode, asks):
    async def app(scope, receive, send):
        if asks:
            await receive()
        asyncio.current_task().cancel()
        await asyncio.Event().wait()

    assert "it was cancelled, and not by the server" in fails(app, mode)


def test_an_application_that_is_cancelled_while_serving_is_told(caplog):
    async def app(scope, receive, send):
        await receive()
        await send(COMPLETE)
        raise asyncio.CancelledError

    async def main():
        lifespan = Lifespan(app)
        await lifespan.startup()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return await lifespan.shutdown()

    assert asyncio.run(main())
    assert caplog.messages == [
        "The application's lifespan ended early: it was cancelled, and not by"
        " the server"
    ]


def test_an_application_that_is_cancelled_at_its_shutdown_has_failed(caplog):
    async def app(scope, receive, send):
        await receive()
        await send(COMPLETE)
        await receive()
        raise asyncio.CancelledError

    _, stopped = start(app)

    assert not stopped
    assert caplog.messages == [
        "Lifespan shutdown failed: it was cancelled, and not by the server"
    ]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (None, "TypeError: ASGI: a message must be a dict, not NoneType"),
        ({}, "ValueError: ASGI: a message must have a 'type'"),
        ({"type": None}, "RuntimeError: ASGI: None may not be sent"),
        (
            {"type": b"lifespan.startup.complete"},
            "RuntimeError: ASGI: b'lifespan.startup.complete' may not be sent",
        ),
        (
            {"type": "lifspan.startup.complete"},
            "RuntimeError: ASGI: 'lifspan.startup.complete' may not be sent",
        ),
    ],
)
@pytest.mark.parametrize("mode", ["auto", "on"])
def test_a_message_that_is_none_is_a_failed_startup_that_says_so(
    mode, message, error
):
    async def app(scope, receive, send):
        await receive()
        await send(message)

    assert error in fails(app, mode)


@pytest.mark.parametrize("mode", ["auto", "on"])
def test_startup_failed_is_a_failed_startup_with_its_last_line(mode, caplog):
    async def app(scope, receive, send):
        await receive()
        text = "Traceback:\n  File x\nOSError: no database\n"
        await send({"type": "lifespan.startup.failed", "message": text})
        raise OSError("no database")

    line = fails(app, mode)

    assert line.endswith(": OSError: no database")
    assert "File x" in caplog.text


def test_startup_failed_without_a_message_says_so():
    async def app(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed"})

    assert "no message" in fails(app)


def test_a_startup_that_hangs_is_cancelled_at_its_limit():
    seen = []

    async def app(scope, receive, send):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    line = fails(app, startup_timeout=0.02)

    assert "took more than 0.02 s" in line
    assert seen == ["cancelled"]


def told_while(seconds, caplog, **limits):
    """What is told while each phase takes ``seconds`` of virtual time."""

    async def app(scope, receive, send):
        for _ in range(2):
            message = await receive()
            await asyncio.sleep(seconds)
            await send({"type": message["type"] + ".complete"})

    async def main():
        lifespan = Lifespan(app, **limits)
        await lifespan.startup()
        assert await lifespan.shutdown()
        await asyncio.sleep(60)

    loop = Loop("sim", faults=False)
    try:
        with caplog.at_level(logging.INFO, "xsgi.error"):
            loop.run_until_complete(main())
    finally:
        loop.close()
    return caplog.messages


def test_what_is_waited_for_long_is_told_once(caplog):
    assert told_while(20, caplog, shutdown_timeout=None) == [
        "waiting for the application's lifespan start-up"
        " (timeout_lifespan_startup: 60 s)",
        "waiting for the application's lifespan shutdown"
        " (timeout_lifespan_shutdown: none)",
    ]


def test_what_is_waited_for_a_moment_is_not_told(caplog):
    assert told_while(1.9, caplog) == []


def test_cancelling_startup_cancels_the_application():
    seen = []

    async def app(scope, receive, send):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main():
        task = asyncio.create_task(Lifespan(app).startup())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return list(seen)  # asyncio.run cancels what is left

    assert asyncio.run(main()) == ["cancelled"]


def test_a_shutdown_that_hangs_is_cancelled_at_its_limit(caplog):
    async def app(scope, receive, send):
        await receive()
        await send(COMPLETE)
        await receive()
        await asyncio.Event().wait()

    _, stopped = start(app, shutdown_timeout=0.02)

    assert not stopped
    assert "took more than 0.02 s" in caplog.text


def test_an_application_that_stays_after_shutdown_is_cancelled(caplog):
    async def app(scope, receive, send):
        await good(scope, receive, send)
        await asyncio.Event().wait()

    _, stopped = start(app, shutdown_timeout=0.02)

    assert not stopped


def test_what_is_said_and_what_follows_share_one_limit():
    async def app(scope, receive, send):
        await receive()
        await send(COMPLETE)
        await receive()
        await asyncio.sleep(20)
        await send(STOPPED)
        await asyncio.Event().wait()

    async def main():
        lifespan = Lifespan(app, shutdown_timeout=30)
        await lifespan.startup()
        before = loop.time()
        assert not await lifespan.shutdown()
        return loop.time() - before

    loop = Loop("sim", faults=False)
    try:
        took = loop.run_until_complete(main())
    finally:
        loop.close()

    assert 30 <= took < 31


def test_shutdown_is_received_once():
    seen = []

    async def app(scope, receive, send):
        while True:
            seen.append((await receive())["type"])
            await send({"type": seen[-1] + ".complete"})

    start(app, shutdown_timeout=0.02)

    assert seen == ["lifespan.startup", "lifespan.shutdown"]


def test_shutdown_failed_is_logged_with_its_message(caplog):
    async def app(scope, receive, send):
        await receive()
        await send(COMPLETE)
        await receive()
        await send({"type": "lifespan.shutdown.failed", "message": "stuck"})

    _, stopped = start(app)

    assert not stopped
    assert "stuck" in caplog.text


def test_an_exception_during_shutdown_is_logged(caplog):
    async def app(scope, receive, send):
        await receive()
        await send(COMPLETE)
        await receive()
        raise RuntimeError("cannot let go")

    _, stopped = start(app)

    assert not stopped
    assert caplog.messages == ["Lifespan shutdown failed"]
    assert "cannot let go" in caplog.text


def test_an_application_that_returns_after_startup_needs_no_shutdown(caplog):
    async def app(scope, receive, send):
        await receive()
        await send(COMPLETE)

    state, stopped = start(app)

    assert state == {}
    assert stopped
    assert caplog.text == ""


def test_an_exception_while_serving_is_logged_once(caplog):
    async def app(scope, receive, send):
        await receive()
        await send(COMPLETE)
        raise RuntimeError("background task died")

    async def main():
        lifespan = Lifespan(app)
        await lifespan.startup()
        await asyncio.sleep(0)
        return await lifespan.shutdown()

    assert asyncio.run(main())
    assert caplog.text.count("ended early") == 1


def test_startup_complete_twice_is_an_error_of_the_application(caplog):
    seen = []

    async def app(scope, receive, send):
        await receive()
        await send(COMPLETE)
        try:
            await send(COMPLETE)
        except RuntimeError as error:
            seen.append(str(error))

    start(app)

    assert "may not be sent" in seen[0]


def test_shutdown_complete_during_startup_is_a_failed_startup():
    async def app(scope, receive, send):
        await receive()
        await send(STOPPED)

    assert "RuntimeError" in fails(app)


def test_unknown_mode_is_refused():
    with pytest.raises(ValueError):
        Lifespan(good, "maybe")
