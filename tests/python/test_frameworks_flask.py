"""Flask applications, over real sockets."""

import pytest

from framework_contract import AS_IT_IS, WsgiContract

pytest.importorskip("flask")


class TestFlask(WsgiContract):
    app = "flask_app:app"


class TestFlaskOnThreads(WsgiContract):
    app = "flask_app:app"
    options = ("--threads", "8")
    ways = AS_IT_IS


class TestFlaskValidated(WsgiContract):
    app = "flask_app:validated"
    ways = AS_IT_IS
    takes_chunked = False
