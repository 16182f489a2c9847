"""Django applications, over real sockets."""

import pytest

from framework_contract import AS_IT_IS, AsgiContract, WsgiContract

pytest.importorskip("django")


class TestWsgi(WsgiContract):
    app = "django_app:wsgi"
    takes_chunked = False


class TestWsgiValidated(WsgiContract):
    app = "django_app:validated"
    options = ("--interface", "wsgi")
    ways = AS_IT_IS
    takes_chunked = False


class TestAsgi(AsgiContract):
    app = "django_app:asgi"
    options = ("--factory",)
