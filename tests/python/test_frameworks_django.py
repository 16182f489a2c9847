"""Django applications, over real sockets."""

import pytest

from framework_contract import Contract

pytest.importorskip("django")


class TestWsgi(Contract):
    app = "django_app:wsgi"
    takes_chunked = False


class TestWsgiValidated(Contract):
    app = "django_app:validated"
    options = ("--interface", "wsgi")
    takes_chunked = False


class TestAsgi(Contract):
    app = "django_app:asgi"
    options = ("--factory",)
