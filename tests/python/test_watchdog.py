"""The watchdog of a shutdown ends the process, whatever is in its way."""

import subprocess
import sys
import textwrap

import pytest

#: Far more than the watchdog needs, which bites at once here.
PATIENCE = 20

PROGRAM = """
    import logging, os, threading
    from xsgi import watchdog

    logging.basicConfig()
    watchdog.MARGIN = 0
    watchdog.LAST_WORDS = 0.2
    {before}
    print("hangs", flush=True)
    watchdog.Watchdog().start(0)
    threading.Event().wait()
"""

FULL_PIPE = """
    os.set_blocking(2, False)
    for size in (4096, 1):
        try:
            while True:
                os.write(2, b"x" * size)
        except BlockingIOError:
            pass
    os.set_blocking(2, True)
"""

HELD_LOCK = """
    logging.getLogger().handlers[0].acquire()
"""

RAISES = """
    def emit(record):
        raise SystemExit
    logging.getLogger().handlers[0].emit = emit
"""

NO_THREAD = """
    real = threading.Thread.start
    def start(thread):
        if thread.name.startswith("Thread-") and type(thread) is not (
            threading.Timer
        ):
            raise RuntimeError("can't start new thread")
        real(thread)
    threading.Thread.start = start
"""


def program(before):
    text = textwrap.dedent(PROGRAM)
    return text.format(before=textwrap.dedent(before))


def run(before):
    """The exit code, and what it said: read only when it has ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", program(before)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        process.wait(PATIENCE)
    finally:
        process.kill()
        out, said = process.communicate()
    assert out == b"hangs\n", said
    return process.returncode, said.decode()


def test_watchdog_says_that_it_ends_the_process():
    code, said = run("")

    assert code == 1
    assert said.startswith("CRITICAL:xsgi.error:The application does not")


@pytest.mark.parametrize(
    "before",
    [FULL_PIPE, HELD_LOCK, RAISES, NO_THREAD],
    ids=["full pipe", "held lock", "handler raises", "no thread"],
)
def test_watchdog_ends_the_process_when_it_cannot_say_so(before):
    code, said = run(before)

    assert code == 1
    assert "CRITICAL" not in said
