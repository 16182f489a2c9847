"""Header fields that were seen before come again as they are.

Both gateways keep objects of fields seen lately: nobody may see the field of
another request, however names are spelled and however many there are.
"""

import contextlib
import random
import types

import pytest

import raw
from xsgi import _xsgi
from xsgi.loop import Loop

#: More names than are kept, alike in what a table may look at.
NAMES = [f"x-{a}{b}-field" for a in "abcdefghijklmnopqrst" for b in range(20)]
NAMES += ["host", "accept", "cookie", "user-agent", "x" * 38, "x" * 39]
NAMES += ["x^y", "x~y", "x|y", "x!y", "a"]

#: Alike, too; and as long as is kept, and one byte more.
VALUES = ["", "0", "ab", "ba", "aXb", "aYb", "v" * 160, "w" * 160, "v" * 161]


class Site(contextlib.ExitStack):
    """A server on this thread whose application keeps what it sees."""

    def __init__(self, interface):
        super().__init__()
        self.seen = []
        self.interface = interface
        loop = Loop() if interface == "asgi3" else None
        self.loop = loop
        if loop is None:
            self.backend = _xsgi.Backend()
            self.callback(self.backend.close)
        else:
            self.callback(loop.close)
            self.backend = loop.backend
        app = self.wsgi if loop is None else self.asgi
        config = types.SimpleNamespace(limit_request_fields=250)
        server = _xsgi.Server(self.backend, app, interface, config, loop)
        self.callback(server.close)
        self.client = self.enter_context(raw.Client(server.listen()))

    def wsgi(self, environ, start_response):
        self.seen.append(
            {k: v for k, v in environ.items() if k.startswith("HTTP_")}
        )
        start_response("204 No Content", [])
        return []

    async def asgi(self, scope, receive, send):
        self.seen.append(scope["headers"])
        await send({"type": "http.response.start", "status": 204})
        await send({"type": "http.response.body"})

    def send(self, fields):
        """What the application saw of them."""
        lines = [f"{name}: {value}" for name, value in fields]
        self.client.send(
            "\r\n".join(["GET / HTTP/1.1", *lines, "", ""]).encode()
        )
        before = len(self.seen)
        for _ in range(1000):
            if len(self.seen) > before:
                break
            if self.loop is None:
                self.backend.select(0.01)
            else:
                self.loop.call_later(0.01, self.loop.stop)
                self.loop.run_forever()
        return self.seen[-1]

    def expected(self, fields):
        if self.interface == "asgi3":
            return [
                (name.lower().encode(), value.encode())
                for name, value in fields
            ]
        environ = {}
        for name, value in fields:
            key = "HTTP_" + name.upper().replace("-", "_")
            comma = "; " if key == "HTTP_COOKIE" else ","
            environ[key] = (
                environ[key] + comma + value if key in environ else value
            )
        return environ


@pytest.mark.parametrize("interface", ["wsgi", "asgi3"])
@pytest.mark.parametrize("seed", range(3))
def test_fields_are_those_of_the_request_however_often_seen(interface, seed):
    random_ = random.Random(seed)

    def field():
        name = random_.choice(NAMES)
        spelled = "".join(random_.choice([c, c.upper()]) for c in name)
        return spelled, random_.choice(VALUES)

    with Site(interface) as site:
        for _ in range(100):
            fields = [("Host", "test")]
            fields += [field() for _ in range(random_.randrange(12))]
            fields = [f for f in fields[1:] if f[0].lower() != "host"]
            fields.insert(0, ("Host", "test"))

            assert site.send(fields) == site.expected(fields)


@pytest.mark.parametrize("interface", ["wsgi", "asgi3"])
@pytest.mark.parametrize("length", [*range(1, 13), 16, 17, 24, 25, 37, 38, 39])
def test_names_that_differ_in_one_place_are_told_apart(interface, length):
    names = ["n" * length]
    names += [
        "n" * at + other + "n" * (length - at - 1)
        for at in range(length)
        for other in "m-"
    ]
    fields = [("Host", "test"), *((name, name) for name in names)]

    with Site(interface) as site:
        for _ in range(2):
            assert site.send(fields) == site.expected(fields)


@pytest.mark.parametrize("interface", ["wsgi", "asgi3"])
@pytest.mark.parametrize(
    "name", ["Cookie", "Authorization", "Proxy-Authorization"]
)
def test_credentials_are_not_kept(interface, name):
    fields = [("Host", "test"), ("X-Mine", "1234"), (name, "5678")]

    with Site(interface) as site:
        _, first, second = map(values, [site.send(fields) for _ in range(3)])

    assert first == second
    assert [a is b for a, b in zip(first, second, strict=True)] == [
        True,
        True,
        False,
    ]


def values(seen):
    """The objects, as the application got them."""
    if isinstance(seen, dict):
        return list(seen.values())
    return [value for _, value in seen]
