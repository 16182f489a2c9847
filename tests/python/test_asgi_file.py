"""http.response.pathsend and http.response.zerocopysend, over sockets."""

import hashlib
import os
import pathlib
import re
import time
from urllib.parse import quote

import httpx
import pytest

import raw
from asgi_probe import Probe
from serving import PATIENCE, Served

MIB = 1 << 20

linux = pytest.mark.skipif(
    not pathlib.Path("/proc/self/fd").exists(), reason="needs /proc"
)


@pytest.fixture(scope="module")
def probe():
    with Probe() as served:
        yield served


@pytest.fixture(scope="module")
def files():
    with Served("file_app:asgi", "--lifespan", "off") as served:
        yield served


@pytest.fixture
def make(tmp_path):
    """``make(length)``: a file of bytes that never repeat, and its path."""

    def file(length, folder=tmp_path):
        path = pathlib.Path(folder) / f"{length}-{os.getpid()}.bin"
        path.write_bytes(_bytes(length))
        return path

    return file


def _bytes(length):
    blocks = (
        hashlib.sha256(str(number).encode()).digest() * 2048
        for number in range(length // 65536 + 1)
    )
    return b"".join(blocks)[:length]


def _get(served, page, path, client=None):
    if client is not None:
        return client.get(f"/{page}?{quote(str(path))}")
    with raw.Client(served.address) as each:
        return each.get(f"/{page}?{quote(str(path))}")


def _descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def _resident(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _until(true):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


# ---- pathsend ----


@pytest.mark.parametrize("length", [0, 1, 16384, 16385, 300_000, 64 * MIB])
def test_file_by_path_arrives_whole_and_has_a_length(files, make, length):
    path = make(length)

    with httpx.Client(base_url=files.url, timeout=PATIENCE) as client:
        response = client.get(f"/pathsend?{quote(str(path))}")

    assert response.headers["content-length"] == str(length)
    assert response.content == path.read_bytes()


def test_file_of_which_the_system_does_not_say_whether_it_waits(files, make):
    """On tmpfs Linux does not know RWF_NOWAIT: it is fetched beforehand."""
    if not os.path.isdir("/dev/shm"):
        pytest.skip("there is no /dev/shm")
    path = make(3 * MIB, "/dev/shm")
    try:
        response = _get(files, "pathsend", path)
        assert response.body == path.read_bytes()
    finally:
        path.unlink()


def test_file_goes_over_a_unix_socket(serve, make, tmp_path):
    path = make(3 * MIB)
    served = serve("file_app:asgi", "--uds", str(tmp_path / "s"))

    assert _get(served, "pathsend", path).body == path.read_bytes()


@pytest.mark.parametrize(
    "form", ["{!r}", "{!r}.encode()", "__import__('pathlib').Path({!r})"]
)
def test_path_may_be_any_path(probe, make, form):
    path = make(5)
    message = "dict(type='http.response.pathsend', path=" + form + ")"

    response = probe.post(
        "/messages", f"[start(), {message.format(str(path))}]".encode()
    )

    assert response.body == path.read_bytes()


def test_head_has_the_length_of_the_file_and_no_body(files, make):
    path = make(100_000)

    with raw.Client(files.address) as client:
        client.request("HEAD", f"/pathsend?{quote(str(path))}")
        response = client.response("HEAD")
        again = client.get("/hello")

    assert response.header("content-length") == "100000"
    assert again.body == b"hello"


def test_file_that_is_not_there_may_be_answered_otherwise(files, tmp_path):
    gone = _get(files, "wrong", tmp_path / "gone")
    folder = _get(files, "wrong", tmp_path)

    assert gone.body == f"FileNotFoundError {tmp_path}/gone".encode()
    assert folder.body == f"IsADirectoryError {tmp_path}".encode()


@pytest.mark.parametrize(
    "name, keys, kind, words",
    [
        ("pathsend", "", "ValueError", "'path' is missing"),
        ("pathsend", "path=7", "TypeError", "'path' must be a str"),
        ("pathsend", "path='a\\0b'", "ValueError", "null"),
        ("pathsend", "path='/dev/null'", "ValueError", "regular file"),
        ("zerocopysend", "", "ValueError", "'file' is missing"),
        (
            "zerocopysend",
            "file=__import__('io').BytesIO(b'x')",
            "TypeError",
            "'file' must be a file with a descriptor, not _io.BytesIO",
        ),
        ("zerocopysend", "file='x'", "TypeError", "not str"),
        ("zerocopysend", "file=99999", "ValueError", "not an open desc"),
        (
            "zerocopysend",
            "file=open('/dev/null', 'rb')",
            "ValueError",
            "is not a regular file",
        ),
        (
            "zerocopysend",
            "file=open('{path}', 'ab')",
            "ValueError",
            "is not open for reading",
        ),
        (
            "zerocopysend",
            "file=open('{path}', 'rb'), offset='1'",
            "TypeError",
            "'offset' must be an int, not str",
        ),
        (
            "zerocopysend",
            "file=open('{path}', 'rb'), count=-1",
            "ValueError",
            "'count' must be from 0 to",
        ),
    ],
)
def test_message_with_a_wrong_file_is_refused(
    probe, make, name, keys, kind, words
):
    message = f"dict(type='http.response.{name}', {keys})"
    message = message.replace("{path}", str(make(5)))

    probe.post("/messages", f"[start(), {message}]".encode())

    raised, text, *_ = probe.seen("messages")
    assert raised == kind
    assert words in text


def test_file_that_goes_past_the_system_s_memory_is_refused(probe, make):
    """It was taken, and the response then broke off."""
    path = str(make(5))
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except (AttributeError, OSError):
        pytest.skip("there is no O_DIRECT")
    file = f"__import__('os').open({path!r}, {os.O_RDONLY | os.O_DIRECT})"
    message = f"dict(type='http.response.zerocopysend', file={file})"

    probe.post("/messages", f"[start(), {message}]".encode())

    name, text, *_ = probe.seen("messages")
    assert name == "ValueError"
    assert "is open with O_DIRECT" in text


MADE = ["/proc/self/status", "/sys/devices/system/cpu/online"]


@pytest.mark.parametrize("path", MADE)
@pytest.mark.parametrize("name", ["pathsend", "zerocopysend"])
def test_file_that_is_made_when_it_is_read_is_refused(probe, name, path):
    """Its size is none: it went as an empty body, or broke off."""
    if not os.path.exists(path):
        pytest.skip(f"there is no {path}")
    keys = {
        "pathsend": f"path='{path}'",
        "zerocopysend": f"file=open('{path}')",
    }
    message = f"dict(type='http.response.{name}', {keys[name]})"

    response = probe.post("/messages", f"[start(), {message}]".encode())

    raised, text, *_ = probe.seen("messages")
    assert response.status == 500
    assert raised == "ValueError"
    assert "is made when it is read, and has no size" in text


@pytest.mark.parametrize("length", ["4", "6"])
def test_length_that_is_not_the_file_s_is_an_error_that_names_both(
    probe, make, length
):
    path = str(make(5))
    head = f"start(200, (b'content-length', b'{length}'))"
    message = f"dict(type='http.response.pathsend', path={path!r})"

    response = probe.post(
        "/messages",
        f"[{head}, {message}]".encode(),
    )

    name, text, *_ = probe.seen("messages")
    assert response.status == 500
    assert name == "RuntimeError"
    assert "gives 5 bytes" in text and f"leaves {length}" in text


def test_path_is_the_whole_body_or_none_of_it(probe, make):
    path = str(make(5))

    probe.post(
        "/messages",
        f"[start(), body(b'x', True), "
        f"dict(type='http.response.pathsend', path={path!r})]".encode(),
    )

    name, text, *_ = probe.seen("messages")
    assert name == "RuntimeError"
    assert "http.response.pathsend" in text


# ---- zerocopysend ----


def test_ranges_and_bytes_keep_their_order(files, make):
    path = make(12)
    want = path.read_bytes()

    response = _get(files, "places", path)

    # From behind what was read, not from behind what was read ahead.
    assert response.body == (want[1:3] + b"-" + want[7:9] + b"-" + want[3:])
    assert response.complete


def test_descriptor_goes_on_where_it_was(files, make):
    path = make(50_000)

    assert _get(files, "descriptor", path).body == path.read_bytes()


def test_file_may_be_closed_when_send_has_returned(files, make):
    path = make(3 * MIB)

    with raw.Client(files.address, receive_buffer=4096) as client:
        client.request("GET", f"/zerocopysend?{quote(str(path))}")
        response = client.response()

    assert response.complete
    assert response.body == 3 * path.read_bytes()


# ---- what may happen meanwhile ----


@pytest.mark.parametrize("page", ["pathsend", "zerocopysend"])
def test_client_sees_that_a_file_was_truncated(serve, make, page):
    path = make(32 * MIB)
    served = serve("file_app:asgi", "--access-log-format", "%(U)s %({end}x)s")

    with raw.Client(served.address, receive_buffer=4096) as client:
        client.request("GET", f"/{page}?{quote(str(path))}")
        head = client.head()
        os.truncate(path, 9 * MIB)
        if page == "pathsend":
            body = client.exactly(int(head.header("content-length")))
        else:
            body = b"".join(client.chunks())
            assert not client.ended

    assert len(body) < 32 * MIB
    assert body == _bytes(len(body))
    assert served.wait_for_line(
        "/pathsend file" if page == "pathsend" else "file", "stdout"
    )


def test_body_without_a_length_is_reset_if_its_file_was_truncated(files, make):
    path = make(32 * MIB)

    with raw.Client(files.address, receive_buffer=4096) as client:
        client.send(
            f"GET /until_close?{quote(str(path))} HTTP/1.0\r\n\r\n".encode()
        )
        client.head()
        os.truncate(path, 9 * MIB)
        with pytest.raises(ConnectionResetError):
            while client.sock.recv(65536):
                pass


def test_file_that_grows_is_as_long_as_it_was(files, make):
    path = make(32 * MIB)

    with raw.Client(files.address, receive_buffer=4096) as client:
        client.request("GET", f"/pathsend?{quote(str(path))}")
        head = client.head()
        with open(path, "ab") as file:
            file.write(b"more")
        body = client.exactly(int(head.header("content-length")))
        client.request("GET", "/hello")
        assert client.response().body == b"hello"

    assert body == _bytes(32 * MIB)


@linux
def test_slow_reader_of_a_file_costs_no_memory(serve, make):
    path = make(32 * MIB)
    served = serve("file_app:asgi")
    _get(served, "pathsend", path)
    before = _resident(served.pid)

    with raw.Client(served.address, receive_buffer=4096) as client:
        client.request("GET", f"/pathsend?{quote(str(path))}")
        client.head()
        client.exactly(3 * MIB)
        assert _resident(served.pid) - before < 4 * MIB


@linux
def test_files_are_closed_when_they_have_gone(serve, make):
    small, large = make(100), make(100_000)
    served = serve("file_app:asgi")

    with raw.Client(served.address) as client:
        _get(served, "pathsend", small, client)
        before = _descriptors(served.pid)
        for _ in range(250):
            for page in "pathsend", "zerocopysend":
                for path in small, large:
                    assert _get(served, page, path, client).complete
        _until(lambda: _descriptors(served.pid) <= before)


@linux
@pytest.mark.parametrize("page", ["pathsend", "zerocopysend"])
def test_file_is_closed_when_the_client_leaves(serve, make, page):
    path = make(32 * MIB)
    served = serve("file_app:asgi")
    _get(served, "hello", path)
    before = _descriptors(served.pid)

    clients = [
        raw.Client(served.address, receive_buffer=4096) for _ in range(10)
    ]
    for client in clients:
        client.request("GET", f"/{page}?{quote(str(path))}")
        client.head()
    assert _descriptors(served.pid) > before + len(clients)
    for client in clients:
        client.reset()

    _until(lambda: _descriptors(served.pid) <= before)


@linux
@pytest.mark.parametrize("pipelined", [False, True])
def test_files_that_wait_do_not_use_up_the_descriptors(serve, make, pipelined):
    if not os.path.isdir("/dev/shm"):
        pytest.skip("there is no /dev/shm, whose files are always fetched")
    path = make(1 if pipelined else 400, "/dev/shm")
    page, count = ("pathsend_counted", 400) if pipelined else ("drops", 1)
    get = f"GET /{page}?{quote(str(path))} HTTP/1.1\r\nHost: x\r\n\r\n"
    served = serve("file_app:asgi")
    try:
        with raw.Client(served.address) as client:
            client.send(get.encode() * count)
            bodies = [client.response().body for _ in range(count)]
            most = int(client.get("/most").body)
    finally:
        path.unlink()

    assert b"".join(bodies) == (_bytes(1) * 400 if pipelined else _bytes(400))
    assert most < _descriptors(served.pid) + 40


def test_access_log_has_the_bytes_of_a_file(serve, make):
    served = serve("file_app:asgi", "--access-log-format", "%(U)s %(B)s")

    _get(served, "pathsend", make(100))
    _get(served, "pathsend", make(100_000))

    assert served.wait_for_line("/pathsend 100", "stdout")
    assert served.wait_for_line("/pathsend 100000", "stdout")


# ---- who uses it ----


def test_starlette_s_file_response_uses_it(serve, make):
    pytest.importorskip("starlette")
    path = make(3 * MIB)
    served = serve("file_app:starlette", "--lifespan", "off")
    url = f"/?{quote(str(path))}"

    with httpx.Client(base_url=served.url, timeout=PATIENCE) as client:
        response = client.get(url)
        types = client.get("/types").text
        relative = client.get(f"/?{quote(os.path.relpath(path))}")
        part = client.get(url, headers={"range": "bytes=5-9"})

    assert response.content == path.read_bytes()
    assert types == "http.response.start http.response.pathsend"
    assert relative.content == path.read_bytes()
    assert part.status_code == 206
    assert part.content == path.read_bytes()[5:10]
    assert not re.search("Traceback", served.output())
