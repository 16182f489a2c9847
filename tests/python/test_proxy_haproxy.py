"""HAProxy in front of the server."""

import pytest

import proxies
from proxy_contract import Contract
from traffic import Crowd

pytestmark = pytest.mark.skipif(
    proxies.find("haproxy") is None, reason="needs haproxy"
)


class TestHaproxy(Contract):
    kind = proxies.Haproxy

    def test_refused_upload_is_not_sent_if_it_waits_for_100(self, site):
        if site.way == "wsgi":
            pytest.skip("with one thread the body is there before the call")
        fields = ("Expect: 100-continue", "Content-Length: 4")
        with site.proxy.connect() as client:
            client.request("POST", "/refuse", *fields)

            assert client.head().status == 413


@pytest.mark.parametrize("way", proxies.WAYS)
def test_early_hint_is_passed_on(put_behind, way):
    site = put_behind(proxies.Haproxy, way, "--early-hints")
    with site.proxy.connect() as client:
        for _ in range(3):
            client.request("GET", "/hinted")
            hint = client.head()
            assert hint.status == 103
            assert hint.header("link").startswith("</a.css>")
            assert client.response().body == b"hello"

    assert site.proxy.complaints() == []


@pytest.mark.parametrize("way", proxies.WAYS)
@pytest.mark.parametrize(
    ("backend", "health"), [("", "L4OK"), ("option httpchk", "L7OK")]
)
def test_health_checks_find_the_server_well_and_say_nothing(
    put_behind, way, backend, health
):
    site = put_behind(
        proxies.Haproxy,
        way,
        options="check inter 20ms fall 1000",
        backend=backend,
    )
    troubles = ("error", "cut", "abort_stream", "abort_upload", "abort_answer")
    Crowd(site.proxy.connect, never=troubles, seed=400).visit(300)

    site.proxy.wait_for(
        lambda: site.proxy.health() == health, "it is not found well"
    )
    assert site.proxy.complaints() == []
    assert [line for line in site.served.stderr if "INFO:" not in line] == []
    assert [line for line in site.served.stdout if '" 4' in line] == [
        line for line in site.served.stdout if "/refuse" in line
    ]
