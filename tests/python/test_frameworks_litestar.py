"""Litestar applications, over real sockets."""

import pytest

from framework_contract import AsgiContract

pytest.importorskip("litestar")


class TestLitestar(AsgiContract):
    app = "litestar_app:app"
