"""Request bodies that wait for their end: in memory, then in a file."""

import tempfile
import time

import pytest

from wsgi_probe import Probe, reading


def test_spooled_file_is_closed_with_its_request(tmp_path, monkeypatch):
    files = []
    real = tempfile.SpooledTemporaryFile

    def spool(*args, **options):
        files.append(real(*args, **options))
        return files[-1]

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", spool)
    with Probe(reading(lambda s: len(s.read()))) as probe:
        assert probe.post(b"x" * 900_000).body == b"900000"
        with probe.connect() as client:
            client.request("POST", "/", "Content-Length: 900000")
            client.send(b"x" * 890_000)
        probe.get()

    assert len(files) == 2
    assert all(file.closed for file in files)


@pytest.mark.parametrize(
    ("length", "field", "memory"),
    [
        (512 * 1024, "Content-Length: 524288", 512 * 1024),
        (512 * 1024 + 1, "Content-Length: 524289", 64 * 1024),
        (1000, "Transfer-Encoding: chunked", 64 * 1024),
    ],
)
def test_only_bodies_known_to_be_short_wait_in_memory(
    monkeypatch, length, field, memory
):
    sizes = []
    real = tempfile.SpooledTemporaryFile

    def spool(size):
        sizes.append(size)
        return real(size)

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", spool)
    body = b"x" * length
    if "chunked" in field:
        body = b"3e8\r\n" + body + b"\r\n0\r\n\r\n"
    with (
        Probe(reading(lambda s: len(s.read()))) as probe,
        probe.connect() as client,
    ):
        client.request("POST", "/", field)
        client.send(body[:500])
        time.sleep(0.1)
        client.send(body[500:])
        assert client.response().body == str(length).encode()

    assert sizes == [memory]


def test_spool_that_cannot_be_written_is_an_error_500(monkeypatch):
    class Full:
        def __init__(self, *_):
            pass

        def write(self, _):
            raise OSError(28, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Full)
    with Probe(reading(lambda s: s.read())) as probe:
        assert probe.post(b"x" * 200_000).status == 500

    assert len(probe.log()) == 1


class Filling(tempfile.SpooledTemporaryFile):
    """A disk that is full in the middle of a block, once."""

    def write(self, block):
        if block.startswith(b"half"):
            super().write(block[: len(block) // 2])
            raise OSError(28, "No space left on device")
        return super().write(block)


def test_nothing_follows_a_block_that_could_not_be_kept(monkeypatch):
    """Whether the application goes on or not."""
    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Filling)
    raised = []

    def app(environ, start_response):
        write = start_response("200 OK", [])
        write(b"first" * 2_000_000)
        write(b"second" * 20_000)
        for block in (b"half" * 1000, b"third" * 1000):
            try:
                write(block)
            except OSError as error:
                raised.append(str(error))
        return [b"fourth"]

    with Probe(app) as probe, probe.connect() as client:
        client.request("GET", "/")
        response = client.response()

    assert not response.complete
    body = b"first" * 2_000_000 + b"second" * 20_000
    assert body.startswith(response.body)
    assert ["No space" in text for text in raised] == [True, False]
    assert "could not be kept" in raised[1]
