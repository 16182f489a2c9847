"""A plugin of pytest for Werkzeug's tests of its server: what we differ in."""

import os
import socket
import sys
import types

import pytest

import xsgi

os.environ["XSGI_PATH"] = os.path.dirname(os.path.dirname(xsgi.__file__))

#: Tests that are about something that xsgi does not have.
LEFT_OUT = {
    "test_server[https]": "TLS",
    "test_server[reloader]": "Werkzeug's own reloader",
    "test_ssl_dev_cert": "TLS",
    "test_ssl_object": "TLS",
    "test_reloader_sys_path[stat]": "Werkzeug's own reloader",
    "test_reloader_sys_path[watchdog]": "Werkzeug's own reloader",
    "test_host_with_ipv6_scope": "a patch of Werkzeug's own handler",
}

#: Tests that fail, and why they should.
EXPECTED = {
    "test_server[unix socket]": "Host is the path of the socket: no host",
    "test_untrusted_host": "a fragment in the target",
    "test_double_slash_path": "the path is as the client has sent it",
    "test_chunked_request[True]": "Transfer-Encoding beside Content-Length",
    "test_multiple_headers_concatenated": "white space around a value",
    "test_multiline_header_folding": "obs-fold (RFC 9112 5.2)",
    "test_streaming_close_response[]": "it is about an HTTP/1.0 server",
    "test_streaming_close_response[crash]": "it is about an HTTP/1.0 server",
}


def reserve(host="127.0.0.1"):
    with socket.socket() as sock:
        sock.bind((host, 0))
        return sock.getsockname()[1]


sys.modules["ephemeral_port_reserve"] = types.SimpleNamespace(reserve=reserve)


def pytest_collection_modifyitems(config, items):
    gone = [item for item in items if item.name in LEFT_OUT]
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if item.name not in LEFT_OUT]
    for item in items:
        if item.name in EXPECTED:
            reason = EXPECTED[item.name]
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
