"""The documents in tests/http: what is sent, and what must come back.

``load`` gives the cases of all documents. Each has steps: a kind and its text
(bytes for ``bytes``). ``Talk`` plays them over a wire (http_wires.py).
"""

import functools
import pathlib
import re
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

DOCUMENTS = pathlib.Path(__file__).parents[1] / "http"

_ESCAPES = {"r": b"\r", "n": b"\n", "t": b"\t", "\\": b"\\"}
_ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|.)|[^\\]+")
_REPEAT = re.compile(r"(.+)\{(\d+)\}")
_RUN = re.compile(r"(\\x[0-9a-f]{2}|.)\{(\d+)\}")


@dataclass
class Case:
    name: str  # "document.md: title"
    steps: list = field(default_factory=list)  # [kind, text]

    def longest(self):
        """Bytes of the longest write."""
        return max(len(text) for kind, text in self.steps if kind == "bytes")

    def is_requests(self):
        return self.steps[-1][0] == "events"

    def is_refused(self):
        return self.is_requests() and "refuse " in self.steps[-1][1]

    def rude_at(self):
        """Where the client goes on behind a request that it said was its
        last; 0: nowhere. Behind a refusal the server lingers for anybody."""
        at = 0
        if self.is_refused():
            return 0
        requests = re.split(rb"(?<=\r\n\r\n)(?=[A-Z]+ /)", self.steps[0][1])
        for request in requests[:-1]:
            head = request.partition(b"\r\n\r\n")[0].lower()
            at += len(request)
            if b"\r\nconnection: close" in head or (
                b" http/1.0\r\n" in head + b"\r\n"
                and b"\r\nconnection: keep-alive" not in head
            ):
                return at
        return 0


def unescape(text):
    def one(match):
        code = match.group(1)
        if code is None:
            return match.group(0).encode("latin-1")
        if code[0] == "x" and len(code) == 3:
            return bytes.fromhex(code[1:])
        return _ESCAPES[code]

    return b"".join(map(one, _ESCAPE.finditer(text)))


def _sent(line):
    repeat = _REPEAT.fullmatch(line)
    if repeat is not None:
        return unescape(repeat.group(1)) * int(repeat.group(2))
    return unescape(line)


def _load_one(path):
    case, step = None, None
    for line in path.read_text("latin-1").splitlines():
        if step is not None:
            if line == "```":
                step = None
            elif step[0] == "bytes":
                step[1] += _sent(line)
            else:
                step[1] += line + "\n"
        elif line.startswith("## "):
            case = Case(f"{path.name}: {line[3:]}")
            yield case
        elif line.startswith("```"):
            assert case is not None
            kind = line[3:]
            assert kind in ("bytes", "events", "answers", "end"), line
            step = [kind, b"" if kind == "bytes" else ""]
            case.steps.append(step)
    assert step is None


def load():
    """The cases of all documents."""
    paths = sorted(DOCUMENTS.glob("*.md"))
    return [
        case
        for path in paths
        if path.name != "README.md"
        for case in _load_one(path)
    ]


# What must come of requests: their events, as answers.


@dataclass
class Message:
    """One message of the events."""

    line: str = ""
    path: str = ""
    query: str = ""
    body: bytes = b""
    end: str = ""  # "end", "more" or "refuse ..."


def _unrun(text):
    """A value of the events, as bytes."""
    whole = _RUN.sub(lambda run: run.group(1) * int(run.group(2)), text)
    return unescape(whole)


def messages(events):
    message = Message()
    for line in events.splitlines():
        if line.startswith("head "):
            message.line = line
            target = line.split(" ")[2]
            message.path, _, message.query = target.partition("?")
        elif line.startswith("  path "):
            message.path = line[7:]
        elif line.startswith("  query "):
            message.query = line[8:]
        elif line.startswith("body "):
            message.body = _unrun(line[5:])
        elif not line.startswith("  "):
            message.end = line
            yield message
            message = Message()


@dataclass
class Due:
    """What a client must get: status and body (None: any) of each answer."""

    answers: list
    closes: bool
    more: bool  # a part of a request is left


def due(events, decoded):
    """What must come of these events. ``decoded``: of paths as WSGI has
    them."""
    found = Due([], False, False)
    for message in messages(events):
        if message.end.startswith("refuse "):
            found.answers.append((int(message.end.split()[1]), None))
            found.closes = True
        elif message.end == "more":
            found.more = True
        else:
            path = _unrun(message.path)
            if decoded:
                path = unquote_to_bytes(path)
            query = _unrun(message.query)
            body = message.line.split(" ")[1].encode() + b" " + path
            body += (b"?" + query if query else b"") + b"\n" + message.body
            if message.line.endswith(" is-head"):
                body = b""
            found.answers.append((200, body))
            found.closes = " keep-alive" not in message.line
        if found.closes:
            break
    return found


# What has come, as answers.


class NotWholeError(Exception):
    """The bytes end inside an answer."""


@dataclass
class Answer:
    status: int
    fields: list  # lines
    body: bytes = b""
    cut: bool = False


def _take_line(data):
    line, found, rest = data.partition(b"\r\n")
    if not found:
        raise NotWholeError
    return line.decode("latin-1"), rest


def _take_chunks(data, ended):
    body = b""
    while True:
        try:
            size, rest = _take_line(data)
        except NotWholeError:
            if ended:
                return body, True, b""
            raise
        if int(size, 16) == 0:
            end, rest = _take_line(rest)
            assert end == ""
            return body, False, rest
        if len(rest) < int(size, 16) + 2:
            raise NotWholeError
        body += rest[: int(size, 16)]
        data = rest[int(size, 16) + 2 :]


def _take_answer(data, is_head, ended):
    line, data = _take_line(data)
    assert line.startswith("HTTP/1.1 "), line
    answer = Answer(int(line[9:12]), [])
    length, chunked = None, False
    while True:
        line, data = _take_line(data)
        if not line:
            break
        name, _, value = line.partition(": ")
        if name == "content-length":
            length = int(value)
        chunked = chunked or line == "transfer-encoding: chunked"
        own_date = name == "date" and "1994" in value
        if own_date or (name != "date" and line != "server: xsgi"):
            answer.fields.append(line)
    if is_head or answer.status < 200 or answer.status in (204, 304):
        return answer, data
    if chunked:
        answer.body, answer.cut, data = _take_chunks(data, ended)
    elif length is None:
        if not ended:
            raise NotWholeError
        answer.body, answer.cut, data = data, ended == "reset", b""
    else:
        if len(data) < length and not ended:
            raise NotWholeError
        answer.cut = len(data) < length
        answer.body, data = data[:length], data[length:]
    return answer, data


@functools.lru_cache(16)
def _heads(sent):
    """Whether each of the requests in ``sent`` is a HEAD, as far as that can
    be seen without parsing them: where a line says so. What is sent stays the
    same while answers are awaited, and from one cut to the next."""
    lines = re.findall(rb"(?:^|\r\n|\n)([A-Z]+) \S+ HTTP/1\.\d\r\n", sent)
    return [line == b"HEAD" for line in lines] or [sent[:5] == b"HEAD "]


def answers(data, sent, ended):
    """The answers in ``data``. Raises NotWholeError."""
    heads = _heads(sent)
    found = []
    while data:
        finals = sum(each.status >= 200 for each in found)
        is_head = finals < len(heads) and heads[finals]
        answer, data = _take_answer(data, is_head, ended)
        found.append(answer)
    return found


def _shown(body):
    text = "".join(
        chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02x}"
        for byte in body
    )
    return re.sub(
        r"(\\x[0-9a-f]{2}|.)\1{19,}",
        lambda run: f"{run[1]}{{{len(run[0]) // len(run[1])}}}",
        text,
    )


def transcript(found, state):
    """As in a block ``answers``."""
    lines = []
    for answer in found:
        lines.append(f"{answer.status}\n")
        lines += [f"  {_shown(f.encode('latin-1'))}\n" for f in answer.fields]
        if answer.body:
            lines.append(f"body {_shown(answer.body)}\n")
        if answer.cut:
            lines.append("cut\n")
    return "".join(lines) + state + "\n"


# Talking.


def _parts(data, cut, each, whole_from):
    if cut:
        yield data[:cut]
        data = data[cut:]
    last = data[whole_from:] if whole_from else b""
    data = data[:whole_from] if whole_from else data
    size = each or len(data) or 1
    for at in range(0, len(data), size):
        yield data[at : at + size]
    if last:
        yield last


class Talk:
    """A case over a wire, its bytes cut at ``cut``, or every ``each`` up to
    ``whole_from``, if that is not 0."""

    def __init__(self, wire, case, cut=0, each=0, whole_from=0):
        self.wire = wire
        self.case = case
        self.cut = cut
        self.each = each
        self.whole_from = whole_from
        self.sent = b""

    def _send(self, data):
        self.sent += data
        for part in _parts(data, self.cut, self.each, self.whole_from):
            self.wire.send(part)

    def _found(self):
        ended = "" if self.wire.state == "open" else self.wire.state
        return answers(self.wire.got, self.sent, ended)

    def play(self, decoded):
        """Play it. Fails if anything else comes than must."""
        try:
            if self.case.is_requests():
                self._play_requests(decoded)
            else:
                self._play_conversation()
        finally:
            self.wire.close()

    def play_rudely(self, most):
        """Play it as a client that may be reset at any byte. Fails if it gets
        more than ``most`` answers."""
        self._send(self.case.steps[0][1])
        self.wire.run_until(lambda: False)
        assert self.wire.state != "open"
        assert self.wire.got.count(b"HTTP/1.1 ") <= most
        assert b"/SECOND" not in self.wire.got
        self.wire.close()

    def _play_requests(self, decoded):
        wanted = due(self.case.steps[-1][1], decoded)

        def is_done():
            try:
                found = self._finals()
            except NotWholeError:
                return False
            return len(found) >= len(wanted.answers) and not wanted.closes

        self._send(self.case.steps[0][1])
        self.wire.run_until(is_done)
        if wanted.more:
            self.wire.end()
            self.wire.run_until(lambda: False)
            assert self.wire.state != "open"
        found = self._finals()
        self._compare(found, wanted)

    def _finals(self):
        return [each for each in self._found() if each.status >= 200]

    def _compare(self, found, wanted):
        got = [each.status for each in found]
        assert got == [status for status, _ in wanted.answers], self.case.name
        for answer, (_, body) in zip(found, wanted.answers, strict=True):
            assert body is None or answer.body == body, self.case.name
            assert not answer.cut, self.case.name
        if wanted.closes:
            assert "connection: close" in found[-1].fields, self.case.name
            assert self.wire.state == "closed", self.case.name

    def _transcript(self):
        try:
            return transcript(self._found(), self.wire.state)
        except NotWholeError:
            return f"not whole: {self.wire.got!r}"

    def _play_conversation(self):
        for kind, text in self.case.steps:
            if kind == "bytes":
                self._send(text)
            elif kind == "end":
                self.wire.end()
            else:

                def is_done(text=text):
                    return self._transcript() == text

                self.wire.run_until(is_done)
                assert self._transcript() == text
                done = sum(each.status >= 200 for each in self._found())
                self.wire.got = b""
                self.sent = b"" if done else self.sent
