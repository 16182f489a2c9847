"""Sites as developers see them: debug pages, static files, downloads."""

import pathlib
import re

import pytest

import framework_contract
from apps import common
from framework_contract import everywhere

pytest.importorskip("django")
pytest.importorskip("flask")

#: The debugger's console is for those who come by this name.
LOCAL = {"Host": "localhost"}


class DjangoSite:
    options: tuple[str, ...] = ()

    @everywhere
    def test_debug_page_shows_the_traceback(self, client):
        answer = client.get("/error", headers={"Accept": "text/html"})

        assert answer.status_code == 500
        assert answer.headers["content-type"].startswith("text/html")
        assert "<title>BoomError" in answer.text
        assert "secret_of_the_view" in answer.text
        assert "</html>" in answer.text

    def test_debug_page_lists_the_paths_that_there_are(self, client):
        answer = client.get("/nowhere")

        assert answer.status_code == 404
        assert "slash/" in answer.text

    @everywhere
    def test_static_file_is_served_and_then_not_modified(self, client):
        first = client.get("/static/site.css")
        since = {"If-Modified-Since": first.headers["last-modified"]}
        again = client.get("/static/site.css", headers=since)

        assert first.text == "body { color: #123456 }"
        assert first.headers["content-type"].startswith("text/css")
        assert (again.status_code, again.content) == (304, b"")

    @everywhere
    def test_large_static_file_arrives(self, client):
        answer = client.get("/static/big.bin")

        assert answer.content == common.PIECE * 4

    @everywhere
    def test_file_response_arrives_and_its_file_is_closed(self, client):
        plain = {"Accept-Encoding": "identity"}
        answer = client.get("/file", headers=plain)

        assert answer.content == common.PIECE * 4
        assert answer.headers["content-length"] == str(len(answer.content))
        assert "attachment" in answer.headers["content-disposition"]
        assert client.get("/closed").text == "True"

    def test_head_of_a_file_has_its_length_and_closes_it(self, client):
        answer = client.head("/file", headers={"Accept-Encoding": "identity"})

        assert answer.headers["content-length"] == str(4 * len(common.PIECE))
        assert answer.content == b""
        assert client.get("/closed").text == "True"

    def test_answer_is_compressed_if_the_middleware_does(self, client):
        answer = client.get("/large", headers={"Accept-Encoding": "gzip"})

        assert answer.headers["content-encoding"] == "gzip"
        assert int(answer.headers["content-length"]) < 1000
        assert answer.text == "x" * 100_000

    def test_conditional_get_is_not_modified(self, client):
        etag = client.get("/large").headers["etag"]
        answer = client.get("/large", headers={"If-None-Match": etag})

        assert (answer.status_code, answer.content) == (304, b"")

    def test_redirects_lead_to_the_page(self, client):
        assert client.get("/slash").headers["location"] == "/slash/"
        answer = client.get("/moved", follow_redirects=True)

        assert answer.text == "x" * 100_000


class TestDjangoWsgi(DjangoSite):
    app = "django_site:wsgi"
    ways = framework_contract.WSGI


class TestDjangoAsgi(DjangoSite):
    app = "django_site:asgi"
    options = ("--factory",)
    ways = framework_contract.ASGI


class TestFlask:
    app = "flask_site:app"
    options = ()
    ways = framework_contract.WSGI

    @everywhere
    def test_debugger_shows_the_traceback(self, client):
        answer = client.get("/error")

        assert answer.status_code == 500
        assert "BoomError: in a view" in answer.text
        assert "Werkzeug Debugger" in answer.text

    @pytest.mark.parametrize("name", ["style.css", "debugger.js", "less.png"])
    def test_debugger_s_resources_are_served(self, client, name):
        query = {"__debugger__": "yes", "cmd": "resource", "f": name}
        answer = client.get("/error", params=query)

        assert answer.status_code == 200
        assert answer.content

    @everywhere
    def test_debugger_s_console_evaluates_in_the_frame(self, client):
        page = client.get("/error", headers=LOCAL).text
        secret = re.search(r'SECRET = "(\w+)"', page)[1]
        frame = re.findall(r'id="frame-(\d+)"', page)[-1]
        query = {
            "__debugger__": "yes",
            "cmd": "secret_of_the_view",
            "frm": frame,
            "s": secret,
        }
        answer = client.get("/error", params=query, headers=LOCAL)

        assert "kept for the console" in answer.text

    @everywhere
    def test_stream_has_the_context_of_its_request(self, client):
        answer = client.get("/stream", params={"word": ["a", "bc", "d"]})

        assert answer.text == "a\nbc\nd\n"
        assert answer.headers["transfer-encoding"] == "chunked"

    def test_exception_in_the_stream_is_in_the_log(self, server, client):
        # The debugger tries to begin its page, and is told that it is late.
        answer = client.get("/stream-error", params={"word": "first"})

        assert answer.text == "first"
        server.wait_for_line("headers were already sent")
        server.wait_for_line("BoomError: in a stream")

    @everywhere
    def test_file_arrives_whole_in_part_and_not_at_all(self, client):
        whole = client.get("/file")
        part = client.get("/file", headers={"Range": "bytes=10-19"})
        after = client.get("/file", headers={"Range": "bytes=99999999-"})
        same = client.get("/file", headers={"If-None-Match": '"an-etag"'})

        assert whole.content == common.PIECE
        assert whole.headers["content-length"] == str(len(common.PIECE))
        assert (part.status_code, part.content) == (206, common.PIECE[10:20])
        assert after.status_code == 416
        assert (same.status_code, same.content) == (304, b"")

    def test_file_from_disk_arrives(self, client):
        path = pathlib.Path(__file__).parent / "apps" / "flask_site.py"

        assert client.get("/source").content == path.read_bytes()
