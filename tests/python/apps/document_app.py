"""The pages of the documents in tests/http, as tests/sim/http_app.c has them.

Any other path is answered with method, target and body of the request.
"""

from dataclasses import dataclass

TYPE = ("content-type", "text/plain")


@dataclass(frozen=True)
class Page:
    status: int = 200
    headers: tuple = (TYPE,)
    pieces: tuple = ()
    reads: bool = False  # the request body, first
    whole: bool = False  # the last piece is the end
    fails: bool = False  # behind the last piece


def sized(length, *pieces, headers=(), **rest):
    headers = (TYPE, *headers, ("content-length", str(length)))
    return Page(headers=headers, pieces=pieces, **rest)


ETAG = ("etag", '"x"')

PAGES = {
    "/unread": sized(6, b"unread", whole=True),
    "/unread-pieces": Page(pieces=(b"un", b"read")),
    "/pieces": Page(pieces=(b"one", b"two", b"three"), reads=True),
    "/empty-pieces": Page(pieces=(b"", b"a", b"", b"", b"b", b"")),
    "/no-content": Page(204, (), (b"",), whole=True),
    "/no-content-with-body": sized(5, b"hello", status=204),
    "/reset-content-with-body": sized(5, b"hello", status=205),
    "/not-modified": Page(304, (ETAG,), (b"",), whole=True),
    "/not-modified-with-body": Page(304, (ETAG,), (b"hello",)),
    "/not-modified-with-length": Page(
        304, (ETAG, ("content-length", "5")), (b"",), whole=True
    ),
    "/too-short": sized(10, b"hello"),
    "/too-long": sized(5, b"hello", b"world"),
    "/fails": Page(fails=True),
    "/fails-late": Page(pieces=(b"one", b"two"), fails=True),
    "/line-break": Page(headers=(TYPE, ("x-a", "v\r\nx-injected: 1"))),
    "/latin-1": sized(1, b"x", headers=[("x-a", "f\xf6o")], whole=True),
    "/own-date": sized(
        1,
        b"x",
        headers=[
            ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("server", "mine"),
        ],
        whole=True,
    ),
    "/two-dates": Page(
        headers=(
            ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("date", "Mon, 07 Nov 1994 08:49:37 GMT"),
            ("server", "mine"),
            ("server", "yours"),
        ),
        pieces=(b"x",),
        whole=True,
    ),
    "/own-coding": Page(
        headers=(TYPE, ("transfer-encoding", "chunked")),
        pieces=(b"one", b"two"),
    ),
    "/other-coding": Page(
        headers=(TYPE, ("transfer-encoding", "gzip, chunked")),
        pieces=(b"one", b"two"),
    ),
    "/two-lengths": sized(1, b"x", headers=[("content-length", "1")]),
    "/own-close": sized(1, b"x", headers=[("connection", "close")], whole=True),
    "/two-cookies": sized(
        1,
        b"x",
        headers=[("set-cookie", "a=1"), ("set-cookie", "b=2")],
        whole=True,
    ),
    "/big": sized(200_000, b"z" * 200_000, whole=True),
}


class PageError(Exception):
    """What the pages that fail raise."""


def echo(method, path, query, body):
    target = path + (b"?" + query if query else b"")
    return method.encode("latin-1") + b" " + target + b"\n" + body


async def body_of(receive):
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise PageError
        body += message["body"]
        if not message["more_body"]:
            return body


async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        raise NotImplementedError
    page = PAGES.get(scope["path"])
    if page is None:
        body = await body_of(receive)
        answer = echo(
            scope["method"], scope["raw_path"], scope["query_string"], body
        )
        page = Page(pieces=(answer,), whole=True)
    elif page.reads:
        await body_of(receive)
    headers = [
        (name.encode(), value.encode("latin-1")) for name, value in page.headers
    ]
    await send(
        {
            "type": "http.response.start",
            "status": page.status,
            "headers": headers,
        }
    )
    last = len(page.pieces) if page.whole else -1
    for number, piece in enumerate(page.pieces, 1):
        await send(
            {
                "type": "http.response.body",
                "body": piece,
                "more_body": number != last,
            }
        )
    if page.fails:
        raise PageError
    if not page.whole:
        await send({"type": "http.response.body"})


def pieces_of(page):
    yield from page.pieces
    if page.fails:
        raise PageError


def wsgi(environ, start_response):
    path = environ["PATH_INFO"] or "*"
    page = PAGES.get(path)
    if page is None:
        answer = echo(
            environ["REQUEST_METHOD"],
            path.encode("latin-1"),
            environ["QUERY_STRING"].encode("latin-1"),
            environ["wsgi.input"].read(),
        )
        page = Page(pieces=(answer,), whole=True)
    elif page.reads:
        environ["wsgi.input"].read()
    start_response(f"{page.status} Fine", list(page.headers))
    return list(page.pieces) if page.whole else pieces_of(page)
