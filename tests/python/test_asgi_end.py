"""How an application ends, and what the client and the log see of it."""

import pytest

from asgi_probe import Probe


@pytest.fixture(scope="module")
def probe():
    with Probe("--no-access-log") as served:
        yield served


@pytest.mark.parametrize("page", ["raises", "raises_after_start"])
def test_exception_before_any_body_is_a_500_and_a_traceback(probe, page):
    response = probe.get(f"/{page}")

    assert response.status == 500
    assert probe.wait_for_line(f"GET /{page}: ")
    assert probe.wait_for_line("KeyError: 'no such thing'")


def test_exception_in_the_body_shows_what_was_sent_and_no_end(probe):
    response = probe.get("/raises_in_body")

    assert response.status == 200
    assert response.body == b"some"
    assert not response.complete


def test_exception_after_the_end_leaves_the_connection_alone(probe):
    with probe.connect() as client:
        first = client.get("/raises_after_end")
        second = client.get("/hello")

    assert first.body == b"complete"
    assert second.body == b"hello"
    assert probe.wait_for_line("GET /raises_after_end: ")


def test_return_without_a_response_is_a_500_and_one_line(probe):
    response = probe.get("/returns_nothing")

    assert response.status == 500
    line = probe.wait_for_line("GET /returns_nothing: ")
    assert "returned without a response" in line


def test_return_inside_the_body_shows_no_end_and_is_one_line(probe):
    response = probe.get("/returns_early")

    assert response.body == b"some"
    assert not response.complete
    line = probe.wait_for_line("GET /returns_early: ")
    assert "before its response was complete" in line


def test_cancelled_application_is_a_500_without_a_traceback(probe):
    response = probe.get("/cancels_itself")

    assert response.status == 500
    assert probe.errors_about("/cancels_itself") == []


def test_exit_of_an_application_is_a_500_and_a_traceback(probe):
    response = probe.get("/exits")

    assert response.status == 500
    assert probe.wait_for_line("SystemExit: 3")
    assert probe.get("/hello").body == b"hello"


def test_server_lives_on_after_all_of_it(probe):
    for page in ("raises", "returns_nothing", "cancels_itself", "after_end"):
        probe.get(f"/{page}")

    assert probe.get("/hello").body == b"hello"
    assert probe.process.poll() is None
