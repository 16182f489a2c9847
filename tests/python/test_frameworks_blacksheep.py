"""BlackSheep applications, over real sockets."""

import pytest

from framework_contract import AsgiContract

pytest.importorskip("blacksheep")


class TestBlacksheep(AsgiContract):
    app = "blacksheep_app:app"
