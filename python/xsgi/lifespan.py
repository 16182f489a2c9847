"""The ASGI lifespan protocol: start-up before the first request, shutdown
after the last one.

    lifespan = Lifespan(app, mode="auto")
    await lifespan.startup()      # raises StartupError
    ...                           # lifespan.state goes into each scope
    await lifespan.shutdown()

An application that does not support the protocol raises when it sees the
scope, or returns. One that has taken ``lifespan.startup`` supports it: if it
raises then, its start-up has failed, and serving it would only hide that.
"""

from __future__ import annotations

import asyncio
import enum
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from xsgi import log
from xsgi.errors import StartupError

#: Seconds that a cancelled lifespan gets to clean up.
CANCEL_PATIENCE = 5.0

#: Seconds of waiting until it is said what is waited for.
TELL_AFTER = 2.0

#: Characters of what an application raised that are shown in a line.
SHOWN_MAX = 200

_CANCELLED = "it was cancelled, and not by the server"

_MODES = ("auto", "on", "off")

#: How the messages of ASGI's other protocols begin.
_OTHERS = ("http.", "websocket.")


class _Phase(enum.Enum):
    STARTING = "startup"
    SERVING = "serving"
    STOPPING = "shutdown"
    ENDED = "ended"


class Lifespan:
    """One application's lifespan, on the running loop.

    Time limits are in seconds, ``None`` is without limit.
    """

    #: What the application keeps there is in the scope of each request, as a
    #: shallow copy. ``None``: the application has no lifespan.
    state: dict[str, Any] | None

    def __init__(
        self,
        app: Callable[..., Any],
        mode: str = "auto",
        *,
        startup_timeout: float | None = 60.0,
        shutdown_timeout: float | None = 30.0,
    ) -> None:
        if mode not in _MODES:
            raise ValueError(f"lifespan mode {mode!r} is not one of {_MODES}")
        self.state = None
        self._app = app
        self._mode = mode
        self._startup_timeout = startup_timeout
        self._shutdown_timeout = shutdown_timeout
        self._phase = _Phase.ENDED
        self._task: asyncio.Task[None] | None = None
        # The application's word on the present phase: None, or what failed.
        self._answer: asyncio.Future[str | None]
        # lifespan.shutdown may be received.
        self._stop: asyncio.Event
        # It has received lifespan.startup.
        self._asked = False
        # It has sent something of another protocol: it does not know this one.
        self._stray = False

    async def startup(self) -> None:
        """Start the application up.

        Raises StartupError if it says that it failed, raises, takes too long,
        or has no lifespan although the mode is "on". What it raised is logged
        with its traceback.
        """
        if self._mode == "off":
            return
        loop = asyncio.get_running_loop()
        self.state = {}
        self._answer = loop.create_future()
        self._stop = asyncio.Event()
        self._phase = _Phase.STARTING
        self._task = loop.create_task(self._run(), name="xsgi lifespan")
        try:
            with self._telling(self._startup_timeout):
                await self._wait(self._startup_timeout)
        except BaseException:
            await self._cancel()
            raise
        if self._answer.done():
            await self._answered(self._answer.result())
        elif self._task.done():
            self._returned(self._task)
        else:
            await self._cancel()
            raise StartupError(
                "The application's lifespan start-up took more than"
                f" {self._startup_timeout:g} s."
            )

    async def shutdown(self) -> bool:
        """Shut the application down, if it was started up.

        False if it failed or took too long; the log then says so.
        """
        if self._task is None or self._task.done():
            return True
        loop = asyncio.get_running_loop()
        limit = self._shutdown_timeout
        until = None if limit is None else loop.time() + limit
        self._task.remove_done_callback(self._ended_early)
        self._answer = loop.create_future()
        self._phase = _Phase.STOPPING
        self._stop.set()
        try:
            with self._telling(limit):
                await self._wait(limit)
                if self._answer.done():
                    # It said so: let it also return, in what time is left.
                    left = None if until is None else until - loop.time()
                    await asyncio.wait({self._task}, timeout=left)
        finally:
            in_time = self._task.done()
            await self._cancel()
        return self._stopped(in_time)

    # What becomes of a phase.

    async def _answered(self, failure: str | None) -> None:
        assert self._task is not None
        if failure is None:
            self._phase = _Phase.SERVING
            self._task.add_done_callback(self._ended_early)
            return
        await self._cancel()
        if "\n" in failure.strip():
            log.error.error("Lifespan start-up failed:\n%s", failure.rstrip())
        raise StartupError(
            "The application's lifespan start-up failed:"
            f" {_last_line(failure) or 'it gave no message'}"
        )

    def _returned(self, task: asyncio.Task[None]) -> None:
        """It has ended without a word."""
        error = _error_of(task)
        self._phase = _Phase.ENDED
        self.state = None
        supported = self._asked and not self._stray and error is not None
        if task.cancelled():
            raise StartupError(
                f"The application's lifespan start-up failed: {_CANCELLED}."
            )
        if self._mode == "auto" and not supported:
            self._has_none(error)
            return
        if error is None:
            raise StartupError(
                "The application returned from its lifespan without"
                " lifespan.startup.complete."
            )
        log.error.error("Lifespan start-up failed", exc_info=error)
        raise StartupError(
            "The application's lifespan start-up failed:"
            f" {_one_line(error)} (--lifespan off goes without)"
        ) from error

    def _has_none(self, error: BaseException | None) -> None:
        if error is None:
            log.error.debug("The application has no lifespan, and needs none")
            return
        log.error.info(
            "The application raised %s when asked for its lifespan: it is"
            " served without (--lifespan on refuses that)",
            _one_line(error),
        )
        log.error.debug("Asked for its lifespan, it raised", exc_info=error)

    def _ended_early(self, task: asyncio.Task[None]) -> None:
        """It has ended while requests are served: it will not be told of the
        shutdown."""
        self._phase = _Phase.ENDED
        error = _error_of(task)
        if error is not None:
            log.error.error(
                "The application's lifespan ended early", exc_info=error
            )
        elif task.cancelled():
            log.error.error(
                "The application's lifespan ended early: %s", _CANCELLED
            )

    def _stopped(self, in_time: bool) -> bool:
        assert self._task is not None
        self._phase = _Phase.ENDED
        failure = self._answer.result() if self._answer.done() else None
        error = _error_of(self._task)
        if failure is not None:
            log.error.error("Lifespan shutdown failed:\n%s", failure.rstrip())
        elif not in_time:
            log.error.error(
                "The application's lifespan shutdown took more than %g s",
                self._shutdown_timeout,
            )
        elif error is not None:
            log.error.error("Lifespan shutdown failed", exc_info=error)
        elif self._task.cancelled() and not self._answer.done():
            log.error.error("Lifespan shutdown failed: %s", _CANCELLED)
        else:
            return True
        return False

    # What the application is called with.

    async def _run(self) -> None:
        scope = {
            "type": "lifespan",
            "asgi": {"version": "3.0", "spec_version": "2.0"},
            "state": self.state,
        }
        await self._app(scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "lifespan.startup"}
        await self._stop.wait()
        self._stop.clear()
        return {"type": "lifespan.shutdown"}

    async def _send(self, message: dict[str, Any]) -> None:
        kind = _kind_of(message)
        complete = f"lifespan.{self._phase.value}.complete"
        failed = f"lifespan.{self._phase.value}.failed"
        if kind not in (complete, failed) or self._answer.done():
            self._stray = str(kind).startswith(_OTHERS)
            raise RuntimeError(
                f"ASGI: {kind!r} may not be sent in a lifespan that is"
                f" {self._phase.name.lower()}"
            )
        failure = None
        if kind == failed:
            failure = str(message.get("message") or "it gave no message")
        self._answer.set_result(failure)

    # Waiting.

    @contextmanager
    def _telling(self, limit: float | None) -> Iterator[None]:
        """Say once what is waited for, if that takes long."""
        phase = self._phase.value

        def tell() -> None:
            log.error.info(
                "waiting for the application's lifespan %s"
                " (timeout_lifespan_%s: %s)",
                "start-up" if phase == "startup" else phase,
                phase,
                "none" if limit is None else f"{limit:g} s",
            )

        timer = asyncio.get_running_loop().call_later(TELL_AFTER, tell)
        try:
            yield
        finally:
            timer.cancel()

    async def _wait(self, timeout: float | None) -> None:
        """For the answer, the end of the task, or the time limit."""
        assert self._task is not None
        waiting: set[asyncio.Future[Any]] = {self._task, self._answer}
        await asyncio.wait(
            waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )

    async def _cancel(self) -> None:
        """End the task, if it has not ended."""
        assert self._task is not None
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=CANCEL_PATIENCE)
        _error_of(self._task)


def _kind_of(message: Any) -> Any:
    """The type of ``message``, as the application gave it."""
    if not isinstance(message, dict):
        raise TypeError(
            f"ASGI: a message must be a dict, not {type(message).__name__}"
        )
    if "type" not in message:
        raise ValueError("ASGI: a message must have a 'type'")
    return message["type"]


def _error_of(task: asyncio.Task[None]) -> BaseException | None:
    """What the task raised, if it has ended so; marks it as seen."""
    if not task.done() or task.cancelled():
        return None
    return task.exception()


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""


def _one_line(error: BaseException) -> str:
    """Its type and what it says, as Python shows them but on one line."""
    text = "".join(traceback.format_exception_only(error))
    text = " ".join(text.split())
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."
