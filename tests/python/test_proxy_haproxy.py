"""HAProxy in front of the server."""

import pytest

import proxies
from proxy_contract import Contract

pytestmark = pytest.mark.skipif(
    proxies.find("haproxy") is None, reason="needs haproxy"
)


class TestHaproxy(Contract):
    kind = proxies.Haproxy
