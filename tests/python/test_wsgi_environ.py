"""The environ of PEP 3333."""

import io
import sys
import wsgiref.validate

import pytest

from wsgi_probe import THREADS, Probe, seen_environ
from xsgi import _xsgi

HOST = "Host: example.org"


def test_request_line_becomes_cgi_variables():
    environ = seen_environ(HOST, line="GET /a/b?c=d&e HTTP/1.1")

    assert environ["REQUEST_METHOD"] == "GET"
    assert environ["SCRIPT_NAME"] == ""
    assert environ["PATH_INFO"] == "/a/b"
    assert environ["QUERY_STRING"] == "c=d&e"
    assert environ["RAW_URI"] == "/a/b?c=d&e"
    assert environ["REQUEST_URI"] == "/a/b?c=d&e"
    assert environ["SERVER_PROTOCOL"] == "HTTP/1.1"


def test_http_1_0_is_told():
    environ = seen_environ(line="GET / HTTP/1.0")

    assert environ["SERVER_PROTOCOL"] == "HTTP/1.0"


@pytest.mark.parametrize(
    "method", ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]
)
def test_method_is_as_sent(method):
    environ = seen_environ(
        HOST, "Content-Length: 0", line=f"{method} / HTTP/1.1"
    )

    assert environ["REQUEST_METHOD"] == method


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/%41%7a%2F", "/Az/"),
        ("/%e4%BD%a0", "/\xe4\xbd\xa0"),
        ("/%25", "/%"),
        ("/a+b", "/a+b"),
        ("//a//b", "//a//b"),
        ("/a/../b/.", "/a/../b/."),
        ("/?", "/"),
        ("/" + "a" * 2000 + "%20", "/" + "a" * 2000 + " "),
        ("http://example.org/x?y", "/x"),
        ("http://example.org", "/"),
    ],
)
def test_path_is_decoded_as_latin_1(target, path):
    environ = seen_environ(HOST, line=f"GET {target} HTTP/1.1")

    assert environ["PATH_INFO"] == path
    assert environ["RAW_URI"] == target


def test_query_string_is_not_decoded():
    environ = seen_environ(HOST, line="GET /?a=%20%e4+b HTTP/1.1")

    assert environ["QUERY_STRING"] == "a=%20%e4+b"


def test_asterisk_form_has_no_path():
    environ = seen_environ(HOST, line="OPTIONS * HTTP/1.1")

    assert environ["PATH_INFO"] == ""
    assert environ["RAW_URI"] == "*"


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/api/users", "/users"),
        ("/api", ""),
        ("/api/", "/"),
        ("/%61pi/users", "/users"),
        ("/apiary", "/apiary"),
        ("/users", "/users"),
        ("/", "/"),
    ],
)
def test_root_path_is_script_name_and_not_in_path_info(target, path):
    environ = seen_environ(
        HOST, line=f"GET {target} HTTP/1.1", root_path="/api"
    )

    assert environ["SCRIPT_NAME"] == "/api"
    assert environ["PATH_INFO"] == path
    assert environ["RAW_URI"] == target


def test_root_path_is_a_native_string():
    environ = seen_environ(
        HOST, line="GET /%C3%A4/b HTTP/1.1", root_path="/\xe4"
    )

    assert environ["SCRIPT_NAME"] == "/\xc3\xa4"
    assert environ["PATH_INFO"] == "/b"


def test_header_fields_become_http_variables():
    environ = seen_environ(
        HOST,
        "user-agent: me/1.0",
        "X-Custom-Header: one",
        "X-LATIN: \xe4\xff",
        "Empty:",
    )

    assert environ["HTTP_HOST"] == "example.org"
    assert environ["HTTP_USER_AGENT"] == "me/1.0"
    assert environ["HTTP_X_CUSTOM_HEADER"] == "one"
    assert environ["HTTP_X_LATIN"] == "\xe4\xff"
    assert environ["HTTP_EMPTY"] == ""


def test_content_type_and_length_have_names_without_http():
    environ = seen_environ(
        HOST,
        "Content-Type: text/plain",
        "Content-Length: 0",
        line="POST / HTTP/1.1",
    )

    assert environ["CONTENT_TYPE"] == "text/plain"
    assert environ["CONTENT_LENGTH"] == "0"
    assert "HTTP_CONTENT_TYPE" not in environ
    assert "HTTP_CONTENT_LENGTH" not in environ


def test_content_variables_are_absent_without_the_fields():
    environ = seen_environ(HOST)

    assert "CONTENT_TYPE" not in environ
    assert "CONTENT_LENGTH" not in environ


@pytest.mark.parametrize(
    "fields",
    [
        ("X_Real_Ip: 6.6.6.6", "X-Real-Ip: 1.2.3.4"),
        ("X-Real-Ip: 1.2.3.4", "X_Real_Ip: 6.6.6.6"),
        ("X-Real-Ip: 1.2.3.4", "X-Real_Ip: 6.6.6.6"),
    ],
)
def test_field_with_an_underscore_is_dropped(fields):
    environ = seen_environ(HOST, *fields, "X_Alone: 1", "Content_Type: a/b")

    assert environ["HTTP_X_REAL_IP"] == "1.2.3.4"
    assert "HTTP_X_ALONE" not in environ
    assert "CONTENT_TYPE" not in environ


def test_repeated_fields_are_joined_with_a_comma():
    environ = seen_environ(
        HOST, "Accept: a", "ACCEPT: a", "X-My: 1", "x-mY: 2", "X-My: 3"
    )

    assert environ["HTTP_ACCEPT"] == "a,a"
    assert environ["HTTP_X_MY"] == "1,2,3"


def test_repeated_cookies_are_joined_with_a_semicolon():
    environ = seen_environ(HOST, "Cookie: a=1", "Cookie: b=2")

    assert environ["HTTP_COOKIE"] == "a=1; b=2"


def test_unusual_field_names_keep_apart():
    environ = seen_environ(HOST, "x~: tilde", "x^: caret", "x!: bang")

    assert environ["HTTP_X~"] == "tilde"
    assert environ["HTTP_X^"] == "caret"
    assert environ["HTTP_X!"] == "bang"


def test_names_beyond_the_table_are_still_names():
    many = [f"X-Name-{i}: {i}" for i in range(900)]
    seen = []

    def app(environ, start_response):
        seen.append(environ)
        start_response("200 OK", [])
        return []

    options = {"limit_request_fields": 1000}
    with Probe(app, **options) as probe, probe.connect() as client:
        client.get("/", *many)
        client.get("/", "Accept: text/plain", *reversed(many))

    for environ in seen:
        for i in range(900):
            assert environ[f"HTTP_X_NAME_{i}"] == str(i)
    assert seen[1]["HTTP_ACCEPT"] == "text/plain"


def test_values_of_one_request_are_not_in_the_next():
    seen = []

    def app(environ, start_response):
        seen.append(dict(environ))
        environ["HTTP_ACCEPT"] = "mine"
        environ["mine"] = 1
        start_response("200 OK", [])
        return []

    with Probe(app) as probe, probe.connect() as client:
        client.get("/a?b", "X-One: 1", "Accept: theirs")
        client.get("/")

    assert "HTTP_X_ONE" not in seen[1]
    assert "mine" not in seen[1]
    assert "HTTP_ACCEPT" not in seen[1]
    assert seen[1]["QUERY_STRING"] == ""
    assert seen[1]["PATH_INFO"] == "/"


def test_value_is_not_taken_for_a_similar_one_before_it():
    values = ["abcdef", "abc", "", "abcdeg", "ABCDEF", "abcdef", "x" * 500]
    seen = []

    def app(environ, start_response):
        seen.append((environ["HTTP_ACCEPT"], environ["HTTP_COOKIE"]))
        start_response("200 OK", [])
        return []

    with Probe(app) as probe, probe.connect() as client:
        for value in values:
            client.get("/", f"Accept: {value}", f"Cookie: {value}")

    assert seen == [(value, value) for value in values]


def test_addresses_of_both_ends_are_text():
    seen = []

    def app(environ, start_response):
        seen.append(environ)
        start_response("200 OK", [])
        return []

    with Probe(app) as probe, probe.connect() as client:
        client.get("/")
        host, port = client.sock.getsockname()
        server_host, server_port = probe.address

    assert seen[0]["REMOTE_ADDR"] == host
    assert seen[0]["REMOTE_PORT"] == str(port)
    assert seen[0]["SERVER_NAME"] == server_host
    assert seen[0]["SERVER_PORT"] == str(server_port)


def test_all_cgi_and_http_variables_are_exactly_str():
    environ = seen_environ(
        HOST, "Content-Type: a/b", line="GET /%e4?b HTTP/1.1"
    )

    for key, value in environ.items():
        assert type(key) is str
        if not key.startswith(("wsgi.", "xsgi.")):
            assert type(value) is str, key


def test_environ_is_exactly_a_dict():
    kinds = []

    def app(environ, start_response):
        kinds.append(type(environ))
        start_response("200 OK", [])
        return []

    with Probe(app) as probe:
        probe.get()

    assert kinds == [dict]


@pytest.mark.parametrize("threads", THREADS)
def test_wsgi_variables_tell_the_truth(threads):
    environ = seen_environ(HOST, threads=threads)

    assert environ["wsgi.version"] == (1, 0)
    assert environ["wsgi.url_scheme"] == "http"
    assert environ["wsgi.multithread"] is (threads > 1)
    assert environ["wsgi.multiprocess"] is False
    assert environ["wsgi.run_once"] is False
    assert environ["wsgi.input_terminated"] is True
    assert environ["wsgi.errors"] is sys.stderr
    assert environ["SERVER_SOFTWARE"] == f"xsgi/{_xsgi.__version__}"


def test_several_workers_are_multiprocess():
    environ = seen_environ(HOST, workers=2)

    assert environ["wsgi.multiprocess"] is True


def test_errors_is_a_stream_even_without_stderr(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    environ = seen_environ(HOST)

    assert isinstance(environ["wsgi.errors"], io.TextIOBase)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("target", ["/", "/a%20b?c", "*"])
@pytest.mark.parametrize("body", [b"", b"some\nlines\n", b"x" * 200_000])
def test_wsgiref_validate_finds_nothing(threads, target, body):
    def app(environ, start_response):
        data = environ["wsgi.input"].read(10)
        data += b"".join(environ["wsgi.input"])
        environ["wsgi.errors"].flush()
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"%d" % len(data)]

    validated = wsgiref.validate.validator(app)
    method = "OPTIONS" if target == "*" else "POST"
    with Probe(validated, threads) as probe, probe.connect() as client:
        client.request(method, target, body=body)
        response = client.response()

    assert (response.status, response.body) == (200, b"%d" % len(body))
    assert probe.log() == []
