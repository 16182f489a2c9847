"""Early hints (103, RFC 8297): before the response, and at once."""

import sys
import threading

import pytest

import wsgi_probe
from asgi_probe import Probe
from serving import PATIENCE

LINK = "</a.css>; rel=preload"
HINT = f"HTTP/1.1 103 Early Hints\r\nlink: {LINK}\r\n\r\n".encode()
POST = b"POST %s HTTP/1.%d\r\nHost: t\r\nContent-Length: 1\r\n\r\n"


@pytest.fixture(scope="module")
def probe():
    with Probe("--early-hints") as served:
        yield served


def hint_of(client):
    """The fields of the next response, which is a hint."""
    hint = client.head()
    assert hint.status == 103
    return hint.headers


# ASGI


def test_asgi_hints_arrive_before_the_response_is_begun(probe):
    with probe.connect() as client:
        client.send(POST % (b"/hints", 1))
        assert client.exactly(len(HINT)) == HINT

        client.send(b"x")
        assert hint_of(client) == [("link", "</b.js>")]
        assert hint_of(client) == [("link", "</c>")]
        assert client.response().body == b"late"


def test_asgi_hint_is_not_for_http_1_0(probe):
    with probe.connect() as client:
        client.send(POST % (b"/hints", 0) + b"x")

        assert client.response().body == b"late"


def test_asgi_hints_wait_for_a_client_that_does_not_read(probe):
    with probe.connect() as client:
        client.send(POST % (b"/hints_for_nobody", 1))
        count = probe.seen("hints_for_nobody")

        client.send(b"x")
        for _ in range(count):
            assert hint_of(client) == [("link", "x" * 8000)]
        response = client.response()
        while response.status == 103:  # one may have waited
            response = client.response()
    assert response.body == b"at last"


HINTS = "dict(type='http.response.early_hint', links={})"


@pytest.mark.parametrize(
    ("links", "kind", "words"),
    [
        ("None", "TypeError", "'links' must be an iterable of bytes"),
        ("b'</a>'", "TypeError", "a link must be bytes, not int"),
        ("['</a>']", "TypeError", "a link must be bytes, not str"),
        ("[b'a', b'b\\r\\nc: d']", "ValueError", "b'b\\r\\nc: d' is not valid"),
        ("[b'a'] * 65", "ValueError", "more than 64 fields"),
        ("[b'a' * 9000] * 2", "ValueError", "more than 16384 bytes"),
    ],
)
def test_asgi_wrong_hint_is_refused_and_says_nothing(probe, links, kind, words):
    source = f"[{HINTS.format(links)}]".encode()
    response = probe.post("/messages", source)

    assert response.status == 500
    assert probe.seen("messages")[0] == kind
    assert words.replace("\\\\", "\\") in response.body.decode().replace(
        "\\\\", "\\"
    )


def test_asgi_hint_without_links_is_refused(probe):
    response = probe.post("/messages", b"[dict(type=hint()['type'])]")

    assert probe.seen("messages")[0] == "ValueError"
    assert b"'links' is missing" in response.body


def test_asgi_hint_of_no_links_says_nothing(probe):
    source = f"[{HINTS.format('[]')}, start(), body(b'x')]".encode()

    assert probe.post("/messages", source).status == 200
    assert probe.seen("messages") is None


def test_asgi_hint_behind_the_start_is_refused(probe):
    source = f"[start(), {HINTS.format('[]')}, body(b'x')]".encode()
    with probe.connect() as client:
        client.request("POST", "/messages", body=source)
        kind, text = probe.seen("messages")

    assert kind == "RuntimeError"
    assert text.startswith("ASGI: expected http.response.body, but")


def test_asgi_hints_are_an_extension_only_with_the_option(probe):
    source = f"[{HINTS.format('[]')}]".encode()

    assert "http.response.early_hint" in probe.get_json("/scope")["extensions"]
    with Probe() as without:
        extensions = without.get_json("/scope")["extensions"]
        assert "http.response.early_hint" not in extensions
        assert without.post("/messages", source).status == 500
        assert without.seen("messages")[0] == "RuntimeError"


def test_asgi_extensions_that_a_request_has_spoilt_are_not_in_the_next(probe):
    with probe.connect() as client:
        for path in ("/scope", "/spoil_scope", "/spoil_scope", "/scope") * 2:
            answer = client.get(path)
            assert b"spoilt" not in answer.body
            if path == "/spoil_scope":
                assert answer.body == b"True"


# WSGI


def serving(app, threads):
    return wsgi_probe.Probe(app, threads, early_hints=True)


def hinting(*links, then=None):
    """An application that gives these hints, and waits."""

    def app(environ, start_response):
        for link in links:
            environ["wsgi.early_hints"]([("link", link)])
        if then is not None:
            assert then.wait(PATIENCE)
        start_response("200 OK", wsgi_probe.PLAIN)
        return [b"late"]

    return app


@pytest.mark.parametrize("threads", wsgi_probe.THREADS)
def test_wsgi_hint_arrives_while_the_application_thinks(threads):
    """On the loop's own thread, too, no turn of which passes meanwhile."""
    arrived = threading.Event()
    app = hinting(LINK, then=arrived)
    with serving(app, threads) as probe, probe.connect() as client:
        client.request("GET", "/")
        assert client.exactly(len(HINT)) == HINT

        arrived.set()
        assert client.response().body == b"late"


@pytest.mark.parametrize("threads", wsgi_probe.THREADS)
def test_wsgi_hints_go_before_the_response_in_their_order(threads):
    app = hinting("<1>", "<2>", "<3>")
    with serving(app, threads) as probe, probe.connect() as client:
        for _ in range(50):
            client.request("GET", "/")
            for number in "123":
                assert hint_of(client) == [("link", f"<{number}>")]
            assert client.response().body == b"late"


@pytest.mark.parametrize("threads", wsgi_probe.THREADS)
def test_wsgi_hint_is_not_for_http_1_0(threads):
    with (
        serving(hinting(LINK), threads) as probe,
        probe.connect() as client,
    ):
        client.send(b"GET / HTTP/1.0\r\n\r\n")

        assert client.response().body == b"late"


@pytest.mark.parametrize("threads", wsgi_probe.THREADS)
def test_wsgi_hint_may_come_inside_the_iterable_before_the_head(threads):
    def app(environ, start_response):
        for _ in range(20):  # more than one turn of the loop
            yield b""
        environ["wsgi.early_hints"]([("Link", LINK), ("X-More", "1")])
        start_response("200 OK", [])
        yield b"late"

    with serving(app, threads) as probe, probe.connect() as client:
        client.request("GET", "/")
        assert hint_of(client) == [("link", LINK), ("x-more", "1")]
        assert client.response().body == b"late"


def raised(threads, call, *fields):
    """What `call` of the environ raises, as text."""
    errors = []

    def app(environ, start_response):
        try:
            call(environ, start_response)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")
        if "started" not in environ:
            start_response("200 OK", [])
        return [b"x"]

    with serving(app, threads) as probe, probe.connect() as client:
        assert client.get("/").body == b"x"
    return errors[0] if errors else None


@pytest.mark.parametrize("threads", wsgi_probe.THREADS)
@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        (None, "TypeError: 'NoneType' object is not iterable"),
        ([b"Link"], "TypeError: wsgi.early_hints: a header must be a tuple"),
        ([("Link", b"x")], "TypeError: the value of a header must be a str"),
        ([("a b", "x")], "ValueError: wsgi.early_hints: header ('a b', 'x')"),
        ([("a", "b\nc")], "ValueError: wsgi.early_hints: header"),
        (
            [("Link", "x"), ("Content-Length", "1")],
            "ValueError: wsgi.early_hints: header ('Content-Length', '1') "
            "may not be in a 1xx response",
        ),
        ([("a", "b")] * 65, "ValueError: wsgi.early_hints: more than 64"),
        ([("a", "b" * 17000)], "ValueError: wsgi.early_hints: more than 16384"),
    ],
)
def test_wsgi_wrong_hint_is_refused_and_says_nothing(threads, headers, wanted):
    def call(environ, start_response):
        environ["wsgi.early_hints"](headers)

    assert raised(threads, call).startswith(wanted)


@pytest.mark.parametrize("threads", wsgi_probe.THREADS)
def test_wsgi_hint_behind_start_response_is_refused(threads):
    def call(environ, start_response):
        start_response("200 OK", [])
        environ["started"] = True
        environ["wsgi.early_hints"]([("Link", LINK)])

    assert raised(threads, call) == (
        "RuntimeError: wsgi.early_hints must be called before start_response"
    )


@pytest.mark.parametrize("threads", wsgi_probe.THREADS)
def test_wsgi_hint_without_fields_says_nothing(threads):
    def call(environ, start_response):
        environ["wsgi.early_hints"]([])

    assert raised(threads, call) is None


def test_wsgi_hints_of_the_loops_thread_are_not_for_others():
    failed = []

    def call(environ, start_response):
        def other():
            try:
                environ["wsgi.early_hints"]([("Link", LINK)])
            except RuntimeError as error:
                failed.append(str(error))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    assert raised(1, call) is None
    assert "only be called in the thread" in failed[0]


@pytest.mark.parametrize("threads", wsgi_probe.THREADS)
def test_wsgi_hints_that_were_kept_say_nothing_later(threads):
    kept = []

    def app(environ, start_response):
        hints = environ["wsgi.early_hints"]
        if not kept:
            kept.append(hints)
            raise ZeroDivisionError
        kept[0]([("Link", "<old>")])
        hints([("Link", LINK)])
        start_response("200 OK", [])
        return [b"x"]

    with serving(app, threads) as probe, probe.connect() as client:
        assert client.get("/").status == 500
        client.request("GET", "/")
        assert hint_of(client) == [("link", LINK)]
        assert client.response().body == b"x"


@pytest.mark.parametrize("threads", wsgi_probe.THREADS)
def test_wsgi_hints_are_there_only_with_the_option(threads):
    environ = wsgi_probe.seen_environ("Host: t", threads=threads)
    assert "wsgi.early_hints" not in environ
    environ = wsgi_probe.seen_environ(
        "Host: t", threads=threads, early_hints=True
    )
    assert callable(environ["wsgi.early_hints"])


def test_wsgi_hints_of_a_worker_say_nothing_once_the_client_has_gone():
    came, go_on, done = (threading.Event() for _ in range(3))

    def app(environ, start_response):
        came.set()
        assert go_on.wait(PATIENCE)
        while not environ["xsgi.client_disconnected"]():
            environ["wsgi.early_hints"]([("Link", LINK)])
        for _ in range(100):
            environ["wsgi.early_hints"]([("Link", LINK)])
        done.set()
        start_response("200 OK", [])
        return [b"for nobody"]

    with serving(app, 4) as probe:
        with probe.connect() as client:
            client.request("GET", "/")
            assert came.wait(PATIENCE)
            client.reset()
        go_on.set()
        assert done.wait(PATIENCE)


def test_wsgi_hints_of_a_worker_do_not_pile_up():
    """While the loop's thread does not come to it a few of them wait."""

    def app(environ, start_response):
        interval = sys.getswitchinterval()
        sys.setswitchinterval(PATIENCE)  # it does not come to it
        try:
            for _ in range(1000):
                environ["wsgi.early_hints"]([("Link", LINK)])
        finally:
            sys.setswitchinterval(interval)
        start_response("200 OK", [])
        return [b"x"]

    count = 0
    with serving(app, 4) as probe, probe.connect() as client:
        client.request("GET", "/")
        while (response := client.head()).status == 103:
            count += 1

    assert response.status == 200
    assert 1 <= count <= 100
