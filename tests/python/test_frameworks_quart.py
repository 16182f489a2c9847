"""Quart applications, over real sockets."""

import pytest

from framework_contract import AsgiContract

pytest.importorskip("quart")


class TestQuart(AsgiContract):
    app = "quart_app:app"
