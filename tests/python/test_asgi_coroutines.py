"""What receive() and send() give: a collections.abc.Coroutine that works when
it is stepped."""

import json

import pytest

from asgi_probe import Probe


@pytest.fixture(scope="module")
def probe():
    with Probe() as served:
        yield served


def test_calls_give_coroutines(probe):
    receiving, sending = probe.get_json("/coroutines")

    assert receiving == [True, True, "receive", False, None]
    assert sending == [True, True, "send", False, None]


def test_asyncio_takes_them_wherever_it_takes_coroutines(probe):
    response = probe.get("/wrapped")

    assert response.body == b"1234"


def test_nothing_is_done_at_the_call(probe):
    response = probe.get("/not_at_the_call")

    assert response.status == 200
    assert response.body == b"ok"


def test_second_await_is_a_runtime_error(probe):
    kind, text = probe.get_json("/awaited_twice")

    assert kind == "RuntimeError"
    assert "already awaited" in text


def test_throw_raises_what_it_is_given_and_ends_it(probe):
    ends = probe.get_json("/thrown_into")

    again = "cannot reuse already awaited coroutine"
    assert ends[:6] == [
        ["KeyError", "'v'"],
        again,
        ["KeyError", "'v'"],
        again,
        ["KeyError", ""],
        again,
    ]
    assert ends[6][0] == "TypeError"


def test_foreign_threads_go_through_the_loop(probe):
    response = probe.get("/from_a_thread")

    refused, is_main = probe.seen("from_a_thread")
    assert response.body == b"from a thread"
    assert "run_coroutine_threadsafe" in refused
    assert not is_main


def test_objects_that_outlive_their_request_do_no_harm(probe):
    with probe.connect() as client:
        assert client.get("/keep").body == b"kept"
        ends = json.loads(client.get("/use_kept").body)

    assert ends == [
        "http",
        "http.disconnect",
        "http.disconnect",
        "RuntimeError",
        "RuntimeError",
        "RuntimeError",
    ]


def test_objects_that_outlive_their_connection_do_no_harm(probe):
    assert probe.get("/keep").body == b"kept"

    assert probe.get_json("/use_kept")[1] == "http.disconnect"
