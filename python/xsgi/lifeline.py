"""What a process that reloads and the one that serves say to each other.

parent ─▶ child    one line: the orders, what to serve and how
                   the number of a signal: stop
                   the end: the parent is gone
child ─▶ parent    BROKEN: another try may mend it
"""

from __future__ import annotations

import json
import sys
from typing import Any, BinaryIO

from xsgi import config as options
from xsgi.config import Config
from xsgi.errors import ConfigError

BROKEN = b"broken\n"


def orders(config: Config) -> bytes:
    """The line that the child is told. Raises ConfigError."""
    values = {
        each.name: getattr(config, each.name) for each in options.options()
    }
    told = {"argv": sys.argv, "config": {"app": config.app, **values}}
    try:
        return json.dumps(told).encode() + b"\n"
    except (TypeError, ValueError) as error:
        reason = f"an option cannot be handed to another process: {error}."
        raise ConfigError(reason, "reload") from None


def ordered(stream: BinaryIO) -> tuple[list[str], dict[str, Any]]:
    """What it says: the arguments of the command, and Config's."""
    told = json.loads(stream.readline())
    return told["argv"], told["config"]
