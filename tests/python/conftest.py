"""Fixtures for tests of the package over real sockets."""

import httpx
import pytest

import raw
import serving

pytest.register_assert_rewrite("framework_contract")


@pytest.fixture
def serve():
    """Start ``xsgi serve APP ARGS...`` on a free port: ``serve(app, *args)``.

    What is started is killed at the end, and what it said is shown if the
    test fails.
    """
    started = []

    def start(app, *args, **options):
        served = serving.Served(app, *args, **options)
        started.append(served)
        return served

    yield start
    for served in started:
        served.kill()
        print(served.output())


@pytest.fixture(scope="class")
def server(request):
    """A server for all tests of a class with ``app`` and ``options``."""
    with serving.Served(request.cls.app, *request.cls.options) as served:
        yield served
        assert served.stop() == 0
        for word in ("AssertionError", "garbage collected without being"):
            assert word not in served.output()  # wsgiref.validate's


@pytest.fixture
def client(server):
    with httpx.Client(base_url=server.url, timeout=serving.PATIENCE) as client:
        yield client


@pytest.fixture
def raw_client(server):
    with raw.Client(server.address) as client:
        yield client
