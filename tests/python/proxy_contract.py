"""What holds behind any proxy, for every way to run an application.

test_proxy_nginx.py and test_proxy_haproxy.py inherit the tests from here.
"""

import json
import time

import pytest

import proxies
from serving import PATIENCE
from traffic import Crowd, sha256

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

    def test_connections_to_the_application_are_kept(self, site):
        with site.proxy.connect() as client:
            ports = {client.get("/hello").header("x-port") for _ in range(50)}

        assert len(ports) <= proxies.POOL

    def test_fields_about_the_client_arrive(self, site):
        with site.proxy.connect() as client:
            host = client.sock.getsockname()[0]
            answer = client.get("/fields")

        fields = json.loads(answer.body)["fields"]
        assert fields["host"] == "test"
        assert fields["x-forwarded-for"] == host
        assert fields["x-forwarded-proto"] == "http"
        assert fields["x-forwarded-host"] == "test"

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


def wait_for_exchanges(crowd, count):
    """Until so many more have been made."""
    deadline = time.monotonic() + PATIENCE
    goal = crowd.done + count
    while crowd.done < goal:
        assert crowd.is_well(), "a visitor has failed"
        assert time.monotonic() < deadline, f"{crowd.done} of {goal}"
        time.sleep(0.01)
