"""Behind proxies: who the client is, and whom to believe about it."""

import ipaddress
import re

import pytest

import raw
from xsgi import ConfigError, proxies
from xsgi.config import Config

APPS = ["client_app:asgi", "client_app:wsgi"]
BOTH = pytest.mark.parametrize("app", APPS)

FOR = "X-Forwarded-For: "
HTTPS = "X-Forwarded-Proto: https"


@pytest.fixture
def ask(serve):
    """``ask(app, *options)(*fields)`` is what the application was told."""
    clients = []

    def start(app, *options):
        server = serve(app, "--lifespan", "off", *options)
        client = raw.Client(server.address)
        clients.append(client)

        def get(*fields):
            return client.get("/", *fields).body.decode()

        get.server = server
        return get

    yield start
    for client in clients:
        client.close()


@BOTH
def test_loopback_is_believed_by_default(ask, app):
    get = ask(app)

    assert get(FOR + "1.2.3.4", HTTPS) == "1.2.3.4 0 https"
    assert get(FOR + "1.2.3.4:77") == "1.2.3.4 77 http"
    assert get(FOR + "[2001:DB8::1]:77") == "2001:db8::1 77 http"
    assert re.fullmatch(r"127\.0\.0\.1 [1-9]\d+ https", get(HTTPS))
    assert re.fullmatch(r"127\.0\.0\.1 [1-9]\d+ http", get())


@BOTH
def test_other_peers_are_not_believed(ask, app):
    get = ask(app, "--forwarded-allow-ips", "10.0.0.0/8,unix")

    told = get(FOR + "1.2.3.4", HTTPS, "Forwarded: for=1.2.3.4;proto=https")

    assert re.fullmatch(r"127\.0\.0\.1 [1-9]\d+ http", told)


@BOTH
def test_nobody_is_believed_without_proxy_headers(ask, app):
    get = ask(app, "--no-proxy-headers")

    told = get(FOR + "1.2.3.4", HTTPS)

    assert re.fullmatch(r"127\.0\.0\.1 [1-9]\d+ http", told)


@BOTH
def test_first_that_is_not_trusted_from_the_right_is_the_client(ask, app):
    get = ask(app, "--forwarded-allow-ips", "127.0.0.0/8, 10.0.0.0/8, fd00::/8")

    assert get(FOR + "6.6.6.6, 1.2.3.4, 10.9.9.9") == "1.2.3.4 0 http"
    assert get(FOR + "6.6.6.6", FOR + "1.2.3.4", FOR + "fd12::1") == (
        "1.2.3.4 0 http"
    )
    assert get(FOR + "10.0.0.3, 10.0.0.2") == "10.0.0.3 0 http"
    assert get(FOR + "::ffff:10.0.0.3, 11.0.0.2") == "11.0.0.2 0 http"
    assert get(FOR + "1.2.3.4, ::ffff:10.0.0.3") == "1.2.3.4 0 http"


@BOTH
def test_address_of_ipv4_is_the_same_however_it_is_spelled(ask, app):
    get = ask(app, "--forwarded-allow-ips", "127.0.0.1,10.0.0.0/8")

    assert get(FOR + "::ffff:1.2.3.4") == "1.2.3.4 0 http"
    assert get(FOR + "[::FFFF:102:304]:8080") == "1.2.3.4 8080 http"
    assert get(FOR + "::ffff:1.2.3.4, ::ffff:10.1.1.1") == "1.2.3.4 0 http"
    assert get(FOR + "::1.2.3.4") == "::1.2.3.4 0 http"
    assert get(FOR + "::fffe:1.2.3.4") == "::fffe:102:304 0 http"


@BOTH
def test_everybody_is_believed_with_a_star(ask, app):
    get = ask(app, "--forwarded-allow-ips", "*")

    assert get(FOR + "6.6.6.6, 1.2.3.4") == "6.6.6.6 0 http"


@BOTH
@pytest.mark.parametrize(
    "garbage",
    [
        "unknown", "_hidden", "proxy.example", "1.2.3", "1.2.3.4.5", "01.2.3.4",
        "256.1.1.1", "::1::", "[::1", "unix", "*", "127.0.0.1/8", "\xff",
        "fe80::1%eth0", "0x7f000001", "1.2.3.4 5.6.7.8", "''", '""',
    ],
)  # fmt: skip
def test_what_is_no_address_is_nobody(ask, app, garbage):
    get = ask(app)

    told = get(FOR + garbage)
    assert re.fullmatch(r"127\.0\.0\.1 [1-9]\d+ http", told)
    assert get(FOR + "1.2.3.4, " + garbage + ", ::1") == "::1 0 http"


@BOTH
def test_forwarded_is_read_if_that_is_what_the_proxy_writes(ask, app):
    get = ask(app, "--forwarded-header", "forwarded")

    assert get("Forwarded: for=1.2.3.4;proto=https") == "1.2.3.4 0 https"
    assert get('Forwarded: For="[2001:db8::1]:47"') == "2001:db8::1 47 http"
    assert get(
        'Forwarded: for="6.6.6.6', "Forwarded: proto=https;for=1.2.3.4"
    ) == ("1.2.3.4 0 https")
    told = get(FOR + "1.2.3.4", HTTPS)
    assert re.fullmatch(r"127\.0\.0\.1 [1-9]\d+ http", told)


@BOTH
def test_forwarded_is_the_client_s_word_if_the_proxy_writes_the_others(
    ask, app
):
    get = ask(app)

    told = get("Forwarded: for=1.2.3.4;proto=https")
    assert re.fullmatch(r"127\.0\.0\.1 [1-9]\d+ http", told)
    assert get("Forwarded: for=6.6.6.6", FOR + "1.2.3.4") == "1.2.3.4 0 http"


@BOTH
def test_underscores_are_not_dashes(ask, app):
    get = ask(app)

    told = get("X_Forwarded_For: 1.2.3.4", "X_Forwarded_Proto: https")

    assert re.fullmatch(r"127\.0\.0\.1 [1-9]\d+ http", told)


@BOTH
@pytest.mark.parametrize("options", [(), ("--forwarded-allow-ips", "unix")])
def test_unix_socket_is_believed_by_default(serve, tmp_path, app, options):
    path = str(tmp_path / "app.sock")
    serve(app, "--bind", f"unix:{path}", "--lifespan", "off", *options)

    with raw.Client(path) as client:
        assert client.get("/", FOR + "1.2.3.4").body == b"1.2.3.4 0 http"
        assert client.get("/", HTTPS).body == b"  https"


@BOTH
def test_unix_socket_is_not_believed_if_it_is_not_named(serve, tmp_path, app):
    path = str(tmp_path / "app.sock")
    options = ("--lifespan", "off", "--forwarded-allow-ips", "127.0.0.1")
    serve(app, "--bind", f"unix:{path}", *options)

    with raw.Client(path) as client:
        assert client.get("/", FOR + "1.2.3.4", HTTPS).body == b"  http"


@BOTH
def test_worker_threads_are_told_the_same(ask, app):
    get = ask(app, "--threads", "4")

    assert get(FOR + "1.2.3.4", HTTPS) == "1.2.3.4 0 https"


@BOTH
def test_access_log_has_the_client(ask, app):
    get = ask(app, "--access-log-format", "%(h)s|%({client}x)s")

    get(FOR + "1.2.3.4:77")
    get(FOR + "2001:db8::1")

    server = get.server
    assert server.wait_for_line("1.2.3.4", "stdout") == "1.2.3.4|1.2.3.4:77"
    line = server.wait_for_line("2001", "stdout")
    assert line == "2001:db8::1|[2001:db8::1]"


@BOTH
def test_access_log_has_the_client_of_a_host_that_is_not_served(ask, app):
    options = ("--allowed-hosts", "other")
    get = ask(app, *options, "--access-log-format", "%(h)s|%(s)s|%({X-Id}i)s")

    get(FOR + "1.2.3.4", "X-Id: 7")

    line = get.server.wait_for_line("|421|", "stdout")
    assert line == "1.2.3.4|421|7"


def test_variable_of_other_servers_is_read(serve):
    server = serve(APPS[0], env={"FORWARDED_ALLOW_IPS": "10.0.0.1"})

    with raw.Client(server.address) as client:
        assert b"127.0.0.1" in client.get("/", FOR + "1.2.3.4").body


def test_own_variable_is_stronger(serve):
    env = {
        "FORWARDED_ALLOW_IPS": "10.0.0.1",
        "XSGI_FORWARDED_ALLOW_IPS": "127.0.0.1",
    }
    server = serve(APPS[0], env=env)

    with raw.Client(server.address) as client:
        assert client.get("/", FOR + "1.2.3.4").body == b"1.2.3.4 0 http"


@pytest.mark.parametrize(
    "value", ["10.0.0.0/33", "10.0.0.1/8", "example.org", "::g", 5, [5], [None]]
)
def test_wrong_entry_is_told(value):
    with pytest.raises(ConfigError, match="forwarded_allow_ips: "):
        Config("x:y", forwarded_allow_ips=value)


def test_entries_are_bounded():
    fits = ["10.0.0.1"] * proxies.LIST_MAX

    assert len(Config("x:y", forwarded_allow_ips=fits).forwarded_allow_ips)
    with pytest.raises(ConfigError, match="more than 256"):
        Config("x:y", forwarded_allow_ips=[*fits, "10.0.0.1"])


def test_each_prefix_length_trusts_what_the_network_has(ask):
    """The extension's reading of networks, against ipaddress's."""
    network = ipaddress.ip_network("172.16.5.128/25")
    inside = [network[0], network[-1], network[77]]
    outside = [network[0] - 1, network[-1] + 1]
    get = ask(APPS[0], "--forwarded-allow-ips", f"127.0.0.1,{network}")

    for address in inside:
        assert get(f"{FOR}1.2.3.4, {address}") == "1.2.3.4 0 http"
    for address in outside:
        assert get(f"{FOR}1.2.3.4, {address}") == f"{address} 0 http"


def test_zone_is_refused_because_it_would_not_be_looked_at():
    with pytest.raises(ConfigError, match="has a zone"):
        Config("a:b", forwarded_allow_ips="fe80::1%eth0")


def test_table_is_the_networks_in_ipv6():
    assert proxies.table(["10.0.0.0/8"]) == (
        bytes(10) + b"\xff\xff\x0a\0\0\0" + bytes([104])
    )
    assert proxies.table(["unix", "*", "::1"]) == (
        bytes(17) + bytes(15) + b"\x01" + bytes([128])
    )
