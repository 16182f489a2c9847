"""Falcon applications, over real sockets."""

import pytest

from framework_contract import Contract

pytest.importorskip("falcon")


class TestWsgi(Contract):
    app = "falcon_app:app"
    takes_chunked = False


class TestWsgiValidated(Contract):
    app = "falcon_app:validated"
    options = ("--interface", "wsgi")
    takes_chunked = False


class TestAsgi(Contract):
    app = "falcon_asgi_app:app"
