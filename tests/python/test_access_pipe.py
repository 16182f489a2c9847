"""An access log that nobody reads costs lines, not answers."""

import os
import subprocess
import sys

import raw
import serving

REQUESTS = 3000


def test_full_log_pipe_neither_stops_answers_nor_the_stop():
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "xsgi", "serve", "life_app:wsgi",
         "--app-dir", str(serving.APPS), "--port", "0"],
        stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    os.close(writer)
    try:
        line = process.stderr.readline()
        port = int(line.partition("http://127.0.0.1:")[2].split()[0])
        with raw.Client(("127.0.0.1", port)) as client:
            answers = [client.get("/").status for _ in range(REQUESTS)]
        process.terminate()

        assert process.wait(serving.PATIENCE) == 0
        assert answers == [200] * REQUESTS
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
        os.close(reader)
