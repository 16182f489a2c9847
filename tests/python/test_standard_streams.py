"""A server whose standard streams are closed: their numbers are nobody's."""

import pytest

import raw

BOTH = pytest.mark.parametrize("app", ["life_app:asgi", "life_app:wsgi"])
CLOSED = pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])


@BOTH
@CLOSED
def test_server_with_closed_streams_serves_and_stops(
    serve, tmp_path, app, closed
):
    """What the application prints (here to 1) reaches no client."""
    release = tmp_path / "release"
    release.touch()
    server = serve(
        app,
        launcher=("sh", "-c", f'exec "$@" {closed}', "sh"),
        env={"RELEASE": str(release)},
    )

    with raw.Client(server.address) as one, raw.Client(server.address) as two:
        assert one.get("/").body == b"hello"
        assert two.get("/stuck").body == b"stuck"
        assert one.get("/").body == b"hello"

        assert server.stop() == 0

        assert one.is_closed()
        assert two.is_closed()
    assert server.stderr[-1] == "INFO:     stopped"
