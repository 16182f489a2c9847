"""wsgi.file_wrapper: what the system sends by itself, and what it does not."""

import gzip
import io
import os

import pytest

from wsgi_probe import PLAIN, THREADS, Probe

pytestmark = pytest.mark.parametrize("threads", THREADS)

MIB = 1 << 20


class Sending:
    """An application that sends files, and what became of them."""

    def __init__(self, open_file, *headers, before=b""):
        self.open_file = open_file
        self.headers = list(headers)
        self.before = before
        self.closes = 0
        self.places = []  # where they were when they were closed

    def __call__(self, environ, start_response):
        file = self.open_file()

        def close():
            self.closes += 1
            self.places.append(file.tell())
            type(file).close(file)

        file.close = close  # as Django does it
        write = start_response("200 OK", [*PLAIN, *self.headers])
        if self.before:
            write(self.before)
        return environ["wsgi.file_wrapper"](file, 4096)


def descriptors():
    fds = "/proc/self/fd" if os.path.exists("/proc/self/fd") else "/dev/fd"
    return len(os.listdir(fds))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(os.urandom(3 * MIB))
    return path


def test_file_is_sent_without_being_read(threads, path):
    app = Sending(lambda: path.open("rb"))

    with Probe(app, threads) as probe:
        response = probe.get()

    assert response.body == path.read_bytes()
    assert response.header("content-length") == str(3 * MIB)
    assert app.places == [0]
    assert app.closes == 1


def test_file_is_sent_from_where_it_stands(threads, path):
    def open_file():
        file = path.open("rb")
        file.read(1)  # which reads ahead
        return file

    with Probe(Sending(open_file), threads) as probe:
        response = probe.get()

    assert response.complete
    assert response.body == path.read_bytes()[1:]


@pytest.mark.parametrize("place", [3 * MIB, 4 * MIB])
def test_file_of_which_nothing_is_left_is_an_empty_body(threads, path, place):
    def open_file():
        file = path.open("rb")
        file.seek(place)
        return file

    with Probe(Sending(open_file), threads) as probe, probe.connect() as client:
        assert client.get("/").complete
        before = descriptors()
        for _ in range(20):
            response = client.get("/")
            assert response.complete
            assert response.body == b""
        assert descriptors() <= before + 1  # the last may not be closed yet


def test_raw_file_is_sent_as_well(threads, path):
    app = Sending(lambda: io.FileIO(path))

    with Probe(app, threads) as probe:
        assert probe.get().body == path.read_bytes()

    assert app.places == [0]


def test_no_more_is_sent_than_the_length_says(threads, path):
    app = Sending(lambda: path.open("rb"), ("Content-Length", "70000"))

    with Probe(app, threads) as probe, probe.connect() as client:
        first = client.get("/")
        again = client.get("/")

    assert first.body == again.body == path.read_bytes()[:70000]


def test_file_that_is_shorter_than_its_length_is_an_error(threads, path):
    app = Sending(lambda: path.open("rb"), ("Content-Length", str(4 * MIB)))

    with Probe(app, threads) as probe:
        assert probe.get().status == 500

    assert app.closes == 1


def test_head_of_a_file_has_its_length_and_no_body(threads, path):
    app = Sending(lambda: path.open("rb"))

    with Probe(app, threads) as probe, probe.connect() as client:
        client.request("HEAD", "/")
        response = client.response("HEAD")
        again = client.get("/")

    assert response.header("content-length") == str(3 * MIB)
    assert again.body == path.read_bytes()
    assert app.closes == 2


def test_file_behind_written_bytes_is_read(threads, path):
    app = Sending(lambda: path.open("rb"), before=b"before")

    with Probe(app, threads) as probe:
        response = probe.get()

    assert response.body == b"before" + path.read_bytes()
    assert app.places == [3 * MIB]


@pytest.mark.parametrize("empty", [True, False])
def test_file_without_bytes_is_an_empty_body(threads, tmp_path, empty):
    path = tmp_path / "file"
    path.write_bytes(b"" if empty else b"read")

    def open_file():
        file = path.open("rb")
        file.read()
        return file

    with Probe(Sending(open_file), threads) as probe:
        assert probe.get().body == b""


@pytest.mark.parametrize(
    "made", ["/proc/version", "/sys/devices/system/cpu/online"]
)
def test_file_that_is_made_when_it_is_read_arrives_whole(threads, made):
    """Its size is none: that of one is 0, of the other a page."""
    if not os.path.exists(made):
        pytest.skip(f"there is no {made}")
    with open(made, "rb") as file:
        whole = file.read()

    with Probe(Sending(lambda: open(made, "rb")), threads) as probe:
        response = probe.get()

    assert response.body == whole
    assert response.header("content-length") in (None, str(len(whole)))


def test_descriptor_is_not_asked_what_the_file_is(threads, tmp_path):
    """A gzip file's is that of the compressed one."""
    path = tmp_path / "file.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"plain" * 1000)

    def app(environ, start_response):
        start_response("200 OK", PLAIN)
        file = gzip.GzipFile(path)
        if environ["PATH_INFO"] == "/buffered":
            file = io.BufferedReader(file)
        return environ["wsgi.file_wrapper"](file)

    with Probe(app, threads) as probe:
        assert probe.get().body == b"plain" * 1000
        assert probe.get("/buffered").body == b"plain" * 1000


def test_closed_file_is_an_error_500(threads, path):
    def app(environ, start_response):
        file = path.open("rb")
        file.close()
        start_response("200 OK", PLAIN)
        return environ["wsgi.file_wrapper"](file)

    with Probe(app, threads) as probe:
        assert probe.get().status == 500


def test_client_sees_that_a_file_was_truncated(threads, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(32 * MIB))
    app = Sending(lambda: path.open("rb"))

    slow = {"receive_buffer": 4096}
    with Probe(app, threads) as probe, probe.connect(**slow) as client:
        client.request("GET", "/")
        client.head()
        os.truncate(path, 9 * MIB)
        assert len(client.exactly(32 * MIB)) < 32 * MIB

    assert app.closes == 1
