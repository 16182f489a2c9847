"""Clients that ask for all kinds of answers at once, and check each.

An exchange has a number, which its answer must carry. What a client expects
of each kind it says itself; a connection that is closed before the first byte
of an answer on its way to a client may happen only if the test says so.
"""

import hashlib
import itertools
import random
import threading

from apps.common import SMALL


class LostError(AssertionError):
    """An answer that did not come, or was not the right one."""


class Visitor:
    """One client: exchanges of its own seed on one connection at a time."""

    def __init__(self, connect, seed, fresh=False, never=()):
        self._connect = connect
        self._kinds = {k: n for k, n in KINDS.items() if k not in never}
        self._random = random.Random(seed)
        self._fresh = fresh  # a connection for each exchange
        self._numbers = (f"{seed}-{n}" for n in itertools.count())
        self._client = None
        self.statuses = []
        self.aborted = 0

    def leave(self):
        if self._client is not None:
            self._client.close()
            self._client = None

    def one(self):
        """An exchange of a kind by chance."""
        names, weights = zip(*self._kinds.items(), strict=True)
        (name,) = self._random.choices(names, weights)
        if self._client is None:
            self._client = self._connect()
        number = next(self._numbers)
        try:
            getattr(self, name)(number)
        except Exception as error:
            self.leave()
            raise LostError(f"{name} {number}: {error!r}") from error
        if self._fresh:
            self.leave()

    def _ask(self, number, method, target, *fields, body=b""):
        fields = (f"X-Number: {number}", *fields)
        self._client.request(method, target, *fields, body=body)

    def _take(self, number, status, method="GET", body=None):
        answer = self._client.response(method)
        assert answer.status == status, answer
        assert answer.complete, len(answer.body)
        if number is not None:
            assert answer.header("x-number") == number, answer
        if body is not None:
            assert answer.body == body, (len(answer.body), answer.headers)
        self.statuses.append(status)
        if answer.header("connection") == "close":
            self.leave()
        return answer

    def get(self, number):
        self._ask(number, "GET", "/hello")
        self._take(number, 200, body=b"hello")

    def head(self, number):
        self._ask(number, "HEAD", "/hello")
        self._take(number, 200, "HEAD")

    def post(self, number):
        body = self._random.randbytes(self._random.choice([1, 900, 150_000]))
        self._ask(number, "POST", "/digest", body=body)
        self._take(number, 200, body=sha256(body))

    def post_chunked(self, number):
        parts = [b"a" * 10, self._random.randbytes(30_000), b"c"]
        self._ask(number, "POST", "/digest", "Transfer-Encoding: chunked")
        for part in parts:
            self._client.send(b"%x\r\n%b\r\n" % (len(part), part))
        self._client.send(b"0\r\n\r\n")
        self._take(number, 200, body=sha256(b"".join(parts)))

    def put_expecting(self, number):
        body = b"expected" * 400
        fields = ("Expect: 100-continue", f"Content-Length: {len(body)}")
        self._ask(number, "PUT", "/digest", *fields)
        assert self._client.head().status == 100
        self._client.send(body)
        self._take(number, 200, body=sha256(body))

    def unchanged(self, number):
        self._ask(number, "GET", "/unchanged", 'If-None-Match: "x"')
        self._take(number, 304)

    def empty(self, number):
        self._ask(number, "GET", "/empty")
        self._take(number, 204)

    def stream(self, number):
        count = self._random.choice([1, 3, 40])
        self._ask(number, "GET", f"/stream?n={count}")
        self._take(number, 200, body=SMALL * count)

    def sized(self, number):
        count = self._random.choice([1, 3, 40])
        self._ask(number, "GET", f"/sized?n={count}")
        self._take(number, 200, body=SMALL * count)

    def error(self, number):
        self._ask(number, "GET", "/error")
        self._take(None, 500)

    def refused(self, number):
        self._ask(number, "POST", "/refuse", body=b"x" * 100_000)
        self._take(number, 413, body=b"no")
        # nginx says keep-alive, and then drops what else comes, if the
        # answer was there before it had passed the whole body on.
        self.leave()

    def closing(self, number):
        self._ask(number, "GET", "/closing")
        self._take(number, 200, body=b"bye")

    def cut(self, number):
        self._ask(number, "GET", "/cut")
        answer = self._client.response()
        assert answer.status == 200, answer
        assert not answer.complete
        self.leave()

    def abort_stream(self, number):
        self._ask(number, "GET", "/stream?n=40")
        assert self._client.head().status == 200
        self._abort()

    def abort_upload(self, number):
        self._ask(number, "POST", "/digest", "Content-Length: 100000")
        self._client.send(b"x" * self._random.choice([1, 50_000]))
        self._abort()

    def abort_answer(self, number):
        self._ask(number, "GET", "/sized?n=40")
        self._abort()

    def _abort(self):
        self._client.reset()
        self._client = None
        self.aborted += 1


#: How often each kind is chosen.
KINDS = {
    "get": 30,
    "head": 8,
    "post": 12,
    "post_chunked": 6,
    "put_expecting": 3,
    "unchanged": 6,
    "empty": 4,
    "stream": 8,
    "sized": 6,
    "error": 4,
    "refused": 3,
    "closing": 3,
    "cut": 2,
    "abort_stream": 2,
    "abort_upload": 2,
    "abort_answer": 1,
}


def sha256(body):
    return hashlib.sha256(body).hexdigest().encode()


class Crowd:
    """Visitors at once, each on a thread. A context manager: they come to
    an end, and what one of them has found is raised, when it is left."""

    def __init__(self, connect, visitors=6, seed=0, **options):
        self._visitors = [
            Visitor(connect, seed + n, **options) for n in range(visitors)
        ]
        self._left = None
        self._enough = threading.Event()
        self._lock = threading.Lock()
        self._failures = []
        self.done = 0

    def visit(self, count):
        """Exactly ``count`` exchanges."""
        self._left = count
        with self:
            for thread in self._threads:
                thread.join()

    @property
    def aborted(self):
        return sum(each.aborted for each in self._visitors)

    @property
    def statuses(self):
        return [status for each in self._visitors for status in each.statuses]

    def is_well(self):
        return not self._failures

    def _begin(self):
        with self._lock:
            if self._enough.is_set() or self._left == 0:
                return False
            if self._left is not None:
                self._left -= 1
            return True

    def _run(self, visitor):
        try:
            while self._begin():
                visitor.one()
                with self._lock:
                    self.done += 1
        except BaseException as error:
            self._failures.append(error)
            self._enough.set()
        finally:
            visitor.leave()

    def __enter__(self):
        self._threads = [
            threading.Thread(target=self._run, args=(each,), daemon=True)
            for each in self._visitors
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._enough.set()
        for thread in self._threads:
            thread.join()
        if self._failures:
            first, *others = self._failures
            raise LostError(f"{first}; {others}") from first
