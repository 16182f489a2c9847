"""The smallest WSGI application: `xsgi serve examples.hello_wsgi:app`."""


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain; charset=utf-8")])
    return [b"Hello, world!\n"]
