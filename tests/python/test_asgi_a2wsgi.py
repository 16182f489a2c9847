"""a2wsgi: a WSGI application on a thread of its own, whose sends come from
there by run_coroutine_threadsafe."""

import pytest

pytest.importorskip("a2wsgi")

from raw import Client

SOURCE = """
import a2wsgi

def wsgi(environ, start_response):
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("X-Length", str(len(body)))])
    yield b"got "
    yield body

app = a2wsgi.WSGIMiddleware(wsgi)
"""


@pytest.mark.parametrize("size", [0, 5, 300_000])
def test_wsgi_application_in_a_thread_is_answered(serve, tmp_path, size):
    (tmp_path / "wrapped.py").write_text(SOURCE)
    served = serve("wrapped:app", app_dir=tmp_path)
    body = b"x" * size

    with Client(served.address) as client:
        client.request("POST", "/", body=body)
        response = client.response()

    assert response.status == 200
    assert response.header("x-length") == str(size)
    assert response.body == b"got " + body
