"""Addresses and bound sockets."""

import errno
import os
import socket
import stat

import pytest

from xsgi import sockets
from xsgi.config import Config
from xsgi.errors import BindError, ConfigError
from xsgi.sockets import Fd, Tcp, Unix


@pytest.fixture
def bind():
    """Bind the addresses of some options; closed afterwards."""
    bound = []

    def bind_all(**options):
        listeners = sockets.bind(Config("a:b", **options))
        bound.extend(listeners)
        return listeners

    yield bind_all
    sockets.close_all(bound)


@pytest.fixture
def taken():
    """Descriptors that were given away; closed afterwards."""
    fds = []
    yield fds
    for fd in fds:
        os.close(fd)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:80", Tcp("127.0.0.1", 80)),
        ("localhost:0", Tcp("localhost", 0)),
        ("[::1]:8000", Tcp("::1", 8000)),
        (":8000", Tcp("", 8000)),
        ("unix:/run/x.sock", Unix("/run/x.sock")),
        ("unix:x.sock", Unix("x.sock")),
        ("fd://3", Fd(3)),
    ],
)
def test_address_is_parsed(text, address):
    assert sockets.parse(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8000",
        "host",
        "host:",
        "host:x",
        "host:65536",
        "::1:80",
        "fd://",
        "fd://x",
        "unix:",
        "http://x:80",
        "a:1:2",
    ],
)
def test_text_that_is_no_address_is_refused(text):
    with pytest.raises(ConfigError, match="is not an address"):
        sockets.parse(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("8995", "127.0.0.1:8995"),
        ("0.0.0.0", "0.0.0.0:8000"),
        ("localhost", "localhost:8000"),
        ("/run/app.sock", "unix:/run/app.sock"),
        ("./app.sock", "unix:./app.sock"),
    ],
)
def test_part_of_an_address_is_refused_with_the_whole(text, meant):
    with pytest.raises(ConfigError) as caught:
        sockets.parse(text)

    assert str(caught.value).endswith(f" or fd://N, as in {meant}.")
    assert str(sockets.parse(meant)) == meant


@pytest.mark.parametrize("text", ["65536", "", "http://x:80", "::1:80"])
def test_what_is_no_part_of_an_address_is_refused_without_a_guess(text):
    with pytest.raises(ConfigError, match=r" or fd://N\.$"):
        sockets.parse(text)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [Tcp("127.0.0.1", 8000)]),
        ({"port": 1}, [Tcp("127.0.0.1", 1)]),
        ({"host": "::1"}, [Tcp("::1", 8000)]),
        ({"host": "[::1]", "port": 2}, [Tcp("::1", 2)]),
        ({"uds": "x"}, [Unix("x")]),
        ({"fd": 7}, [Fd(7)]),
        ({"bind": ["a:1", "a:1", "fd://7"], "fd": 7}, [Tcp("a", 1), Fd(7)]),
        ({"bind": "a:1", "port": 2}, [Tcp("a", 1), Tcp("127.0.0.1", 2)]),
    ],
)
def test_options_name_the_addresses(options, expected):
    assert sockets.addresses(Config("a:b", **options)) == expected


def test_sockets_of_the_service_manager_replace_the_default(monkeypatch):
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
    monkeypatch.setenv("LISTEN_FDS", "2")

    assert sockets.addresses(Config("a:b")) == [Fd(3), Fd(4)]
    assert "LISTEN_FDS" not in os.environ


def test_sockets_of_the_service_manager_for_another_process_are_left(
    monkeypatch,
):
    monkeypatch.setenv("LISTEN_PID", str(os.getpid() + 1))
    monkeypatch.setenv("LISTEN_FDS", "2")

    assert sockets.addresses(Config("a:b")) == [Tcp("127.0.0.1", 8000)]


def test_free_port_is_told(bind):
    (listener,) = bind(port=0)

    assert listener.url == f"http://127.0.0.1:{listener.port}"
    assert listener.port > 0


def test_bound_socket_refuses_until_it_listens(bind, taken):
    (listener,) = bind(port=0)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", listener.port), 1)

    listener.listen(5, taken.append)

    socket.create_connection(("127.0.0.1", listener.port), 1).close()


def test_taken_port_is_told_with_its_address(bind):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            BindError, match=f"127.0.0.1:{port}: something else listens"
        ):
            bind(port=port)


def test_more_addresses_than_the_core_takes_are_refused(bind):
    with pytest.raises(ConfigError, match="at most 16"):
        bind(bind=[f"127.0.0.1:{port}" for port in range(1, 18)])


def test_failed_bind_leaves_nothing_open(bind, tmp_path):
    path = tmp_path / "x.sock"
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(BindError):
            bind(bind=[f"unix:{path}", f"127.0.0.1:{port}"])

    assert not path.exists()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("203.0.113.1:1", "does not have that address"),
        ("no-such-host.invalid:1", "cannot be resolved"),
        ("unix:/no/such/folder/x", "the folder does not exist"),
        ("unix:/etc/passwd", "a file that is not a socket"),
        ("unix:/tmp/" + "x" * 200, "too long"),
        ("fd://987", "not an open socket"),
    ],
)
def test_address_that_cannot_be_had_is_told(bind, address, words):
    with pytest.raises(BindError, match=words):
        bind(bind=address)


def test_missing_privilege_is_told(bind, monkeypatch):
    class Forbidden(socket.socket):
        def bind(self, address):
            raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "socket", Forbidden)

    with pytest.raises(BindError, match="80: no permission; ports"):
        bind(port=80)


def _has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not _has_ipv6(), reason="needs IPv6")


@needs_ipv6
def test_ipv6_wildcard_takes_ipv4_too(bind, taken):
    (listener,) = bind(host="::", port=0)

    listener.listen(5, taken.append)

    for host in ("127.0.0.1", "::1"):
        socket.create_connection((host, listener.port), 1).close()


@needs_ipv6
def test_ipv6_wildcard_leaves_ipv4_to_its_own_socket(bind):
    (probe,) = bind(port=0)
    port = probe.port
    probe.close()

    both = bind(bind=[f"[::]:{port}", f"0.0.0.0:{port}"])

    assert [each.url for each in both] == [
        f"http://[::]:{port}",
        f"http://0.0.0.0:{port}",
    ]


@needs_ipv6
def test_host_name_is_bound_at_each_of_its_addresses(bind, monkeypatch):
    def resolve(host, port, **kwargs):
        return [
            (socket.AF_INET, 1, 6, "", ("127.0.0.1", port)),
            (socket.AF_INET6, 1, 6, "", ("::1", port, 0, 0)),
            (socket.AF_INET, 1, 6, "", ("203.0.113.1", port)),
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    listeners = bind(host="somewhere", port=0)

    port = listeners[0].port
    assert [each.url for each in listeners] == [
        f"http://127.0.0.1:{port}",
        f"http://[::1]:{port}",
    ]


def test_unix_socket_has_its_mode_and_goes_with_the_listener(bind, tmp_path):
    path = tmp_path / "x.sock"

    (listener,) = bind(uds=str(path), uds_permissions="640")

    assert listener.url == f"unix:{path}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    listener.close()
    assert not path.exists()


def test_stale_unix_socket_is_replaced(bind, tmp_path):
    path = tmp_path / "x.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))

    (listener,) = bind(uds=str(path))

    assert listener.url == f"unix:{path}"


def test_living_unix_socket_is_not_touched(bind, tmp_path):
    path = tmp_path / "x.sock"
    with socket.socket(socket.AF_UNIX) as alive:
        alive.bind(str(path))
        alive.listen()
        inode = path.stat().st_ino

        with pytest.raises(BindError, match="something else listens"):
            bind(uds=str(path))

    assert path.stat().st_ino == inode


def test_unix_socket_of_a_successor_is_left(bind, tmp_path):
    path = tmp_path / "x.sock"
    (listener,) = bind(uds=str(path))
    path.unlink()
    with socket.socket(socket.AF_UNIX) as successor:
        successor.bind(str(path))

        listener.close()

    assert path.exists()


def test_inherited_socket_is_taken(bind):
    given = socket.socket()
    given.bind(("127.0.0.1", 0))
    port = given.getsockname()[1]

    (listener,) = bind(fd=given.detach())

    assert listener.url == f"http://127.0.0.1:{port}"


def test_inherited_datagram_socket_is_refused(bind):
    with socket.socket(type=socket.SOCK_DGRAM) as given:
        with pytest.raises(BindError, match="not a TCP or unix stream"):
            bind(fd=given.fileno())
        given.getsockname()
