"""Each request runs in an asyncio.Task of its own, in its own context."""

import json
import sys

import pytest

from asgi_probe import Probe

# How the task starts, and whose loop it runs on: as a guest, requests begin
# inside callbacks that others have scheduled.
_WAYS = [("task", "xsgi"), ("task", "asyncio")]
if sys.version_info < (3, 11):
    _WAYS += [("auto", "xsgi"), ("auto", "asyncio")]
if sys.version_info >= (3, 11):
    _WAYS += [("lazy", "xsgi"), ("lazy", "asyncio")]
if sys.version_info >= (3, 12):
    _WAYS += [("eager", "xsgi")]


@pytest.fixture(scope="module", params=_WAYS, ids="-".join)
def probe(request):
    mode, loop = request.param
    with Probe("--task-mode", mode, "--loop", loop) as served:
        yield served


def test_auto_answers_on_every_python():
    with Probe() as served:
        assert served.get("/hello").body == b"hello"


# What Task-0 is, is no task yet.
_NONE_YET = b"Task-0"
_RUN = "from xsgi.__main__ import main; main()"


@pytest.mark.skipif(
    not (3, 11) <= sys.version_info < (3, 14), reason="not known to be lazy"
)
def test_lazy_is_what_is_tested_as_such():
    with Probe("--task-mode", "lazy") as served:
        assert served.get("/unbound_name").body == _NONE_YET


def test_lazy_gives_way_where_a_task_cannot_be_looked_at():
    code = f"from asyncio import tasks; del tasks._unregister_task; {_RUN}"
    with Probe("--task-mode", "lazy", program=("-c", code)) as served:
        assert served.get("/unbound_name").body.startswith(b"Task-")
        assert served.get("/unbound_name").body != _NONE_YET
        assert served.get_json("/unbound")["get_loop"]


def test_current_task_is_a_real_task_and_stays_the_same(probe):
    before, same, stack = probe.get_json("/task")

    assert before == [True] * 5
    assert same
    assert stack


@pytest.mark.parametrize("how", ["", "?wait"])
def test_task_that_is_looked_at_early_is_all_there(probe, how):
    before, after = probe.get_json(f"/touched{how}")

    assert before == [False, False, "not done"]
    assert after == [True, True, "kept"]
    name, done = probe.seen("touched")
    assert name.startswith("Task-")
    assert done


@pytest.mark.parametrize("how", ["raise", "cancel"])
def test_task_that_is_looked_at_early_ends_when_it_fails(probe, how):
    assert probe.get(f"/touched?{how}").status == 500

    _, done = probe.seen("touched")
    assert done


def test_unbound_methods_find_a_pending_task_in_the_first_step(probe):
    said = probe.get_json("/unbound")

    cancelling = "0" if sys.version_info >= (3, 11) else None
    context = "<_context" if sys.version_info >= (3, 12) else None
    assert said == {
        "get_context": context,
        "cancelling": cancelling,
        "uncancel": cancelling,
        "get_loop": True,
        "get_coro": True,
        "get_name": "Task-",
        "Task.result": "not done",
        "Task.exception": "not done",
        "Task.done": False,
        "Task.cancelled": False,
        "Task.repr": "<Task pending ",
        "Future.result": "not done",
        "Future.exception": "not done",
        "Future.done": False,
        "Future.cancelled": False,
        "Future.repr": said["Future.repr"],
        "same": True,
        "stack": True,
    }
    assert said["Future.repr"].startswith("<Task pending")


def test_unbound_get_context_gives_that_of_the_step(probe):
    assert probe.get("/unbound_context").body == b"checked"
    assert json.loads(probe.get("/context").body)[0] == "none"


@pytest.mark.parametrize("how", ["", "?wait"])
def test_what_unbound_methods_do_to_a_task_holds(probe, how):
    assert probe.get(f"/unbound_changes{how}").body == b"mine"

    assert probe.seen("called") == "one"
    assert probe.seen("called_too") == "two"
    assert probe.get("/renamed").body == b"mine"
    assert probe.get_json("/task")[1]


def test_cancellation_by_an_unbound_method_comes_at_the_suspension(probe):
    assert probe.get_json("/unbound_cancel") == [True, "unbound", True]


@pytest.mark.parametrize(
    ("how", "end"),
    [
        ("", [True, False, "<Task ", "NoneType"]),
        ("?raise", [True, False, "<Task ", "NoneType"]),
        ("?cancel", [True, True, "<Task ", "CancelledError"]),
        ("?cancel_late", [True, True, "<Task ", "CancelledError"]),
        ("?cancel_unbound", [True, True, "<Task ", "CancelledError"]),
    ],
)
def test_task_that_was_kept_is_done_after_its_request(probe, how, end):
    for _ in range(3):
        probe.get(f"/kept_task{how}")

    assert probe.get_json("/kept_tasks_end") == [3, 0, [end] * 3]


def test_task_that_was_weakly_kept_goes_with_its_request(probe):
    for _ in range(3):
        assert probe.get("/weakly_kept_task").body == b"kept"

    kept, alive = probe.get_json("/weakly_kept_tasks_end")

    assert kept == 3
    assert alive == 0


def test_name_of_a_task_can_be_set(probe):
    assert probe.get("/renamed").body == b"mine"


def test_cancellation_before_the_first_suspension_comes_at_it(probe):
    assert probe.get("/cancel_early").body == b"cancelled"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no TaskGroup")
def test_task_group_that_fails_ends_as_in_any_task(probe):
    here, there = probe.get_json("/group_error")

    assert here == there
    assert here[0] == "ExceptionGroup"


def test_task_can_be_cancelled_by_another(probe):
    with probe.connect() as client:
        client.request("GET", "/be_cancelled")
        assert probe.seen("victim")
        assert probe.get_json("/cancel_other") == [True, True]
        assert probe.seen("be_cancelled") == "cancelled"
        assert client.response().status == 500


def test_locks_queues_futures_and_executors_work(probe):
    ends = probe.get_json("/asyncio_things")

    assert ends == ["queued", "at once", [0, 1, 2], "executed"]


def test_context_variables_do_not_leak_between_requests(probe):
    with probe.connect() as client:
        for _ in range(3):
            assert json.loads(client.get("/context").body) == [
                "none",
                "set by a request",
            ]


def test_context_token_is_good_after_a_suspension(probe):
    assert probe.get("/context_token").body == b"none"


def test_requests_in_one_write_are_all_answered(probe):
    """Behind the first, each begins when nothing new is to be read."""
    names = ("/hello", "/context", "/task", "/too_short", "/echo") * 4
    request = "GET {} HTTP/1.1\r\nHost: test\r\n\r\n"
    with probe.connect() as client:
        client.send("".join(map(request.format, names)).encode())
        status = [client.response().status for _ in names]

    assert status == [200, 200, 200, 500, 200] * 4


def test_waiting_requests_run_side_by_side(probe):
    """More than enough of them to change how the next ones start."""
    clients = [probe.connect() for _ in range(40)]
    for client in clients:
        client.request("GET", "/asyncio_things")
    bodies = [json.loads(client.response().body) for client in clients]
    for client in clients:
        client.close()

    assert bodies == [["queued", "at once", [0, 1, 2], "executed"]] * 40
    assert probe.get("/hello").body == b"hello"


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
