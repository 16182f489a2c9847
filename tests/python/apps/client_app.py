"""Says who the client is, as the server has told it: "host port scheme"."""


async def asgi(scope, receive, send):
    client = scope["client"] or ("", "")
    text = f"{client[0]} {client[1]} {scope['scheme']}"
    await send({"type": "http.response.start", "status": 200})
    await send({"type": "http.response.body", "body": text.encode()})


def wsgi(environ, start_response):
    port = environ.get("REMOTE_PORT", "0" if environ["REMOTE_ADDR"] else "")
    assert environ.get("REMOTE_PORT") != "0"  # it is missing, then
    scheme = environ["wsgi.url_scheme"]
    assert (environ.get("HTTPS") == "on") == (scheme == "https")
    start_response("200 OK", [])
    return [f"{environ['REMOTE_ADDR']} {port} {scheme}".encode()]
