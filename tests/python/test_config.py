"""Config: what each kind of option takes, and what it refuses."""

import copy
import dataclasses
import inspect
import pickle
import types

import pytest

from xsgi import _xsgi, sockets
from xsgi.config import FIELDS_MAX, GROUPS, HEAD_MAX, Config, options
from xsgi.errors import ConfigError


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (30, 30),
        (0.25, 0.25),
        ("30", 30),
        ("30s", 30),
        ("1.5S", 1.5),
        ("500ms", 0.5),
        ("5m", 300),
        ("2 h", 7200),
        ("none", None),
        ("off", None),
        (None, None),
    ],
)
def test_duration_is_read_in_every_notation(given, seconds):
    assert Config("a:b", timeout_write=given).timeout_write == seconds


@pytest.mark.parametrize(
    "given",
    [
        "",
        "abc",
        "-1",
        "1d",
        "1 2",
        "0",
        0,
        -3,
        True,
        "inf",
        float("nan"),
        "1e3",
        366 * 24 * 3600 + 1,
        "8785h",
        "999999999999999999m",
        1e9 + 1,
        1e300,
    ],
)
def test_duration_refuses_what_is_none(given):
    with pytest.raises(ConfigError, match=r"^timeout_write: "):
        Config("a:b", timeout_write=given)


def test_graceful_shutdown_may_be_at_once():
    config = Config("a:b", timeout_graceful_shutdown="0")

    assert config.timeout_graceful_shutdown == 0


@pytest.mark.parametrize(
    ("given", "count"),
    [
        (0, 0),
        ("8190", 8190),
        ("64KiB", 65536),
        ("64k", 65536),
        ("1MiB", 1048576),
        ("1.5kb", 1500),
        ("2GB", 2 * 10**9),
        ("none", None),
    ],
)
def test_size_is_read_in_every_notation(given, count):
    assert Config("a:b", limit_request_body=given).limit_request_body == count


@pytest.mark.parametrize("given", ["", "1x", "-1", "0.3", "9999999999GiB", 1.5])
def test_size_refuses_what_is_none(given):
    with pytest.raises(ConfigError, match=r"^limit_request_body: "):
        Config("a:b", limit_request_body=given)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("port", 0, 65535),
        ("threads", 1, 1024),
        ("limit_request_fields", 1, 1000),
        ("limit_request_line", 16, 65536),
        ("limit_request_field_size", 16, 65536),
        ("backlog", 1, 1 << 20),
    ],
)
def test_number_is_taken_up_to_its_bounds(name, low, high):
    for inside in (low, high, str(low)):
        assert getattr(Config("a:b", **{name: inside}), name) == int(inside)
    for outside in (low - 1, high + 1, "x", ""):
        with pytest.raises(ConfigError, match=f"^{name}: "):
            Config("a:b", **{name: outside})


@pytest.fixture
def server():
    """Makes a server with some options, as the core takes them."""
    backend = _xsgi.Backend()
    yield lambda **options: _xsgi.Server(
        backend, print, "wsgi", types.SimpleNamespace(**options)
    )
    backend.close()


@pytest.mark.parametrize(
    ("name", "high"),
    [
        ("threads", 1024),
        ("limit_request_fields", FIELDS_MAX),
        ("limit_request_line", HEAD_MAX),
        ("limit_request_field_size", HEAD_MAX),
        ("limit_request_head", HEAD_MAX),
    ],
)
def test_bound_of_an_option_is_the_cores(server, name, high):
    Config("a:b", **{name: high})
    with pytest.raises(ConfigError):
        Config("a:b", **{name: high + 1})

    with pytest.raises(ValueError, match=name):
        server(**{name: high + 1})
    server(**{name: high}).close()


def test_bound_of_the_addresses_is_the_cores(server):
    one = server()

    for _ in range(sockets.ADDRESSES_MAX):
        one.listen()
    with pytest.raises(OSError):
        one.listen()


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("interface", "wsgi", "asgi2"),
        ("loop", "uvloop", "trio"),
        ("lifespan", "OFF", "maybe"),
        ("log_level", "Debug", "loud"),
        ("factory", True, "yes"),
        ("uds_permissions", "660", "888"),
        ("root_path", "/api", "api"),
        ("uds", "/run/x.sock", ""),
        ("uds", "x.sock", "unix:x.sock"),
        ("uds", "none", b"/x"),
        ("host", "::1", "localhost:80"),
        ("host", "[::1]", "[::1]:80"),
        ("host", "", ":80"),
        ("bind", "fd://999999", "fd://1000000"),
        ("bind", [":80"], ["8000"]),
        ("app_dir", "", 5),
        ("reload_dir", ["", "x"], ["x", 5]),
        ("reload_delay", 0, -1),
        ("reload_delay", "60s", 61),
    ],
)
def test_option_refuses_what_is_not_its_kind(name, good, bad):
    Config("a:b", **{name: good})

    with pytest.raises(ConfigError, match=f"^{name}: "):
        Config("a:b", **{name: bad})


def test_asgi_without_a_version_is_asgi3():
    assert Config("a:b", interface="asgi").interface == "asgi3"


def test_permissions_are_octal_as_text():
    assert Config("a:b", uds_permissions="660").uds_permissions == 0o660
    assert Config("a:b", uds_permissions=0o600).uds_permissions == 0o600


def test_root_path_loses_its_last_slash():
    assert Config("a:b", root_path="/api/").root_path == "/api"
    assert Config("a:b", root_path="/").root_path == ""


def test_config_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config("a:b").port = 1


def test_config_shows_its_options_to_tools():
    shown = list(inspect.signature(Config).parameters)

    assert shown == ["app", *(option.name for option in options())]
    assert copy.copy(Config("a:b")) == Config("a:b")
    assert pickle.loads(pickle.dumps(Config("a:b"))) == Config("a:b")
    with pytest.raises(TypeError, match="app"):
        Config()


def test_bind_takes_one_address_or_several():
    assert Config("a:b", bind="x:1").bind == ("x:1",)
    assert Config("a:b", bind=["x:1", "y:2"]).bind == ("x:1", "y:2")


def test_every_default_is_a_value_that_the_option_takes():
    config = Config("a:b")

    for option in options():
        assert getattr(config, option.name) == option.default


def test_every_option_is_in_a_group_of_the_help():
    for option in options():
        assert option.metadata["group"] in GROUPS
        assert option.metadata["help"]


def test_backlog_of_less_than_one_buffer_is_refused():
    with pytest.raises(ConfigError, match="limit_write_buffer; 'none' is off"):
        Config("x:y", limit_write_backlog=0)

    assert Config("x:y", limit_write_backlog=None).limit_write_backlog is None
