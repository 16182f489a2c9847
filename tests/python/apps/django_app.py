"""Django, as WSGI (``wsgi``, ``validated``) and as ASGI (``asgi``)."""

import json
from wsgiref.validate import validator

import django
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse, StreamingHttpResponse
from django.urls import path

import common

settings.configure(
    SECRET_KEY="only for tests",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    INSTALLED_APPS=[],
    LOGGING_CONFIG=None,
)
django.setup()

is_asgi = False


def echo_json(request):
    if request.method == "POST":
        return JsonResponse(json.loads(request.body))
    return JsonResponse({"hello": "world", "q": request.GET.get("q")})


def form(request):
    data = request.POST
    return JsonResponse({"name": data["name"], "tags": data.getlist("tags")})


def upload(request):
    file = request.FILES["file"]
    note, name = request.POST["note"], file.name
    return JsonResponse(common.digest(file.chunks(), note=note, filename=name))


def digest(request):
    return JsonResponse(common.digest(common.read_all(request.read)))


def _stream(name, content_type="application/octet-stream"):
    """A view that streams what ``common`` has under that name."""

    def view(request):
        make = getattr(common, f"a{name}" if is_asgi else name)
        return StreamingHttpResponse(make(), content_type=content_type)

    return view


def cookies(request):
    response = JsonResponse(dict(request.COOKIES))
    response.set_cookie("a", "1", httponly=True)
    response.set_cookie("b", "2")
    return response


def error(request):
    raise common.BoomError


def left(request):
    return JsonResponse({"left": len(common.left)})


urlpatterns = [
    path("json", echo_json),
    path("form", form),
    path("upload", upload),
    path("digest", digest),
    path("download", _stream("pieces")),
    path("events", _stream("events", "text/event-stream")),
    path("cookies", cookies),
    path("error", error),
    path("error-later", _stream("error_later")),
    path("endless", _stream("endless")),
    path("left", left),
]

wsgi = get_wsgi_application()
validated = validator(wsgi)


def asgi():
    """A factory: views stream asynchronously from here on."""
    global is_asgi
    is_asgi = True
    return get_asgi_application()
