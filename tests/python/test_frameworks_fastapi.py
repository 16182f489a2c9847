"""FastAPI applications, over real sockets."""

import pytest

from framework_contract import AsgiContract

pytest.importorskip("fastapi")


class TestFastapi(AsgiContract):
    app = "fastapi_app:app"
