"""Starlette applications, over real sockets."""

import sys

import pytest

from framework_contract import AS_IT_IS, AsgiContract

pytest.importorskip("starlette")


class TestStarlette(AsgiContract):
    app = "starlette_app:app"


class TestStarletteOnPlainTasks(AsgiContract):
    app = "starlette_app:app"
    options = ("--task-mode", "task")
    ways = AS_IT_IS


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs Python 3.12")
class TestStarletteOnEagerTasks(AsgiContract):
    app = "starlette_app:app"
    options = ("--task-mode", "eager")
    ways = AS_IT_IS
