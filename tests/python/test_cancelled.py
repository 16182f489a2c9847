"""An application that cancels all tasks of the server, or stops its loop."""

import pytest

import raw

APP = """
import asyncio

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
    if scope["path"] == "/":
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task():
                task.cancel()
    headers = [(b"content-length", b"5")]
    await send(
        {"type": "http.response.start", "status": 200, "headers": headers}
    )
    await send({"type": "http.response.body", "body": b"hello"})
"""


@pytest.mark.parametrize("loop", ["xsgi", "asyncio", "uvloop"])
@pytest.mark.parametrize("lifespan", ["auto", "off"])
def test_cancelling_all_tasks_stops_the_server_with_a_line(
    serve, tmp_path, loop, lifespan
):
    pytest.importorskip("uvloop" if loop == "uvloop" else "asyncio")
    (tmp_path / "all_cancelled.py").write_text(APP)
    server = serve(
        "all_cancelled:app",
        *("--loop", loop, "--lifespan", lifespan),
        app_dir=tmp_path,
    )

    with raw.Client(server.address) as client:
        assert client.get("/").body == b"hello"
        assert client.is_closed()

    assert server.wait() == 1
    assert server.stderr[-1] == (
        "xsgi: The application has cancelled the task of the server: stopped."
    )
    assert "Traceback" not in server.output()


STOPS = """
import asyncio

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        for _ in range(2):
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            print(message["type"], flush=True)
        return
    headers = [(b"content-length", b"5")]
    await send(
        {"type": "http.response.start", "status": 200, "headers": headers}
    )
    if scope["path"] == "/held":
        print("held", flush=True)
        while not stopped:
            await asyncio.sleep(0.01)
        for _ in range(3):
            asyncio.get_running_loop().stop()
            await asyncio.sleep(0.01)
    else:
        stopped.append(asyncio.get_running_loop().stop())
    await send({"type": "http.response.body", "body": b"hello"})

stopped = []
"""


@pytest.mark.parametrize("loop", ["xsgi", "asyncio", "uvloop"])
def test_stopping_the_loop_is_a_graceful_stop_with_a_line(
    serve, tmp_path, loop
):
    pytest.importorskip("uvloop" if loop == "uvloop" else "asyncio")
    (tmp_path / "all_stopped.py").write_text(STOPS)
    server = serve("all_stopped:app", "--loop", loop, app_dir=tmp_path)

    with raw.Client(server.address) as held, raw.Client(server.address) as one:
        held.request("GET", "/held")
        server.wait_for_line("held", "stdout")
        assert one.get("/").body == b"hello"
        assert held.response().body == b"hello"

    assert server.wait() == 1
    assert server.stdout[-1] == "lifespan.shutdown"
    assert server.stderr[-1] == (
        "xsgi: The application has stopped the event loop: stopped."
    )
    assert "Traceback" not in server.output()
