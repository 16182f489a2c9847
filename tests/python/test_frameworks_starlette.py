"""Starlette applications, over real sockets."""

import sys
from importlib.util import find_spec

import pytest

from framework_contract import Contract

pytest.importorskip("starlette")


class TestStarlette(Contract):
    app = "starlette_app:app"


class TestStarletteOnAsyncio(Contract):
    app = "starlette_app:app"
    options = ("--loop", "asyncio")


@pytest.mark.skipif(find_spec("uvloop") is None, reason="needs uvloop")
class TestStarletteOnUvloop(Contract):
    app = "starlette_app:app"
    options = ("--loop", "uvloop")


class TestStarletteOnPlainTasks(Contract):
    app = "starlette_app:app"
    options = ("--task-mode", "task")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs Python 3.12")
class TestStarletteOnEagerTasks(Contract):
    app = "starlette_app:app"
    options = ("--task-mode", "eager")
