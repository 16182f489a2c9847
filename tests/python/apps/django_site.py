"""A Django site as it is while somebody works on it: DEBUG, static files."""

import pathlib
import tempfile

import django
from django.conf import settings
from django.contrib.staticfiles.handlers import (
    ASGIStaticFilesHandler,
    StaticFilesHandler,
)
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import FileResponse, HttpResponse
from django.shortcuts import redirect
from django.urls import path

import common

STATIC = pathlib.Path(tempfile.mkdtemp())
(STATIC / "big.bin").write_bytes(common.PIECE * 4)
(STATIC / "site.css").write_text("body { color: #123456 }")

settings.configure(
    SECRET_KEY="only for tests",
    DEBUG=True,
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.middleware.gzip.GZipMiddleware",
        "django.middleware.http.ConditionalGetMiddleware",
        "django.middleware.common.CommonMiddleware",
    ],
    INSTALLED_APPS=["django.contrib.staticfiles"],
    STATIC_URL="/static/",
    STATICFILES_DIRS=[STATIC],
    LOGGING_CONFIG=None,
)
django.setup()

opened = []


def error(request):
    secret_of_the_view = "seen in the page"  # noqa: F841
    raise common.BoomError("in a view")


def file(request):
    found = open(STATIC / "big.bin", "rb")  # noqa: SIM115 - Django closes it
    opened.append(found)
    return FileResponse(found, as_attachment=True, filename="ä b.bin")


def closed(request):
    return HttpResponse(str(all(each.closed for each in opened)))


def large(request):
    return HttpResponse("x" * 100_000, content_type="text/plain")


urlpatterns = [
    path("error", error),
    path("file", file),
    path("closed", closed),
    path("large", large),
    path("slash/", large),
    path("moved", lambda request: redirect("/large")),
]

wsgi = StaticFilesHandler(get_wsgi_application())


def asgi():
    return ASGIStaticFilesHandler(get_asgi_application())
