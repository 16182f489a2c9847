"""What a line of the access log says."""

import base64
import json
import re

import pytest

import raw

BOTH = pytest.mark.parametrize("app", ["log_app:asgi", "log_app:wsgi"])
ENDS = "%(r)s|%(s)s|%(B)s|%({end}x)s"
GET = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n"


@pytest.fixture
def logged(serve):
    """``logged(app, format, *options)``: a client, and its next log line."""
    clients = []

    def start(app, form, *options):
        server = serve(
            app, "--lifespan", "off", "--access-log-format", form, *options
        )
        client = raw.Client(server.address, receive_buffer=4096)
        clients.append(client)

        def line(words=""):
            return server.wait_for_line(words, "stdout")

        return client, line

    yield start
    for client in clients:
        client.close()


@BOTH
def test_default_is_like_uvicorn_s_with_bytes_and_time(logged, app):
    client, line = logged(app, "default")

    client.get("/a?b=c")

    assert re.fullmatch(
        r'INFO:     127\.0\.0\.1:\d+ - "GET /a\?b=c HTTP/1\.1" 200 OK 5B'
        r" \d+\.\d{3}ms",
        line(),
    )


@BOTH
def test_combined_is_apache_s(logged, app):
    client, line = logged(app, "combined")

    client.get(
        "/a?b=c", "Referer: http://x/", 'User-Agent: a "b"\\',
        "Authorization: Basic bWU6c2VjcmV0",
    )  # fmt: skip

    assert re.fullmatch(
        r"127\.0\.0\.1 - me \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d"
        r' [+-]\d{4}\] "GET /a\?b=c HTTP/1\.1" 200 5 "http://x/"'
        r' "a \\x22b\\x22\\x5c"',
        line(),
    )


@BOTH
def test_json_is_one_object_a_line(logged, app):
    client, line = logged(app, "json")

    client.get("/a?b=c", 'User-Agent: a"\xff\xc3\xa9')

    got = json.loads(line())
    assert got.pop("duration") >= 0
    assert got.pop("process") > 0
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", got.pop("time")
    )
    assert got == {
        "client": "127.0.0.1",
        "method": "GET",
        "target": "/a?b=c",
        "protocol": "HTTP/1.1",
        "status": 200,
        "bytes": 5,
        "end": "ok",
        "referer": None,
        "user_agent": 'a"\ufffdé',
        "connection": 1,
    }


@BOTH
def test_fields_of_both_heads_are_what_was_sent(logged, app):
    client, line = logged(
        app, "%({x-one}i)s %({X-TWO}o)s %({x-one}o)s %({conn}x)s"
    )

    client.get("/", "X-One: first", "X-One: last")

    assert line() == r"last a\x22\xe9 - 1"


FAILS = """
async def app(scope, receive, send):
    headers = [(b"x-one", b"lost")]
    await send(
        {"type": "http.response.start", "status": 200, "headers": headers}
    )
    if scope["path"] == "/fails":
        raise ZeroDivisionError
    while (await receive())["type"] != "http.disconnect":
        pass
"""


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ("GET /fails HTTP/1.1", 500),
        ("PUT / HTTP/1.1\r\nContent-Length: 1", 408),
    ],
)
def test_fields_of_a_head_that_never_left_are_not_said(
    serve, tmp_path, lines, status
):
    (tmp_path / "fails.py").write_text(FAILS)
    server = serve(
        "fails:app",
        *("--access-log-format", "%(s)s %({x-one}o)s"),
        *("--lifespan", "off", "--timeout-request-body", "0.3"),
        app_dir=tmp_path,
    )

    with raw.Client(server.address) as client:
        client.send(f"{lines}\r\nHost: test\r\n\r\n".encode())
        assert client.response().status == status

    assert server.wait_for_line(f"{status} ", "stdout") == f"{status} -"


def test_fields_of_a_head_that_was_replaced_are_not_said(logged):
    client, line = logged("asgi_app:app", "%(s)s %({x-one}o)s")

    client.get("/bad_header_then_good")

    assert line() == "500 -"


@BOTH
def test_time_of_an_application_that_computes_counts(logged, app):
    client, line = logged(app, "%(U)s %(D)s")

    client.get("/big")

    assert int(line("/big").split()[1]) > 0


@BOTH
@pytest.mark.parametrize(
    ("sent", "wanted"),
    [
        (b"HEAD /h HTTP/1.1\r\nHost: h\r\n\r\n", "HEAD /h HTTP/1.1|200|0|ok"),
        (b"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0|200|5|ok"),
        (b"GET /fail HTTP/1.0\r\n\r\n", "GET /fail HTTP/1.0|500|21|failed"),
        (
            GET.replace(b"/", b"/cut", 1),
            "GET /cut HTTP/1.1|200|65536|failed",
        ),
        (b"GET /x HTTP/1.1\r\n\r\n", "GET /x HTTP/1.1|400|51|host"),
        (b"\x16\x03\x01\x02\r\n\r\n", "-|400|60|tls"),
        (
            b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: x\r\n\r\n",
            "POST / HTTP/1.1|400|91|framing",
        ),
    ],
)  # fmt: skip
def test_end_of_a_request_is_told(logged, app, sent, wanted):
    client, line = logged(app, ENDS)

    client.send(sent)

    assert line() == wanted


@BOTH
def test_request_with_an_interim_answer_is_one_line(logged, app):
    client, line = logged(app, ENDS)

    client.request("PUT", "/body", "Content-Length: 3", "Expect: 100-continue")
    assert client.head().status == 100
    client.send(b"abc")
    client.response()
    client.get("/next")

    assert line("next") == "GET /next HTTP/1.1|200|5|ok"
    assert line() == "PUT /body HTTP/1.1|200|5|ok"


@BOTH
def test_client_that_leaves_inside_its_request_is_told(logged, app):
    client, line = logged(app, ENDS)

    client.request("PUT", "/body", "Content-Length: 10")
    client.send(b"abc")
    client.close()

    assert line() == "PUT /body HTTP/1.1|-|0|eof"


@BOTH
def test_client_that_resets_inside_the_answer_is_told(logged, app):
    client, line = logged(app, ENDS)

    client.request("GET", "/big")
    client.exactly(100)
    client.reset()

    assert re.fullmatch(r"GET /big HTTP/1\.1\|200\|\d+\|reset", line())


@BOTH
def test_client_that_resets_behind_the_application_s_back_is_told(logged, app):
    """The application had given all of it, and has long returned."""
    client, line = logged(app, ENDS)

    client.request("GET", "/whole")
    client.exactly(100)
    client.reset()

    assert line() == "GET /whole HTTP/1.1|200|16777216|reset"


@BOTH
def test_client_that_does_not_read_a_complete_answer_is_told(logged, app):
    client, line = logged(app, ENDS, "--timeout-write", "200ms")

    client.request("GET", "/whole")

    assert line() == "GET /whole HTTP/1.1|200|16777216|write timeout"


@BOTH
def test_body_that_does_not_come_is_told(logged, app):
    client, line = logged(app, ENDS, "--timeout-request-body", "100ms")

    client.request("PUT", "/body", "Content-Length: 10")

    assert line() == "PUT /body HTTP/1.1|408|40|body timeout"


@BOTH
def test_head_that_does_not_come_is_told(logged, app):
    client, line = logged(app, ENDS, "--timeout-request-head", "100ms")

    client.send(b"GET /x HT")

    assert re.fullmatch(r"GET /x HTTP/1\.1\|408\|\d+\|head timeout", line())


@BOTH
def test_client_that_does_not_read_is_told(logged, app):
    client, line = logged(app, ENDS, "--timeout-write", "200ms")

    client.request("GET", "/big")

    assert re.fullmatch(r"GET /big HTTP/1\.1\|200\|\d+\|write timeout", line())


@BOTH
def test_body_over_the_limit_is_told(logged, app):
    client, line = logged(app, ENDS, "--limit-request-body", "5")

    client.request("PUT", "/body", "Transfer-Encoding: chunked")
    client.send(b"6\r\nabcdef\r\n")

    assert re.fullmatch(
        r"PUT /body HTTP/1\.1\|413\|\d+\|(limit|body size)", line()
    )


@BOTH
def test_what_runs_at_the_end_of_the_grace_is_told(serve, app):
    options = ("--timeout-graceful-shutdown", "100ms", "--lifespan", "off")
    server = serve(app, "--access-log-format", ENDS, *options)
    with raw.Client(server.address, receive_buffer=4096) as client:
        client.request("GET", "/big")
        client.exactly(100)

        assert server.stop() == 0

    assert re.fullmatch(
        r"GET /big HTTP/1\.1\|200\|\d+\|shutdown", server.stdout[-1]
    )


@BOTH
def test_no_byte_of_a_client_s_forges_a_line_or_a_field(serve, app):
    """Whatever the parser lets through, in each place that is logged."""
    form = '%(h)s "%(r)s" "%(a)s" %(u)s %(s)s'
    server = serve(app, "--lifespan", "off", "--access-log-format", form)

    for byte in range(256):
        with raw.Client(server.address) as client:
            client.send(
                b"GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: %cx\r\n"
                b"Authorization: Basic %s\r\n\r\nGET /?%cx HTTP/1.0\r\n\r\n"
                % (byte, base64.b64encode(b"%cx:y" % byte), byte)
            )
            client.rest()
    server.stop()

    assert 256 <= len(server.stdout) <= 512
    for line in server.stdout:
        assert re.fullmatch(
            r'127\.0\.0\.1 "(-|GET /(\?[!-~]*)? HTTP/1\.[01])"'
            r' "([ !#-~]*)" [!-~]+ (200|400)',
            line,
        )
    assert sum(line.endswith("200") for line in server.stdout) > 300


@BOTH
def test_no_byte_of_a_client_s_breaks_json(serve, app):
    server = serve(app, "--lifespan", "off", "--access-log-format", "json")

    for byte in range(256):
        with raw.Client(server.address) as client:
            client.send(b"GET / HTTP/1.0\r\nUser-Agent: %cx\r\n\r\n" % byte)
            client.rest()
    server.stop()

    got = [json.loads(line) for line in server.stdout]
    assert len(got) == 256
    agents = {each["user_agent"] for each in got}
    assert {"~x", '"x', "\\x", "\ufffdx"} <= agents
