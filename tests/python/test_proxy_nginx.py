"""nginx in front of the server."""

import dataclasses
import os
import pathlib
import signal

import pytest

import proxies
from proxy_contract import Contract, unexpected
from tcp_states import FIN_WAIT, OURS, PEERS, TIME_WAIT, has_state
from traffic import Crowd
from xsgi.config import Config

pytestmark = pytest.mark.skipif(
    proxies.find("nginx") is None, reason="needs nginx"
)


class TestNginx(Contract):
    kind = proxies.Nginx
    streaming = "streaming"

    @pytest.mark.parametrize("door", ["streaming", "plain"])
    def test_mixed_exchanges_lose_nothing_at_other_doors(self, site, door):
        # An answer over HTTP/1.0 may end where the connection does, and a
        # unix socket cannot be reset: nobody can tell that it was cut off.
        hidden = door == "plain" and site.is_unix
        never = ("cut",) if hidden else ()
        crowd = Crowd(lambda: site.proxy.connect(door), seed=200, never=never)

        crowd.visit(500)

        assert 502 not in crowd.statuses
        assert unexpected(site.proxy.complaints()) == []

    def test_answer_that_says_so_passes_through_while_it_is_made(self, site):
        site.release.unlink(missing_ok=True)
        with site.proxy.connect() as client:
            client.request("GET", "/held")
            assert client.head().status == 200
            chunks = client.chunks()

            assert next(chunks) == b"first"
            site.release.touch()
            assert list(chunks) == [b"second"]


class Stopped:
    """The only worker of nginx takes no notice of anything meanwhile."""

    def __init__(self, proxy):
        (self._pid,) = proxy.workers()
        self._wait_for = proxy.wait_for

    def _is(self, state):
        stat = pathlib.Path(f"/proc/{self._pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == state

    def __enter__(self):
        os.kill(self._pid, signal.SIGSTOP)
        self._wait_for(lambda: self._is("T"), "it goes on")

    def __exit__(self, *_):
        os.kill(self._pid, signal.SIGCONT)


@pytest.mark.parametrize(("method", "status"), [("GET", 200), ("POST", 502)])
def test_request_that_meets_our_close_is_repeated_or_lost(
    put_behind, method, status
):
    # Why it must be nginx that closes an idle connection: this POST is gone,
    # since nginx cannot know that it was not carried out.
    site = put_behind(
        proxies.Nginx, "asgi", "--timeout-keep-alive", "500ms", workers=1
    )
    with site.proxy.connect() as client:
        assert client.get("/hello").status == 200
        with Stopped(site.proxy):
            body = b"x" if method == "POST" else b""
            client.request(method, "/digest", body=body)
            site.proxy.wait_for(
                lambda: has_state(FIN_WAIT, OURS, site.served.port),
                "we do not close",
            )

        assert client.response().status == status


def test_nginx_closes_first_if_its_timeout_is_the_shorter(put_behind):
    site = put_behind(
        proxies.Nginx,
        "asgi",
        "--timeout-keep-alive",
        "20s",
        workers=1,
        keep_alive="500ms",
    )
    with site.proxy.connect() as client:
        assert client.get("/hello").status == 200
        site.proxy.wait_for(
            lambda: has_state(TIME_WAIT, PEERS, site.served.port),
            "nginx does not close",
        )
        assert not has_state(FIN_WAIT | TIME_WAIT, OURS, site.served.port)
        client.request("POST", "/digest", body=b"x")

        assert client.response().status == 200


def test_default_keep_alive_is_longer_than_that_of_nginx():
    (option,) = (
        each
        for each in dataclasses.fields(Config)
        if each.name == "timeout_keep_alive"
    )

    assert option.default > 60
