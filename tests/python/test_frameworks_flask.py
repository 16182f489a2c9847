"""Flask applications, over real sockets."""

import pytest

from framework_contract import Contract

pytest.importorskip("flask")


class TestFlask(Contract):
    app = "flask_app:app"


class TestFlaskOnThreads(Contract):
    app = "flask_app:app"
    options = ("--threads", "4")


class TestFlaskValidated(Contract):
    app = "flask_app:validated"
    takes_chunked = False
