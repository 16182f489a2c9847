"""BlackSheep applications, over real sockets."""

import pytest

from framework_contract import Contract

pytest.importorskip("blacksheep")


class TestBlacksheep(Contract):
    app = "blacksheep_app:app"
