"""From "module:attribute" to an application that can be called.

Every way in which this fails has one line of its own; a failure inside the
user's code keeps the traceback of that code and only that.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import pkgutil
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from xsgi import interface, log
from xsgi.config import Config
from xsgi.errors import AppError

Application = Callable[..., Any]


@dataclass(frozen=True)
class Loaded:
    """An application and how to call it."""

    app: Application
    interface: str  # "asgi3" or "wsgi"
    name: str  # for people


def load(config: Config) -> Loaded:
    """Import, build and classify the application. Raises AppError."""
    if isinstance(config.app, str):
        name = f'"{config.app}"'
    else:
        name = getattr(config.app, "__name__", type(config.app).__name__)
    with _loading(name):
        app = _found(config, name)
    if config.interface != "auto":
        _doubt(app, config.interface, name)
        return Loaded(app, config.interface, name)
    try:
        return Loaded(app, interface.detect(app), name)
    except AppError as error:
        raise AppError(f"{name} {error}") from None


def refuse_nested(call: str) -> None:
    """Raise AppError if an application that is loaded on this thread is who
    calls ``call``: it would be served by its own loading, and again behind it.
    """
    name = getattr(_thread, "name", None)
    if name is not None:
        raise AppError(
            f"{name} calls {call} while it is loaded: put the call under"
            " 'if __name__ == \"__main__\":'."
        )


_thread = threading.local()


@contextmanager
def _loading(name: str) -> Iterator[None]:
    _thread.name = name
    try:
        yield
    finally:
        _thread.name = None


def user_traceback(error: BaseException) -> types.TracebackType | None:
    """The traceback of ``error`` without importlib's frames and ours."""
    trace = error.__traceback__
    while trace is not None:
        where = trace.tb_frame.f_code.co_filename
        if not where.startswith("<frozen importlib") and where not in _OURS:
            return trace
        trace = trace.tb_next
    return None


_OURS = (__file__, importlib.__file__)


def _found(config: Config, name: str) -> Application:
    app = config.app
    if isinstance(app, str):
        app = _import(app, config.app_dir)
    if not callable(app):
        raise AppError(
            f"{name} cannot be called: it is {_article(type(app).__name__)}."
        )
    return _build(app, name) if config.factory else app


def _doubt(app: Application, given: str, name: str) -> None:
    """Say so if ``app`` is not what it is said to be."""
    try:
        looks = interface.detect(app)
    except AppError:
        return  # that is what the option is for
    if looks != given:
        log.error.warning(
            "%s looks like %s, and is called as %s: the option interface is %s",
            name,
            interface.TITLES[looks],
            interface.TITLES[given],
            given,
        )


def _import(target: str, app_dir: str) -> Any:
    module_name, colon, path = target.partition(":")
    if not colon or not module_name or not path:
        raise AppError(
            f'"{target}" is not MODULE:ATTRIBUTE,'
            f' as in "{_example(module_name)}".'
        )
    if path.endswith("()"):
        path = path.removesuffix("()")
        raise AppError(f'"{target}": write "{module_name}:{path}" --factory.')
    if module_name.endswith(".py") or "/" in module_name:
        raise AppError(
            f'"{target}": a module is named, not a file,'
            f' as in "{_example(module_name)}".'
        )
    folder = os.path.abspath(app_dir)
    if not os.path.isdir(folder):
        raise AppError(f"the application's folder {folder} does not exist.")
    if sys.path[:1] != [folder]:
        sys.path.insert(0, folder)
    module = _import_module(module_name, folder)
    return _attribute(module, path, target)


def _example(module_name: str) -> str:
    """What to write for a module; of a file below here, its dotted name."""
    path = os.path.normpath(module_name.removesuffix(".py"))
    dotted = path.replace("/", ".")
    if not all(part.isidentifier() for part in dotted.split(".")):
        dotted = os.path.basename(path)
    return f"{dotted.strip('.') or 'main'}:app"


def _import_module(name: str, folder: str) -> types.ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _user_failed(f'importing "{name}"', error) from error
        raise AppError(_not_found(name, error, folder)) from None
    except AppError:
        raise  # refuse_nested
    except (Exception, SystemExit) as error:
        raise _user_failed(f'importing "{name}"', error) from error


def _not_found(name: str, error: ModuleNotFoundError, folder: str) -> str:
    text = f'module "{error.name}" was not found: looked in {folder}'
    text += " and on the Python path."
    if str(error).endswith("is not a package"):
        parent = name.rpartition(".")[0]
        text = f'module "{name}" was not found: {parent} is not a package.'
    elif error.name == name and "." not in name:
        text += _guess(name, (m.name for m in pkgutil.iter_modules([folder])))
    return text


def _attribute(module: types.ModuleType, path: str, target: str) -> Any:
    found: Any = module
    place = f'module "{module.__name__}"'
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise AppError(
                f'{place} has no attribute "{part}".'
                + _guess(part, _candidates(found))
            ) from None
        except Exception as error:
            raise _user_failed(f'looking up "{target}"', error) from error
        place = f'"{module.__name__}:{path}"'
    return found


def _candidates(owner: Any) -> list[str]:
    """Public names of ``owner`` that could be an application."""
    names = [name for name in dir(owner) if not name.startswith("_")]
    return [name for name in names if callable(getattr(owner, name, None))]


def _guess(wrong: str, known: Iterable[str]) -> str:
    known = list(known)
    close = difflib.get_close_matches(wrong, known, n=1)
    if not close:
        usual = ("app", "application")
        close = [name for name in known if name in usual][:1]
    return f' Did you mean "{close[0]}"?' if close else ""


def _build(factory: Application, name: str) -> Application:
    if inspect.iscoroutinefunction(factory):
        raise AppError(f"{name} is async: a factory must return at once.")
    try:
        app = factory()
    except AppError:
        raise  # refuse_nested
    except (Exception, SystemExit) as error:
        raise _user_failed(f"calling the factory {name}", error) from error
    if not callable(app):
        raise AppError(
            f"the factory {name} returned {_article(type(app).__name__)},"
            " which cannot be called."
        )
    result: Application = app
    return result


def _user_failed(doing: str, error: BaseException) -> AppError:
    """The application's own failure; the caller raises it from ``error``."""
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    return AppError(f"{doing} failed: {text}")


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"
