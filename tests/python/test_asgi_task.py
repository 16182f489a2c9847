"""Each request runs in an asyncio.Task of its own, in its own context."""

import json
import sys

import pytest

from asgi_probe import Probe

_MODES = ["auto", "task"] + ["eager"] * (sys.version_info >= (3, 12))


@pytest.fixture(scope="module", params=_MODES)
def probe(request):
    with Probe("--task-mode", request.param) as served:
        yield served


def test_current_task_is_a_real_task_and_stays_the_same(probe):
    before, same, stack = probe.get_json("/task")

    assert before == ["Task", True, True, True, True]
    assert same
    assert stack


def test_context_variables_do_not_leak_between_requests(probe):
    with probe.connect() as client:
        for _ in range(3):
            assert json.loads(client.get("/context").body) == [
                "none",
                "set by a request",
            ]


def test_timeouts_work(probe):
    ends = probe.get_json("/timeouts")

    want = ["wait_for"]
    if sys.version_info >= (3, 11):
        want += ["timeout", "TaskGroup"]
    assert ends == want


def test_anyio_works(probe):
    pytest.importorskip("anyio")

    ends = probe.get_json("/any_io")

    assert ends == ["asyncio", True, True, "thread"]


def test_anyio_scope_works_before_anything_has_suspended(probe):
    pytest.importorskip("anyio")

    assert probe.get("/any_io_at_once").body == b"True"


def test_nothing_of_a_request_outlives_it(probe):
    for _ in range(20):
        probe.get("/leak")

    total, alive = probe.get_json("/leaked")

    assert total == 20
    assert alive == 0
