"""xsgi.Loop runs its turns in C, and nobody can tell but by the time it takes.

``debug`` loops run asyncio's own turns: what they do is what is right.
"""

import asyncio
import contextlib
import contextvars
import gc
import itertools
import random
import sys
import time
import warnings
import weakref

import pytest

from xsgi import _xsgi
from xsgi.loop import Loop


@pytest.fixture(params=["c", "asyncio"])
def loop(request):
    loop = Loop()
    loop.set_debug(request.param == "asyncio")
    yield loop
    loop.close()


def turn(loop):
    """Run what is ready now, and once more what that has made ready."""
    loop.call_soon(loop.stop)
    loop.run_forever()


def test_turns_are_in_c_unless_they_are_debugged():
    loop = Loop()
    loop.set_debug(False)
    assert isinstance(loop._run_once.__self__, _xsgi.Turns)

    loop.set_debug(True)
    assert loop._run_once.__self__ is loop
    loop.set_debug(False)
    assert isinstance(loop.call_soon.__self__, _xsgi.Turns)
    loop.close()


def test_subclass_keeps_its_own_call_soon():
    called = []

    class Own(Loop):
        def call_soon(self, callback, *args, context=None):
            called.append(callback)
            return super().call_soon(callback, *args, context=context)

    loop = Own()
    loop.set_debug(False)
    turn(loop)
    loop.close()

    assert called == [loop.stop]


def test_handle_is_that_of_asyncio(loop):
    handle = loop.call_soon(print, 1, 2)

    assert type(handle) is asyncio.Handle
    assert "print(" in repr(handle)
    assert not handle.cancelled()
    handle.cancel()
    assert handle.cancelled()
    assert weakref.ref(handle)() is handle


def test_callbacks_run_in_order_once_and_not_if_cancelled(loop):
    came = []
    handles = [loop.call_soon(came.append, i) for i in range(5)]
    handles[3].cancel()

    turn(loop)
    turn(loop)

    assert came == [0, 1, 2, 4]


def test_stop_before_a_run_makes_it_one_turn(loop):
    loop.call_later(20, print)
    start = loop.time()

    loop.stop()
    loop.run_forever()

    assert loop.time() - start < 10


def test_handles_that_are_gone_keep_nothing(loop):
    class Argument:
        def callback(self, *args):
            if len(args) > 1:
                raise LookupError

    things = [Argument(), contextvars.copy_context()]
    things.append(things[0].callback)

    def use():
        argument, context, callback = things
        loop.call_soon(callback, argument, context=context)
        loop.call_soon(callback, argument, argument)
        loop.call_soon(callback, argument).cancel()
        loop.call_at(0.0, callback, argument, context=context)
        loop.call_later(0, callback, argument)
        loop.call_later(3600, callback, argument).cancel()
        for wrong in ({"no": 1}, {"context": context, "no": 1}):
            for call in (loop.call_soon, loop.call_at, loop.call_later):
                with pytest.raises(TypeError):
                    call(1.5, callback, argument, **wrong)
        turn(loop)
        turn(loop)

    loop.set_exception_handler(lambda loop, told: None)
    use()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(20):
        use()
    gc.collect()

    assert [sys.getrefcount(thing) for thing in things] == before


def test_what_a_callback_makes_ready_runs_in_the_next_turn(loop):
    came = []

    def first():
        loop.call_soon(came.append, "second")
        loop.stop()

    loop.call_soon(first)
    loop.call_soon(came.append, "first")
    loop.run_forever()
    assert came == ["first"]

    turn(loop)
    assert came == ["first", "second"]


def test_callback_may_cancel_its_own_handle(loop):
    came = []

    def callback(*args):
        handle.cancel()
        gc.collect()
        came.append(args)

    handle = loop.call_soon(callback, object(), [1])
    turn(loop)

    assert [args[1] for args in came] == [[1]]


def test_callback_runs_in_its_context(loop):
    value = contextvars.ContextVar("value", default="none")
    came = []

    def callback():
        came.append(value.get())
        value.set("changed")

    context = contextvars.copy_context()
    context.run(value.set, "given")
    loop.call_soon(callback, context=context)
    loop.call_soon(callback, context=context)
    loop.call_soon(callback, context=None)
    loop.call_soon(callback)
    turn(loop)

    assert came == ["given", "changed", "none", "none"]
    assert value.get() == "none"


def test_wrong_arguments_are_type_errors(loop):
    for args, keywords in (
        ((), {}),
        ((print,), {"no_such": 1}),
        ((), {"context": None}),
        ((print,), {"context": None, "no_such": 1}),
    ):
        with pytest.raises(TypeError):
            loop.call_soon(*args, **keywords)
    came = []
    loop.call_soon(callback=lambda: came.append(1))
    turn(loop)
    assert came == [1]


def test_what_a_callback_raises_is_told_and_the_rest_runs(loop):
    told = []
    came = []

    def fails(argument):
        raise LookupError(argument)

    loop.set_exception_handler(lambda loop, context: told.append(context))
    handle = loop.call_soon(fails, "here")
    loop.call_soon(came.append, 1)
    turn(loop)

    (context,) = told
    assert repr(context["exception"]) == "LookupError('here')"
    assert context["handle"] is handle
    assert context["message"].startswith("Exception in callback ")
    assert "fails(" in context["message"]
    assert came == [1]


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_what_ends_the_program_ends_the_loop(loop, error):
    came = []

    def fails():
        raise error

    loop.call_soon(fails)
    loop.call_soon(came.append, 1)
    with pytest.raises(error):
        loop.run_forever()
    assert came == []

    turn(loop)
    assert came == [1]


def test_wrong_context_is_told_and_does_not_stop_the_loop(loop):
    told = []
    loop.set_exception_handler(lambda loop, context: told.append(context))

    loop.call_soon(print, context=object())
    turn(loop)

    assert len(told) == 1


def test_handle_of_another_kind_runs_itself(loop):
    class Other:
        _cancelled = False
        ran = 0

        def _run(self):
            self.ran += 1

    other = Other()
    cancelled = Other()
    cancelled._cancelled = True
    if loop.get_debug():
        loop.slow_callback_duration = 60
    loop._ready.extend([other, cancelled])
    turn(loop)

    assert other.ran == 1
    assert cancelled.ran == 0


def test_timers_come_in_order_and_not_if_cancelled(loop):
    came = []
    handles = [
        loop.call_later(delay / 1000, came.append, delay)
        for delay in (9, 3, 6, 1, 12)
    ]
    handles[2].cancel()
    handles[3].cancel()
    loop.call_later(0.02, loop.stop)
    loop.run_forever()

    assert came == [3, 9, 12]
    assert not any(handle._scheduled for handle in handles)


def test_many_cancelled_timers_do_not_stay(loop):
    handles = [loop.call_later(3600, print) for _ in range(1000)]
    for handle in handles[100:]:
        handle.cancel()
    turn(loop)

    assert len(loop._scheduled) == 100
    for handle in handles:
        handle.cancel()
    turn(loop)
    assert len(loop._scheduled) == 0
    assert loop._timer_cancelled_count == 0


def test_timer_may_be_due_at_a_whole_number(loop):
    came = []
    loop.call_at(0, came.append, 1)
    turn(loop)
    assert came == [1]


def test_closed_loop_takes_no_callback(loop):
    loop.close()

    with pytest.raises(RuntimeError, match="closed"):
        loop.call_soon(print)
    with pytest.raises(RuntimeError, match="closed"):
        loop.run_forever()


def test_closed_loop_still_has_a_clock(loop):
    before = loop.time()
    loop.close()

    assert before <= loop.time() <= time.monotonic()


def test_closed_simulation_has_the_time_of_its_end():
    loop = Loop("sim", faults=False)
    loop.run_until_complete(asyncio.sleep(3600))
    end = loop.time()
    loop.close()

    assert loop.time() == end


def test_running_loop_cannot_be_closed_and_goes_on(loop):
    async def main():
        with pytest.raises(RuntimeError, match="running"):
            loop.close()
        await asyncio.sleep(0.001)
        return "done"

    assert loop.run_until_complete(main()) == "done"


def test_forgotten_loop_is_collected_with_a_warning():
    def forget():
        loop = Loop()
        loop.set_debug(False)
        turn(loop)
        return weakref.ref(loop)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        gone = forget()
        gc.collect()

    assert [w.category for w in told] == [ResourceWarning]
    told.clear()  # they hold what they tell of
    gc.collect()
    assert gone() is None


class Script:
    """A program of callbacks, timers and tasks, drawn from a seed."""

    def __init__(self, loop, seed):
        self.loop = loop
        self.draw = random.Random(seed)
        self.said = []
        self.handles = []
        self.names = itertools.count()
        self.left = 150
        self.often = self.draw.random()
        self.kinds = len(self.acts) - seed % 2

    def say(self, what):
        self.said.append((round(self.loop.time(), 6), what))

    def act(self, name):
        self.say(name)
        for _ in range(self.draw.randrange(4)):
            if self.left > 0:
                self.left -= 1
                self.draw.choice(self.acts[: self.kinds])(self)

    def soon(self):
        name = next(self.names)
        self.handles.append(self.loop.call_soon(self.act, name))

    def later(self):
        delay = self.draw.choice([0, 0, 0.001, 0.5, 60])
        handle = self.loop.call_later(delay, self.act, next(self.names))
        self.handles.append(handle)

    def at(self):
        # Whole numbers are compared by heapq, beside our own.
        when = int(self.loop.time()) + self.draw.choice([0, 1, 7])
        self.handles.append(self.loop.call_at(when, self.act, "at"))

    def many(self):
        for _ in range(self.draw.randrange(120)):
            delay = self.draw.random() * 30
            handle = self.loop.call_later(delay, self.say, "many")
            if self.draw.random() < self.often:
                handle.cancel()

    def cancel(self):
        if self.handles:
            self.draw.choice(self.handles).cancel()

    def fail(self):
        raise LookupError("drawn")

    def task(self):
        name = next(self.names)

        async def steps():
            for step in range(self.draw.randrange(4)):
                self.say((name, step))
                await asyncio.sleep(self.draw.choice([0, 0, 0.25]))
            with contextlib.suppress(LookupError):
                self.act((name, "end"))

        self.handles.append(self.loop.create_task(steps()))

    #: The last one only with some seeds: it makes each timer a strange one.
    acts = (soon, soon, later, later, cancel, task, fail, many, at)

    def run(self):
        self.loop.set_exception_handler(
            lambda loop, told: self.say(repr(told["exception"]))
        )
        for _ in range(5):
            self.task()
        self.loop.call_later(100, self.loop.stop)
        self.loop.run_forever()
        return self.said


@pytest.mark.parametrize("seed", range(40))
def test_turns_in_c_do_what_asyncio_does(seed):
    said = []
    for debug in (False, True):
        loop = Loop("sim", seed=seed, faults=False)
        loop.set_debug(debug)
        said.append(Script(loop, seed).run())
        loop.close()

    assert said[0] == said[1]
    assert len(said[0]) >= 5
