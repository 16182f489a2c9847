"""The client has gone: what the application is told, and the log."""

import socket
import time

import pytest

from asgi_probe import Probe


@pytest.fixture(scope="module")
def probe():
    with Probe("--log-level", "debug", "--no-access-log") as served:
        yield served


def leave(probe, page, reset=True):
    """Ask for a page that streams for ever, read some of it, and go."""
    client = probe.connect(receive_buffer=4096)
    client.request("GET", f"/{page}")
    client.exactly(10_000)
    if reset:
        client.reset()
    else:
        client.close()


@pytest.mark.parametrize("reset", [True, False])
def test_blocked_send_raises_an_os_error(probe, reset):
    leave(probe, "endless", reset)

    kind, text = probe.seen("endless")
    assert kind == "ClientDisconnected"
    assert text


def test_the_reason_is_told(probe):
    with probe.connect(receive_buffer=4096) as client:
        client.request("GET", "/endless")
        client.head()
        time.sleep(0.3)  # it is blocked then, and learns of it by the abort
        client.reset()

    _, text = probe.seen("endless")
    assert text == "the client reset the connection"


def test_client_that_stops_reading_is_told_as_such():
    with (
        Probe("--timeout-write", "1") as served,
        served.connect(receive_buffer=4096) as client,
    ):
        client.request("GET", "/endless")
        kind, text = served.seen("endless")

    assert kind == "ClientDisconnected"
    assert text == "the client did not take the response in time"


def test_client_disconnected_is_a_connection_reset_error():
    import xsgi._xsgi

    kind = xsgi._xsgi.ClientDisconnected
    assert issubclass(kind, ConnectionResetError)
    assert kind.__module__ == "xsgi"


def test_later_send_raises_as_well(probe):
    client = probe.connect()
    client.request("GET", "/wait_for_disconnect")
    assert probe.seen("waiting")

    client.reset()

    _, _, sent = probe.seen("wait_for_disconnect")
    assert sent[0] == "ClientDisconnected"


def test_blocked_send_and_waiting_receive_are_both_told(probe):
    leave(probe, "endless_and_receive")

    told, sent = probe.seen("endless_and_receive")
    assert told == "told"
    assert sent[0] == "ClientDisconnected"


def test_letting_it_escape_is_no_error_in_the_log(probe):
    leave(probe, "endless")
    probe.seen("endless")

    line = probe.wait_for_line("/endless:")
    assert "the client left" in line
    assert "Traceback" not in probe.output()
    assert not any("ERROR" in each for each in probe.errors_about("/endless"))


@pytest.mark.parametrize("query", ["", "?begun"])
def test_leaving_because_the_client_has_ended_is_no_error_in_the_log(
    probe, query
):
    with probe.connect() as client:
        client.request("GET", f"/returns_when_told{query}")
        client.sock.shutdown(socket.SHUT_WR)
        client.rest()
    probe.get("/returns_nothing")
    probe.wait_for_line("GET /returns_nothing: ")

    assert probe.errors_about("/returns_when_told") == []


def test_what_is_raised_because_of_it_is_one_line_and_no_error(probe):
    leave(probe, "endless_then_framework")

    line = probe.wait_for_line("/endless_then_framework:")
    assert "the client left" in line
    assert "LookupError('client left')" in line
    assert "Traceback" not in probe.output()


def test_what_is_raised_in_cleaning_up_is_not_hidden(probe):
    leave(probe, "endless_then_bug")

    line = probe.wait_for_line("/endless_then_bug:")
    assert "LookupError('a bug in cleaning up')" in line
