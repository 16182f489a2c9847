"""WSGI applications on a pool of threads, and their end."""

import itertools
import socket
import sys
import threading
import time

import pytest

from serving import PATIENCE
from wsgi_probe import PLAIN, THREADS, Probe


def test_one_thread_is_the_loops_own():
    seen = []

    def app(environ, start_response):
        seen.append(threading.current_thread())
        start_response("200 OK", PLAIN)
        return []

    with Probe(app) as probe:
        probe.get()
        assert seen == [probe._thread]


def test_workers_are_threads_that_python_knows():
    seen = []

    def app(environ, start_response):
        seen.append(threading.current_thread())
        start_response("200 OK", PLAIN)
        return []

    with Probe(app, threads=3) as probe:
        for _ in range(5):
            probe.get()
        assert all(thread in threading.enumerate() for thread in seen)

    assert {thread.name.rpartition("-")[0] for thread in seen} == {
        "xsgi-worker"
    }
    assert not any(thread.is_alive() for thread in seen)


def test_as_many_requests_run_at_once_as_there_are_threads():
    barrier = threading.Barrier(4)

    def app(environ, start_response):
        barrier.wait(PATIENCE)
        start_response("200 OK", PLAIN)
        return [b"together"]

    with Probe(app, threads=4) as probe:
        clients = [probe.connect() for _ in range(4)]
        for client in clients:
            client.request("GET", "/")
        for client in clients:
            assert client.response().body == b"together"
            client.close()


def test_requests_wait_in_order_for_a_worker():
    go_on = threading.Event()
    never = threading.Event()
    order = []

    def app(environ, start_response):
        if environ["PATH_INFO"] == "/other":  # this worker is out of the way
            assert never.wait(PATIENCE)
        else:
            assert go_on.wait(PATIENCE)
            order.append(environ["PATH_INFO"])
        start_response("200 OK", PLAIN)
        return []

    with Probe(app, threads=2) as probe, probe.connect() as other:
        other.request("GET", "/other")
        clients = [probe.connect() for _ in range(8)]
        for i, client in enumerate(clients):
            client.request("GET", f"/{i}")
            time.sleep(0.01)
        go_on.set()
        for client in clients:
            client.response()
            client.close()
        never.set()
        other.response()

    assert order == [f"/{i}" for i in range(8)]


def test_loop_serves_on_while_workers_are_busy():
    go_on = threading.Event()

    def app(environ, start_response):
        if environ["PATH_INFO"] == "/slow":
            assert go_on.wait(PATIENCE)
        start_response("200 OK", PLAIN)
        return [b"done"]

    with Probe(app, threads=2) as probe, probe.connect() as slow:
        slow.request("GET", "/slow")
        for _ in range(10):
            assert probe.get("/fast").body == b"done"
        go_on.set()
        assert slow.response().body == b"done"


def test_request_whose_client_left_while_it_waited_is_not_run():
    go_on = threading.Event()
    begun = threading.Semaphore(0)
    ran = []

    def app(environ, start_response):
        ran.append(environ["PATH_INFO"])
        begun.release()
        assert go_on.wait(PATIENCE)
        start_response("200 OK", PLAIN)
        return []

    with Probe(app, threads=2) as probe:
        busy = [probe.connect() for _ in range(2)]
        for client in busy:
            client.request("GET", "/busy")
            assert begun.acquire(timeout=PATIENCE)
        with probe.connect() as leaver:
            leaver.request("POST", "/left", "Content-Length: 5")
            time.sleep(0.05)
            leaver.reset()
        time.sleep(0.05)
        go_on.set()
        for client in busy:
            client.response()
            client.close()
        probe.get("/after")

    assert "/left" not in ran
    assert probe.stats["running"] == 0


def test_worker_learns_that_its_client_left():
    told = threading.Event()
    begun = threading.Event()

    def app(environ, start_response):
        gone = environ["xsgi.client_disconnected"]
        assert gone() is False
        begun.set()
        deadline = time.monotonic() + PATIENCE
        while not gone() and time.monotonic() < deadline:
            time.sleep(0.005)
        if gone():
            told.set()
        start_response("200 OK", PLAIN)
        return [b"into the void"]

    with Probe(app, threads=2) as probe, probe.connect() as client:
        client.request("GET", "/")
        assert begun.wait(PATIENCE)
        client.reset()
        assert told.wait(PATIENCE)

    assert probe.log() == []


def test_one_thread_has_nobody_to_learn_it_from():
    seen = []

    def app(environ, start_response):
        seen.append(environ["xsgi.client_disconnected"]())
        start_response("200 OK", PLAIN)
        return []

    with Probe(app) as probe:
        probe.get()

    assert seen == [False]


@pytest.mark.parametrize("threads", THREADS)
def test_half_closed_client_gets_its_response(threads):
    def app(environ, start_response):
        start_response("200 OK", PLAIN)
        yield b"a" * 10
        yield b"b" * 10

    with Probe(app, threads) as probe, probe.connect() as client:
        client.request("GET", "/")
        client.sock.shutdown(socket.SHUT_WR)
        response = client.response()

    assert response.body == b"a" * 10 + b"b" * 10
    assert response.complete


@pytest.mark.parametrize("threads", THREADS)
def test_stop_lets_running_requests_finish(threads):
    begun = threading.Event()
    go_on = threading.Event()

    def app(environ, start_response):
        begun.set()
        start_response("200 OK", PLAIN)
        assert go_on.wait(PATIENCE)
        yield b"finished"

    with Probe(app, threads) as probe, probe.connect() as client:
        client.request("GET", "/")
        assert begun.wait(PATIENCE)
        probe._ours.sendall(b"20")
        time.sleep(0.05)
        go_on.set()
        response = client.response()
        assert client.is_closed()

    assert response.body == b"finished"
    assert response.header("connection") == "close" or threads == 1


def test_stop_does_not_wait_for_a_worker_that_never_ends():
    never = threading.Event()
    begun = threading.Event()
    caught = []

    def app(environ, start_response):
        write = start_response("200 OK", PLAIN)
        begun.set()
        never.wait()
        try:
            write(b"x")
        except OSError as error:
            caught.append(error)
            raise

    probe = Probe(app, threads=2)
    with probe, probe.connect() as client:
        client.request("GET", "/")
        assert begun.wait(PATIENCE)
        start = time.monotonic()
        probe.stop(grace=0.1)
        assert time.monotonic() - start < 5

    never.set()
    deadline = time.monotonic() + PATIENCE
    while not caught and time.monotonic() < deadline:
        time.sleep(0.01)
    assert type(caught[0]).__name__ == "ClientDisconnected"


def test_stop_wakes_workers_that_wait_for_their_clients():
    ended = threading.Semaphore(0)
    begun = threading.Semaphore(0)

    def app(environ, start_response):
        begun.release()
        try:
            if environ["REQUEST_METHOD"] == "POST":
                environ["wsgi.input"].read()
            write = start_response("200 OK", PLAIN)
            while True:
                write(b"x" * 65536)
        finally:
            ended.release()

    with (
        Probe(app, threads=2) as probe,
        probe.connect() as sender,
        probe.connect() as reader,
    ):
        sender.request("POST", "/", "Content-Length: 10")
        reader.request("GET", "/")
        assert begun.acquire(timeout=PATIENCE)
        assert begun.acquire(timeout=PATIENCE)
        probe.stop(grace=0.1)
        assert ended.acquire(timeout=PATIENCE)
        assert ended.acquire(timeout=PATIENCE)


def test_background_thread_ticks_while_the_pool_is_loaded():
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.monotonic())

    def app(environ, start_response):
        start_response("200 OK", PLAIN)
        return [b"x"]

    with Probe(app, threads=4) as probe, probe.connect() as client:
        thread = threading.Thread(target=tick)
        thread.start()
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            client.get("/")
        stop.set()
        thread.join()

    assert len(ticks) > 10
    gaps = [b - a for a, b in itertools.pairwise(ticks)]
    assert max(gaps) < 0.25


def test_many_clients_at_once_get_their_own_responses():
    def app(environ, start_response):
        data = environ["wsgi.input"].read()
        start_response("200 OK", PLAIN)
        if len(data) % 2:
            return iter([data[:100], data[100:]])
        return [data]

    failures = []

    def use(probe, number):
        try:
            with probe.connect() as client:
                for i in range(30):
                    body = b"%d-%d" % (number, i) * (1 + i * 200)
                    client.request("POST", "/", body=body)
                    assert client.response().body == body
        except BaseException as error:
            failures.append(error)

    with Probe(app, threads=4) as probe:
        users = [
            threading.Thread(target=use, args=(probe, n)) for n in range(12)
        ]
        for user in users:
            user.start()
        for user in users:
            user.join()

    assert failures == []
    assert probe.stats["running"] == 0


@pytest.mark.parametrize("threads", [0, -1, 1025, "2", 1.5])
def test_wrong_number_of_threads_is_refused(threads):
    probe = Probe(lambda e, s: [], threads)
    with pytest.raises((ValueError, TypeError)):
        probe.__enter__()


def test_what_was_given_before_a_failure_reaches_a_slow_client():
    blocks = [bytes([65 + i % 26]) * 30_000 for i in range(400)]
    failed = threading.Event()

    def app(environ, start_response):
        start_response("200 OK", PLAIN)
        yield from blocks
        failed.set()
        raise ZeroDivisionError

    with (
        Probe(app, threads=2) as probe,
        probe.connect(receive_buffer=4096) as client,
    ):
        client.request("GET", "/")
        response = client.response()

    assert failed.is_set()
    assert not response.complete
    assert response.body == b"".join(blocks)


def test_blocks_of_a_client_that_left_are_let_go():
    blocks = [bytes([i]) * 10_000 for i in range(100)]
    before = [sys.getrefcount(block) for block in blocks]
    done = threading.Event()

    def app(environ, start_response):
        start_response("200 OK", PLAIN)
        try:
            while True:
                yield from blocks
        finally:
            done.set()

    with Probe(app, threads=2) as probe:
        for _ in range(5):
            client = probe.connect(receive_buffer=4096)
            client.request("GET", "/")
            client.head()
            time.sleep(0.3)  # some wait then
            client.reset()
            assert done.wait(PATIENCE)
            done.clear()

    assert [sys.getrefcount(block) for block in blocks] == before
