"""xsgi: a server for WSGI and ASGI applications.

    import xsgi

    xsgi.run("main:app", port=8080)         # until SIGINT or SIGTERM
    await xsgi.serve(app, port=8080)        # in a loop that runs already

Both take the options of ``xsgi.Config`` by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xsgi.config import Config as Config
    from xsgi.errors import AppError as AppError
    from xsgi.errors import BindError as BindError
    from xsgi.errors import ConfigError as ConfigError
    from xsgi.errors import Error as Error
    from xsgi.errors import ProcessError as ProcessError
    from xsgi.errors import StartupError as StartupError
    from xsgi.loop import Loop as Loop
    from xsgi.runner import run as run
    from xsgi.runner import serve as serve

__version__ = "0.1.0"

# Where each public name lives: imported when it is first used, so that
# `import xsgi` costs next to nothing.
_HOMES = {
    "AppError": "xsgi.errors",
    "BindError": "xsgi.errors",
    "Config": "xsgi.config",
    "ConfigError": "xsgi.errors",
    "Error": "xsgi.errors",
    "Loop": "xsgi.loop",
    "ProcessError": "xsgi.errors",
    "StartupError": "xsgi.errors",
    "run": "xsgi.runner",
    "serve": "xsgi.runner",
}

__all__ = [
    "AppError",
    "BindError",
    "Config",
    "ConfigError",
    "Error",
    "Loop",
    "ProcessError",
    "StartupError",
    "__version__",
    "run",
    "serve",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'xsgi' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
