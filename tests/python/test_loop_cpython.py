"""CPython's own tests of event loops, on xsgi.Loop.

They cover what is inherited: streams, TLS, datagrams, pipes, subprocesses,
signals, executors. Distributions often leave CPython's tests out.
"""

import os

import pytest

from xsgi.loop import Loop

test_events = pytest.importorskip("test.test_asyncio.test_events")
test_utils = pytest.importorskip("test.test_asyncio.utils")

pytestmark = pytest.mark.filterwarnings("default")

# What it adds, a child watcher, is gone since 3.14.
Mixin = getattr(
    test_events, "UnixEventLoopTestsMixin", test_events.EventLoopTestsMixin
)


class TestLoop(
    Mixin,
    test_events.SubprocessTestsMixin,
    test_utils.TestCase,
):
    def setUp(self):
        super().setUp()
        if "_pty" in self.id():
            try:
                ends = os.openpty()
            except OSError:
                self.skipTest("there are no terminals here")
            for end in ends:
                os.close(end)

    def create_event_loop(self):
        return Loop()
