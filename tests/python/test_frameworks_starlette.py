"""Starlette applications, over real sockets."""

import pytest

from framework_contract import Contract

pytest.importorskip("starlette")


class TestStarlette(Contract):
    app = "starlette_app:app"
