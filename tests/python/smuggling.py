"""Messages that two readers may end in different places.

Each has a second request, for /hidden, inside or behind it. A proxy may take
that for one of its client's: then it says so in its log. If only the server
does, the proxy's next client gets an answer to it.
"""

import contextlib

HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: test\r\n\r\n"
CHUNK = b"%x\r\n%b\r\n" % (len(HIDDEN), HIDDEN)
END = b"0\r\n\r\n"

#: For how long an answer to an attack is waited for. Most have one at once.
MOMENT = 0.3


def post(*fields, body):
    lines = [b"POST /digest HTTP/1.1", b"Host: test", *fields, b"", b""]
    return b"\r\n".join(lines) + body


CHUNKED = b"Transfer-Encoding: chunked"


def length(number):
    return b"Content-Length: %d" % number


# A body whose chunks end where the hidden request begins, and one that has
# it inside: by which framing it is read decides.
_AFTER = END + HIDDEN
_INSIDE = CHUNK + END

ATTACKS = {
    "length and chunks": post(length(len(_AFTER)), CHUNKED, body=_AFTER),
    "chunks and length": post(CHUNKED, length(len(_AFTER)), body=_AFTER),
    "short length and chunks": post(length(4), CHUNKED, body=_INSIDE),
    "two lengths": post(length(0), length(len(HIDDEN)), body=HIDDEN),
    "two lengths, the other way": post(
        length(len(HIDDEN)), length(0), body=HIDDEN
    ),
    "two lengths in one": post(
        b"Content-Length: 0, %d" % len(HIDDEN), body=HIDDEN
    ),
    "length with a plus": post(
        b"Content-Length: +%d" % len(HIDDEN), body=HIDDEN
    ),
    "length in hexadecimal": post(
        b"Content-Length: 0x%x" % len(HIDDEN), body=HIDDEN
    ),
    "length beyond 64 bits": post(
        b"Content-Length: 18446744073709551616", body=HIDDEN
    ),
    "length with a space before its colon": post(
        b"Content-Length : %d" % len(HIDDEN), body=HIDDEN
    ),
    "chunks with a space before their colon": post(
        b"Transfer-Encoding : chunked", length(len(_AFTER)), body=_AFTER
    ),
    "length with an underscore": post(
        b"Content_Length: %d" % len(HIDDEN), body=HIDDEN
    ),
    "chunks with an underscore": post(
        b"Transfer_Encoding: chunked", length(len(_AFTER)), body=_AFTER
    ),
    "chunked twice": post(CHUNKED, CHUNKED, body=_AFTER),
    "chunked and something else": post(
        CHUNKED, b"Transfer-Encoding: identity", body=_AFTER
    ),
    "something else than chunked": post(
        b"Transfer-Encoding: xchunked", length(len(_AFTER)), body=_AFTER
    ),
    "chunked behind a tab": post(
        b"Transfer-Encoding:\tchunked", length(len(_AFTER)), body=_AFTER
    ),
    "chunked behind a vertical tab": post(
        b"Transfer-Encoding:\x0bchunked", length(len(_AFTER)), body=_AFTER
    ),
    "chunked in quotes": post(
        b'Transfer-Encoding: "chunked"', length(len(_AFTER)), body=_AFTER
    ),
    "chunked on a folded line": post(
        b"Transfer-Encoding:\r\n chunked", length(len(_AFTER)), body=_AFTER
    ),
    "chunks behind a lone line feed": post(
        b"X: y\nTransfer-Encoding: chunked", length(len(_AFTER)), body=_AFTER
    ),
    "chunks behind a lone carriage return": post(
        b"X: y\rTransfer-Encoding: chunked", length(len(_AFTER)), body=_AFTER
    ),
    "chunks named in Connection": post(
        b"Connection: transfer-encoding",
        CHUNKED,
        length(len(_AFTER)),
        body=_AFTER,
    ),
    "length named in Connection": post(
        b"Connection: content-length", length(len(HIDDEN)), body=HIDDEN
    ),
    "chunks in HTTP/1.0": post(CHUNKED, body=_AFTER).replace(
        b"HTTP/1.1", b"HTTP/1.0", 1
    ),
    "chunk size with a sign": post(
        CHUNKED, body=b"+%x\r\n%b\r\n" % (len(HIDDEN), HIDDEN) + END
    ),
    "chunk size in 0x": post(
        CHUNKED, body=b"0x%x\r\n%b\r\n" % (len(HIDDEN), HIDDEN) + END
    ),
    "chunk size beyond 64 bits": post(
        CHUNKED, body=b"1%016x\r\n%b\r\n" % (len(HIDDEN), HIDDEN) + END
    ),
    "chunk size ended by a lone line feed": post(
        CHUNKED, body=b"%x\n%b\r\n" % (len(HIDDEN), HIDDEN) + END
    ),
    "chunk extension with a lone line feed": post(
        CHUNKED, body=b"2;\nxx\r\n%x\r\n" % len(HIDDEN) + HIDDEN + END
    ),
    "chunk data that are too long": post(
        CHUNKED, body=b"1\r\nxx\r\n" + END + HIDDEN
    ),
    "trailer with a length": post(
        CHUNKED, body=b"0\r\nContent-Length: 40\r\n\r\n" + b""
    ),
    "GET with a body": HIDDEN.replace(b"/hidden", b"/hello").replace(
        b"\r\n\r\n", b"\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN)
    )
    + HIDDEN,
    "header that is empty but for a colon": post(b": x", CHUNKED, body=_INSIDE),
    "NUL in a value": post(
        b"X: a\x00b", length(len(_AFTER)), CHUNKED, body=_AFTER
    ),
}


def send(client, name):
    """Send it, and wait until no more is answered."""
    client.sock.settimeout(MOMENT)
    with contextlib.suppress(OSError):
        client.send(ATTACKS[name])
        client.rest()
