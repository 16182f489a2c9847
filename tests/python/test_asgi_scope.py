"""The scope of an ASGI request: "HTTP Connection Scope"."""

import json

import pytest

from asgi_probe import Probe


@pytest.fixture(scope="module")
def probe():
    with Probe() as served:
        yield served


def test_scope_has_exactly_the_keys_of_the_specification(probe):
    with probe.connect() as client:
        scope = json.loads(client.get("/scope?a=1", "X-Field: value").body)
        port = client.sock.getsockname()[1]

    assert scope == {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.5"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/scope",
        "raw_path": {"bytes": "/scope"},
        "query_string": {"bytes": "a=1"},
        "root_path": "",
        "headers": [
            [{"bytes": "host"}, {"bytes": "test"}],
            [{"bytes": "x-field"}, {"bytes": "value"}],
        ],
        "client": ["127.0.0.1", port],
        "server": ["127.0.0.1", probe.port],
        "state": {"started": ["by the lifespan"]},
        "extensions": {
            "http.response.pathsend": {},
            "http.response.zerocopysend": {},
            "http.response.trailers": {},
        },
    }


def test_scope_has_exactly_the_types_of_the_specification(probe):
    types = probe.get_json("/scope_types")

    assert types == {
        "type": "str",
        "asgi": "dict",
        "http_version": "str",
        "method": "str",
        "scheme": "str",
        "path": "str",
        "raw_path": "bytes",
        "query_string": "bytes",
        "root_path": "str",
        "headers": "list",
        "client": "tuple",
        "server": "tuple",
        "state": "dict",
        "extensions": "dict",
        "pair": ["tuple", "bytes", "bytes"],
    }


@pytest.mark.parametrize(
    ("method", "path"),
    [(method, "/raw") for method in ("GET", "POST", "PUT", "PATCH", "DELETE")]
    + [("OPTIONS", "/raw"), ("PROPFIND", "/raw")],
)
def test_method_reaches_the_application(probe, method, path):
    with probe.connect() as client:
        client.request(method, path)
        shown = json.loads(client.response().body)

    assert shown["method"] == method


def test_http_1_0_is_told(probe):
    with probe.connect() as client:
        client.send(b"GET /raw HTTP/1.0\r\n\r\n")
        shown = json.loads(client.response().body)

    assert shown["http_version"] == "1.0"


def test_query_string_reaches_the_application_undecoded(probe):
    shown = probe.get_json("/raw?a=%20b&c=%E4?d")

    assert shown["query_string"] == "a=%20b&c=%E4?d"
    assert shown["path"] == "/raw"


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("/raw", "/raw"),
        ("/r%61w", "/raw"),
        ("/ra%77", "/raw"),
        ("/raw/%C3%A4%E2%82%ac", "/raw/ä€"),
        ("/raw/%2F%20%3F", "/raw// ?"),
        ("/raw/%FF", "/raw/\ufffd"),
        ("/raw/%4", "/raw/%4"),
        ("/raw/+", "/raw/+"),
    ],
)
def test_path_is_decoded_and_raw_path_is_not(probe, raw, path):
    shown = probe.get_json(raw)

    assert shown["path"] == path
    assert shown["raw_path"] == raw


def test_header_names_are_lower_case_and_values_are_not(probe):
    shown = probe.get_json("/raw", "X-MiXed: VaLue", "x-mixed: two")

    assert ["x-mixed", "VaLue"] in shown["headers"]
    assert ["x-mixed", "two"] in shown["headers"]


def test_headers_keep_their_order(probe):
    fields = [f"X-{number}: {number}" for number in (3, 1, 2, 1)]

    shown = probe.get_json("/raw", *fields)

    names = [name for name, _ in shown["headers"]]
    assert names == ["host", "x-3", "x-1", "x-2", "x-1"]


def test_header_values_of_any_byte_arrive(probe):
    shown = probe.get_json("/raw", "X-Latin: caf\u00e9")

    assert ["x-latin", "caf\u00e9"] in shown["headers"]


def test_names_that_look_alike_are_not_mixed_up(probe):
    """More names than are kept, in several spellings, with equal ends."""
    for _ in range(3):
        for number in range(0, 600, 60):
            fields = [
                f"{prefix}-{n:04}-Same-End: {n}"
                for n in range(number, number + 30)
                for prefix in ("X-Same-Begin", "x-same-begin")
            ]
            shown = probe.get_json("/raw", *fields)["headers"][1:]
            want = [f.split(": ") for f in fields]
            assert shown == [[name.lower(), value] for name, value in want]


def test_values_that_look_alike_are_not_mixed_up(probe):
    """Equal names, lengths and ends; and one value under several names."""
    values = [f"12345678-{number}-12345678" for number in (1, 2, 1, 3, 2)]
    fields = [f"X-{name}: {value}" for value in values for name in "ab"]

    shown = probe.get_json("/raw", *fields)["headers"][1:]

    assert shown == [[f"x-{n}", value] for value in values for n in "ab"]


@pytest.mark.parametrize("length", [1, 30, 31, 32, 200])
def test_header_names_of_any_length_arrive(probe, length):
    name = "A" * length

    shown = probe.get_json("/raw", f"{name}: 1", f"{name}: 2")

    assert shown["headers"][1:] == [[name.lower(), "1"], [name.lower(), "2"]]


def test_host_of_an_absolute_target_replaces_the_field(probe):
    """RFC 9112 3.2.2."""
    with probe.connect() as client:
        client.send(
            b"GET http://real.test/raw?x HTTP/1.1\r\nHost: real.test\r\n\r\n"
        )
        shown = json.loads(client.response().body)

    assert shown["headers"] == [["host", "real.test"]]
    assert shown["raw_path"] == "/raw"


def test_what_is_done_to_a_scope_is_not_in_the_next_one(probe):
    with probe.connect() as client:
        answers = [client.get("/spoil_scope").body for _ in range(3)]

    assert answers == [b"True"] * 3


def test_state_is_a_shallow_copy_for_each_request(probe):
    for _ in range(2):
        state = probe.get_json("/state")

        assert state == {"started": ["by the lifespan"], "mine": 1}


def test_state_is_absent_without_a_lifespan():
    with Probe("--lifespan", "off") as served:
        scope = served.get_json("/scope")

    assert "state" not in scope


def test_server_on_a_unix_socket_is_its_path_and_the_client_none(tmp_path):
    path = str(tmp_path / "socket")
    with Probe("--uds", path) as served:
        from raw import Client

        with Client(path) as client:
            scope = json.loads(client.get("/scope").body)
        assert served.process.poll() is None

    assert scope["client"] is None
    assert scope["server"] == [path, None]


@pytest.mark.parametrize("target", ["/raw", "/mounted/raw"])
def test_path_has_the_root_path_whether_the_proxy_strips_it_or_not(target):
    with Probe("--root-path", "/mounted") as served:
        shown = served.get_json(target)

    assert shown["root_path"] == "/mounted"
    assert shown["path"] == "/mounted/raw"
    assert shown["raw_path"] == "/mounted/raw"
