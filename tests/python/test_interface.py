"""Detection: what is called decides, for every shape an application has."""

import functools
import importlib

import pytest

from xsgi import interface
from xsgi.errors import AppError


async def asgi_function(scope, receive, send): ...


def asgi_plain_function(scope, receive, send):
    return asgi_function(scope, receive, send)


def wsgi_function(environ, start_response):
    return []


async def with_settings(settings, scope, receive, send): ...


def wsgi_with_settings(settings, environ, start_response):
    return []


def wsgi_with_option(environ, start_response, exc_info=None):
    return []


@functools.wraps(asgi_function)
def asgi_wrapped(*args, **kwargs):
    return asgi_function(*args, **kwargs)


@functools.wraps(wsgi_function)
def wsgi_wrapped(*args, **kwargs):
    return wsgi_function(*args, **kwargs)


def view(request):
    return b""


@functools.wraps(view)
def wsgi_around_a_view(*args):
    return []


@functools.wraps(view)
def wsgi_of_two_around_a_view(environ, start_response):
    return []


@functools.wraps(view)
async def asgi_around_a_view(*args): ...


@functools.wraps(view)
def asgi_of_three_around_a_view(scope, receive, send): ...


class AsgiObject:
    async def __call__(self, scope, receive, send): ...

    async def method(self, scope, receive, send): ...


class AsgiPlainObject:
    def __call__(self, scope, receive, send):
        return asgi_function(scope, receive, send)


class WsgiObject:
    def __call__(self, environ, start_response):
        return []

    def method(self, environ, start_response):
        return []

    @classmethod
    def class_method(cls, environ, start_response):
        return []


class WsgiClass:
    """PEP 3333's AppClass: an instance is a response."""

    def __init__(self, environ, start_response): ...

    def __iter__(self):
        return iter([b""])


class AsgiClass:
    """Starlette's HTTPEndpoint: an instance is awaited."""

    def __init__(self, scope, receive, send): ...

    def __await__(self):
        return iter(())


@pytest.mark.parametrize(
    "app",
    [
        asgi_function,
        asgi_plain_function,
        asgi_wrapped,
        asgi_around_a_view,
        asgi_of_three_around_a_view,
        functools.partial(with_settings, {}),
        functools.partial(functools.partial(with_settings, {})),
        AsgiObject(),
        AsgiObject().method,
        functools.partial(AsgiObject()),
        AsgiPlainObject(),
        AsgiClass,
        lambda scope, receive, send: None,
    ],
)
def test_asgi_application_is_recognised(app):
    assert interface.detect(app) == "asgi3"


@pytest.mark.parametrize(
    "app",
    [
        wsgi_function,
        wsgi_wrapped,
        wsgi_around_a_view,
        wsgi_of_two_around_a_view,
        wsgi_with_option,
        functools.partial(wsgi_with_settings, {}),
        WsgiObject(),
        WsgiObject().method,
        WsgiObject.class_method,
        WsgiClass,
        lambda environ, start_response: [],
        lambda environ=None, start_response=None: [],
    ],
)
def test_wsgi_application_is_recognised(app):
    assert interface.detect(app) == "wsgi"


def asgi2_function(scope):
    return None


class Asgi2Class:
    def __init__(self, scope): ...

    async def __call__(self, receive, send): ...


@functools.wraps(asgi2_function)
def asgi2_wrapped(*args):
    return asgi2_function(*args)


@pytest.mark.parametrize("app", [asgi2_function, asgi2_wrapped, Asgi2Class])
def test_asgi_2_is_refused_with_the_way_out(app):
    with pytest.raises(AppError, match="guarantee_single_callable"):
        interface.detect(app)


@pytest.mark.parametrize(
    "app",
    [lambda: None, lambda config=None: None, lambda a=1, b=2, c=3: None],
)
def test_factory_is_refused_with_the_way_out(app):
    with pytest.raises(AppError, match="--factory"):
        interface.detect(app)


@pytest.mark.parametrize("app", [lambda *args: None, print, max])
def test_application_that_could_be_both_asks_for_the_option(app):
    with pytest.raises(AppError, match="--interface asgi3"):
        interface.detect(app)


async def async_with_two(environ, start_response): ...


@pytest.mark.parametrize(
    ("app", "words"),
    [
        (async_with_two, "is async"),
        (lambda a, b, c, d: None, "neither"),
        (AsgiObject, "is a class"),
        (WsgiObject, "is a class"),
        (dict, "is a class|does not tell"),
    ],
)
def test_what_is_no_application_is_refused(app, words):
    with pytest.raises(AppError, match=words):
        interface.detect(app)


def _django(interface_name):
    settings = pytest.importorskip("django.conf").settings
    if not settings.configured:
        settings.configure(SECRET_KEY="x")
    module = importlib.import_module(f"django.core.{interface_name}")
    return getattr(module, f"get_{interface_name}_application")()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: _django("asgi"), "asgi3"),
        (lambda: _django("wsgi"), "wsgi"),
        ("flask:Flask('x')", "wsgi"),
        ("werkzeug:Request.application(lambda request: None)", "wsgi"),
        ("fastapi:FastAPI()", "asgi3"),
        ("starlette.applications:Starlette()", "asgi3"),
        ("quart:Quart('x')", "asgi3"),
        ("litestar:Litestar(logging_config=None)", "asgi3"),
        ("blacksheep:Application()", "asgi3"),
        ("falcon:App()", "wsgi"),
        ("falcon.asgi:App()", "asgi3"),
        ("asgiref.wsgi:WsgiToAsgi(None)", "asgi3"),
    ],
)
def test_framework_is_recognised(make, expected):
    if isinstance(make, str):
        module_name, _, expression = make.partition(":")
        module = pytest.importorskip(module_name)
        app = eval(f"module.{expression}", {"module": module})
    else:
        app = make()

    assert interface.detect(app) == expected
