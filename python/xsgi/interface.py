"""Tell a WSGI application from an ASGI one without calling it.

What is called decides, not what it is called:

    async, takes (scope, receive, send)        asgi3
    takes three arguments                      asgi3
    takes (environ, start_response)            wsgi
    takes (scope), or a class that does        ASGI 2: refused

A decorator's own parameters count, unless it takes any: then those of what it
is around do. Around a view of one request it makes a WSGI application, as
Werkzeug's ``Request.application`` does: ASGI's would be async.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from xsgi.errors import AppError

#: What people call them.
TITLES = {"asgi3": "ASGI", "wsgi": "WSGI"}

_ASGI2 = (
    "is an ASGI 2 application (a double callable): wrap it with"
    " asgiref.compatibility.guarantee_single_callable."
)
_ENVIRON = ("environ", "env", "wsgi_environ")


def detect(app: Callable[..., Any]) -> str:
    """ "asgi3" or "wsgi". Raises AppError, whose text continues a sentence
    that begins with the application's name."""
    if inspect.isclass(app):
        return _detect_class(app)
    signature = own = _signature(app, follow_wrapped=False)
    if _takes_any(own):
        signature = _signature(app)
    three = _takes(signature, 3)
    two = _takes(signature, 2)
    if _is_async(app):
        if three or _takes(own, 3):
            return "asgi3"
        raise AppError(
            "is async, so an ASGI application, but cannot be called with"
            " (scope, receive, send)."
        )
    if _takes(signature, 0) or (three and two):
        return _by_name(signature)
    if three:
        return "asgi3"
    if two:
        return "wsgi"
    if _takes(signature, 1):
        if _takes_any(own) and _first(signature) != "scope":
            return "wsgi"
        raise AppError(_ASGI2)
    raise AppError(
        "can be called neither with (scope, receive, send) nor with"
        " (environ, start_response)."
    )


def _detect_class(app: type) -> str:
    """A class that is itself the application: its instances are responses."""
    signature = _signature(app)
    if hasattr(app, "__await__") and _takes(signature, 3):
        return "asgi3"
    if hasattr(app, "__iter__") and _takes(signature, 2):
        return "wsgi"
    if _takes(signature, 1) and inspect.iscoroutinefunction(app.__call__):
        raise AppError(_ASGI2)
    raise AppError(
        "is a class, not an application: name an instance of it, or say"
        " --factory."
    )


def _is_async(app: Callable[..., Any]) -> bool:
    """Whether calling ``app`` gives a coroutine."""
    if inspect.iscoroutinefunction(app):
        return True
    return inspect.iscoroutinefunction(type(app).__call__)


def _signature(
    app: Callable[..., Any], follow_wrapped: bool = True
) -> inspect.Signature:
    try:
        return inspect.signature(app, follow_wrapped=follow_wrapped)
    except (TypeError, ValueError):
        raise AppError(
            "does not tell how it is called: say --interface asgi3 or"
            " --interface wsgi."
        ) from None


def _takes(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def _by_name(signature: inspect.Signature) -> str:
    """Several counts are possible: the first parameter's name decides."""
    first = _first(signature)
    if first == "scope":
        return "asgi3"
    if first in _ENVIRON:
        return "wsgi"
    if _takes(signature, 0) and not _takes_any(signature):
        raise AppError(
            "needs no argument: if it returns the application, say --factory."
        )
    raise AppError(
        "could be WSGI or ASGI: say --interface asgi3 or --interface wsgi."
    )


def _first(signature: inspect.Signature) -> str:
    """The name of the first parameter."""
    return next(iter(signature.parameters), "")


def _takes_any(signature: inspect.Signature) -> bool:
    kinds = [each.kind for each in signature.parameters.values()]
    return inspect.Parameter.VAR_POSITIONAL in kinds
