"""What holds behind any proxy, for every way to run an application.

test_proxy_nginx.py and test_proxy_haproxy.py inherit the tests from here.
"""

import json
import subprocess
import time

import pytest

import proxies
import smuggling
from apps.common import SMALL
from serving import PATIENCE
from traffic import KINDS, Crowd, sha256

EXCHANGES = 2000


def unexpected(lines):
    """Complaints, but for those about the page that is cut off."""
    return [line for line in lines if "/cut" not in line]


class Contract:
    """Subclasses set ``kind``, the proxy, and ``streaming``, the door where
    bodies pass through as they come."""

    kind: type
    streaming = "main"

    def test_mixed_exchanges_lose_nothing(self, site):
        crowd = Crowd(site.proxy.connect)

        crowd.visit(EXCHANGES)

        assert crowd.done == EXCHANGES
        assert 502 not in crowd.statuses
        assert unexpected(site.proxy.complaints()) == []

    def test_connections_to_the_application_are_kept(self, put_behind):
        site = put_behind(self.kind, "asgi", "--no-proxy-headers")
        with site.proxy.connect() as client:
            ports = {client.get("/hello").header("x-port") for _ in range(50)}

        assert ports.isdisjoint({"", "0"})
        assert len(ports) <= proxies.POOL

    def test_fields_about_the_client_arrive_and_are_believed(self, site):
        with site.proxy.connect(source="127.0.0.7") as client:
            answer = client.get("/fields")

        seen = json.loads(answer.body)
        fields = seen["fields"]
        assert fields["host"] == "test"
        assert fields["x-forwarded-for"] == "127.0.0.7"
        assert fields["x-forwarded-proto"] == "http"
        assert fields["x-forwarded-host"] == "test"
        assert (seen["client"], seen["scheme"]) == ("127.0.0.7", "http")

    def test_client_cannot_pretend_to_be_another(self, site):
        with site.proxy.connect(source="127.0.0.7") as client:
            answer = client.get(
                "/fields",
                "X-Forwarded-For: 203.0.113.9, 127.0.0.1",
                "X-Forwarded-Proto: https",
                "X-Forwarded_For: 203.0.113.9",
            )

        seen = json.loads(answer.body)
        assert (seen["client"], seen["scheme"]) == ("127.0.0.7", "http")

    def test_upload_passes_through_while_it_arrives(self, site):
        if site.way == "wsgi":
            pytest.skip("with one thread the body is there before the call")
        before = site.served.stdout.count("arrived 1")
        with site.proxy.connect(self.streaming) as client:
            fields = ("X-Number: up", "Content-Length: 3")
            client.request("POST", "/arriving", *fields)
            client.send(b"a")
            site.served.wait_for_line(
                "arrived 1", stream="stdout", count=before + 1
            )
            client.send(b"bc")

            assert client.response().body == b"3"

    def test_chunked_upload_passes_through_while_it_arrives(self, site):
        if site.way == "wsgi":
            pytest.skip("with one thread the body is there before the call")
        before = site.served.stdout.count("arrived 1")
        with site.proxy.connect(self.streaming) as client:
            client.request("POST", "/arriving", "Transfer-Encoding: chunked")
            client.send(b"1\r\na\r\n")
            site.served.wait_for_line(
                "arrived 1", stream="stdout", count=before + 1
            )
            client.send(b"2\r\nbc\r\n0\r\n\r\n")

            assert client.response().body == b"3"

    def test_answer_passes_through_while_it_is_made(self, site):
        site.release.unlink(missing_ok=True)
        with site.proxy.connect(self.streaming) as client:
            client.request("GET", "/held")
            assert client.head().status == 200
            chunks = client.chunks()

            assert next(chunks) == b"first"
            site.release.touch()
            assert list(chunks) == [b"second"]

    def test_http_2_in_front_is_served(self, site):
        def curl(*args, path, data=None):
            url = site.proxy.url("h2") + path
            command = ["curl", "-sS", "-q", "--noproxy", "*", *args]
            command += ["--http2-prior-knowledge", "-m", str(PATIENCE), url]
            done = subprocess.run(
                command, input=data, capture_output=True, env=proxies.PLAIN
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        cookies = ("-H", "Cookie: a=1", "-H", "Cookie: b=2")
        fields = json.loads(curl(*cookies, path="/fields"))["fields"]
        body = SMALL * 300
        upload = ("-T", "-")  # no length is said

        assert fields["cookie"] == "a=1; b=2"
        assert curl(*upload, path="/digest", data=body) == sha256(body)
        assert curl(path="/stream?n=300") == body
        assert curl("-w", "%{http_code}", path="/empty") == b"204"

    def test_early_refusal_of_an_upload_arrives(self, site):
        for _ in range(20):
            with site.proxy.connect(self.streaming) as client:
                client.request("POST", "/refuse", body=b"x" * 2_000_000)

                assert client.response().status == 413

        assert unexpected(site.proxy.complaints()) == []

    def test_large_upload_arrives(self, site):
        body = bytes(range(256)) * (32 << 12)
        with site.proxy.connect(self.streaming) as client:
            client.request("POST", "/digest", body=body)

            assert client.response().body == sha256(body)

    def test_reload_of_the_proxy_under_load_loses_nothing(self, site):
        # Each exchange has a connection of its own: on a kept one a request
        # may meet the old worker's close, and that is the client's to mend.
        with Crowd(site.proxy.connect, fresh=True, seed=100) as crowd:
            for _ in range(3):
                old = site.proxy.workers()
                wait_for_exchanges(crowd, 40)
                site.proxy.reload()
                site.proxy.wait_for(
                    lambda old=old: site.proxy.workers().isdisjoint(old),
                    "the old workers stay",
                )
                wait_for_exchanges(crowd, 40)

        assert 502 not in crowd.statuses
        assert unexpected(site.proxy.complaints()) == []

    @pytest.mark.parametrize("attack", smuggling.ATTACKS)
    def test_server_sees_the_requests_that_the_proxy_sees(
        self, attacked, attack
    ):
        site, name = attacked, attack.replace(" ", "-")
        with site.proxy.connect(self.streaming) as client:
            smuggling.send(client, attack)
        for mark in (f"{name}-1", f"{name}-2", f"{name}-3"):
            with site.proxy.connect(self.streaming) as client:
                answer = client.get(f"/{mark}", f"X-Number: {mark}")
            assert answer.header("x-number") == mark, answer

        site.served.wait_for_line(mark, stream="stdout")
        seen = sum("/hidden" in line for line in site.served.stdout)
        site.proxy.wait_for(
            lambda: seen <= "\n".join(site.proxy.answered()).count("/hidden"),
            "the proxy has sent no such request",
        )

    def test_server_is_replaced_under_load_without_a_loss(self, put_behind):
        # Both have the socket; the old one ends what it has begun with. Only
        # what a proxy may repeat is asked for: an idle connection is closed.
        # On a kept connection HAProxy leaves repeating to its client.
        safe = {"get", "head", "unchanged", "empty", "stream", "sized"}
        never = [kind for kind in KINDS if kind not in safe]
        site = put_behind(self.kind, "wsgi-threads", inherited=True)
        with Crowd(
            site.proxy.connect, never=never, seed=300, fresh=True
        ) as crowd:
            for _ in range(3):
                wait_for_exchanges(crowd, 40)
                assert site.replace_server() == 0
                wait_for_exchanges(crowd, 40)

        assert set(crowd.statuses) <= {200, 204, 304}


def wait_for_exchanges(crowd, count):
    """Until so many more have been made."""
    deadline = time.monotonic() + PATIENCE
    goal = crowd.done + count
    while crowd.done < goal:
        assert crowd.is_well(), "a visitor has failed"
        assert time.monotonic() < deadline, f"{crowd.done} of {goal}"
        time.sleep(0.01)
