"""Quart applications, over real sockets."""

import pytest

from framework_contract import Contract

pytest.importorskip("quart")


class TestQuart(Contract):
    app = "quart_app:app"
