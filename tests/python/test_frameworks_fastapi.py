"""FastAPI applications, over real sockets."""

import pytest

from framework_contract import Contract

pytest.importorskip("fastapi")


class TestFastapi(Contract):
    app = "fastapi_app:app"
