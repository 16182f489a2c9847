"""Falcon applications, over real sockets."""

import pytest

from framework_contract import AS_IT_IS, AsgiContract, WsgiContract

pytest.importorskip("falcon")


class TestWsgi(WsgiContract):
    app = "falcon_app:app"
    takes_chunked = False


class TestWsgiValidated(WsgiContract):
    app = "falcon_app:validated"
    options = ("--interface", "wsgi")
    ways = AS_IT_IS
    takes_chunked = False


class TestAsgi(AsgiContract):
    app = "falcon_asgi_app:app"
