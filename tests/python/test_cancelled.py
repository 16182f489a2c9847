"""An application that cancels all tasks, the server's too."""

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
