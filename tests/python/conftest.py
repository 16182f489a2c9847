"""Fixtures for tests of the package over real sockets."""

import contextlib
import signal
import socket

import httpx
import pytest

from xsgi import _xsgi, cli, runner

pytest.register_assert_rewrite("framework_contract", "proxy_contract")

import framework_contract  # noqa: E402
import proxies  # noqa: E402
import raw  # noqa: E402
import serving  # noqa: E402


def pytest_configure(config):
    # A shell's background jobs ignore it, and so would all that they start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line(
        "markers", "everywhere: runs in more ways, see framework_contract.py"
    )


def pytest_generate_tests(metafunc):
    ways = getattr(metafunc.cls, "ways", None)
    if ways is not None and "server" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("everywhere")
        chosen = framework_contract.matrix(ways, mark is not None)
        metafunc.parametrize("server", chosen, indirect=True, scope="class")


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
def server(request, tmp_path_factory):
    """A server for all tests of a class with ``app`` and ``options``."""
    options, kind = getattr(request, "param", ((), "tcp"))
    if kind == "unix":
        path = tmp_path_factory.mktemp("uds") / "socket"
        options += ("--uds", str(path))
    app, own = request.cls.app, request.cls.options
    with serving.Served(app, *own, *options) as served:
        yield served
        assert served.stop() == 0
        for word in ("AssertionError", "garbage collected without being"):
            assert word not in served.output()  # wsgiref.validate's


@pytest.fixture
def client(server):
    uds, url = None, server.url
    if server.url.startswith("unix:"):
        uds, url = server.address, "http://test"
    transport = httpx.HTTPTransport(uds=uds)
    with httpx.Client(
        base_url=url, transport=transport, timeout=serving.PATIENCE
    ) as client:
        yield client


@pytest.fixture
def raw_client(server):
    with raw.Client(server.address) as client:
        yield client


@pytest.fixture
def put_behind():
    """A server and a proxy before it: ``put_behind(Nginx, "wsgi")``."""
    with contextlib.ExitStack() as stack:

        def put(*args, **options):
            return stack.enter_context(proxies.Site(*args, **options))

        yield put


@pytest.fixture(scope="class", params=proxies.SITES)
def site(request):
    """A server behind a proxy of ``kind`` for all tests of a class."""
    way, _, door = request.param.rpartition("-")
    with proxies.Site(request.cls.kind, way, unix=door == "unix") as site:
        yield site
        site.proxy.stop()
        assert site.served.stop() == 0


@pytest.fixture(scope="class")
def attacked(request):
    """A server behind a proxy of ``kind``, for those who try to fool it."""
    with proxies.Site(request.cls.kind, "asgi") as site:
        yield site


@pytest.fixture
def sim():
    """A simulated backend in calm weather."""
    backend = _xsgi.Backend("sim", faults=False)
    yield backend
    backend.close()


@pytest.fixture
def uv():
    """A backend on libuv."""
    backend = _xsgi.Backend()
    yield backend
    backend.close()


@pytest.fixture
def fd():
    """A descriptor that can be watched."""
    reader, writer = socket.socketpair()
    with reader, writer:
        yield reader.fileno()


@pytest.fixture
def served(monkeypatch):
    """The Config that the command line came to."""
    seen = []
    monkeypatch.setattr(runner, "run", seen.append)

    def serve(*args):
        with pytest.raises(SystemExit) as caught:
            cli.main(["serve", *args])
        assert caught.value.code == 0
        return seen[-1]

    return serve
