"""Litestar applications, over real sockets."""

import pytest

from framework_contract import Contract

pytest.importorskip("litestar")


class TestLitestar(Contract):
    app = "litestar_app:app"
