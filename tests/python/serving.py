"""`xsgi serve` as a process of its own, for tests."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

APPS = pathlib.Path(__file__).with_name("apps")

#: No test waits longer than this for anything.
PATIENCE = 20

_LISTENING = re.compile(r"listening on (?P<urls>\S+(?:, \S+)*) \(")


def _environ():
    """This process's, without what is said to the tests: XSGI_MATRIX."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("XSGI_")
    }


class Served:
    """A running server. Use it as a context manager: it is killed at the end.

    ``url`` and ``port`` are those of the first address that it listens at.
    """

    def __init__(
        self,
        app,
        *args,
        app_dir=APPS,
        env=None,
        ready=True,
        launcher=(),
        program=("-m", "xsgi"),
        address=("--port", "0"),
        **popen,
    ):
        if _has_address(args):
            address = ()
        command = [*launcher, sys.executable, *program, "serve", app]
        command += ["--app-dir", str(app_dir), *address, *args]
        environ = {**_environ(), "PYTHONUNBUFFERED": "1", **(env or {})}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environ,
            **popen,
        )
        self._news = threading.Condition()
        self.stdout = []
        self.stderr = []
        self._readers = [
            self._read(self.process.stdout, self.stdout),
            self._read(self.process.stderr, self.stderr),
        ]
        self.urls = []
        if ready:
            self._wait_until_ready()

    def _read(self, stream, lines):
        def run():
            for line in stream:
                with self._news:
                    lines.append(line.rstrip("\n"))
                    self._news.notify_all()
            stream.close()
            with self._news:
                self._news.notify_all()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def _wait_until_ready(self):
        try:
            line = self.wait_for_line("listening on ")
        except BaseException:
            self.kill()
            raise
        self.urls = _LISTENING.search(line)["urls"].split(", ")

    @property
    def url(self):
        return self.urls[0]

    @property
    def port(self):
        return int(self.url.rpartition(":")[2])

    @property
    def address(self):
        """(host, port), or the path of a unix socket."""
        if self.url.startswith("unix:"):
            return self.url.removeprefix("unix:")
        return ("127.0.0.1", self.port)

    @property
    def pid(self):
        return self.process.pid

    def wait_for_line(self, words, stream="stderr", count=1):
        """The ``count``-th line with ``words`` in it."""
        lines = getattr(self, stream)
        deadline = time.monotonic() + PATIENCE
        with self._news:
            while True:
                found = [line for line in lines if words in line]
                if len(found) >= count:
                    return found[count - 1]
                left = deadline - time.monotonic()
                over = not any(each.is_alive() for each in self._readers)
                if left <= 0 or over:
                    raise AssertionError(
                        f"no line with {words!r} on {stream}:\n{self.output()}"
                    )
                self._news.wait(min(left, 0.2))

    def output(self):
        """Everything said so far, for a failing test."""
        return "\n".join([*self.stdout, *self.stderr])

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout=PATIENCE):
        """The exit code, once everything that was said has been read."""
        code = self.process.wait(timeout)
        for reader in self._readers:
            reader.join(timeout)
        return code

    def stop(self):
        """SIGTERM; the exit code."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.wait()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.kill()
        if kind is not None:
            print(self.output())


def _has_address(args):
    names = ("--port", "--bind", "-b", "--uds", "--fd", "--host")
    return any(arg in names for arg in args)
