"""Litestar."""

from typing import Annotated, Any

from litestar import Litestar, Request, Response, get, post
from litestar.enums import RequestEncodingType
from litestar.params import Body
from litestar.response import Stream

import common

Urlencoded = Annotated[
    dict[str, Any], Body(media_type=RequestEncodingType.URL_ENCODED)
]
Multipart = Annotated[
    dict[str, Any], Body(media_type=RequestEncodingType.MULTI_PART)
]


@get("/json")
async def get_json(q: str | None = None) -> dict[str, Any]:
    return {"hello": "world", "q": q}


@post("/json", status_code=200)
async def post_json(data: Any) -> Any:
    return data


@post("/form", status_code=200)
async def form(data: Urlencoded) -> dict[str, Any]:
    return {"name": data["name"], "tags": data["tags"]}


@post("/upload", status_code=200)
async def upload(data: Multipart) -> dict[str, Any]:
    file = data["file"]
    return common.digest(
        common.read_all(file.file.read),
        note=data["note"],
        filename=file.filename,
    )


@post("/digest", status_code=200, request_max_body_size=None)
async def digest(request: Request) -> dict[str, Any]:
    found = common.Digest()
    async for piece in request.stream():
        found.add(piece)
    return found.result()


@get("/download")
async def download() -> Stream:
    return Stream(common.apieces())


@get("/events")
async def events() -> Stream:
    return Stream(common.aevents(), media_type="text/event-stream")


@get("/cookies")
async def cookies(request: Request) -> Response[dict[str, str]]:
    response = Response(request.cookies)
    response.set_cookie("a", "1", httponly=True)
    response.set_cookie("b", "2")
    return response


@get("/error")
async def error() -> None:
    raise common.BoomError


@get("/error-later")
async def error_later() -> Stream:
    return Stream(common.aerror_later())


@get("/endless")
async def endless() -> Stream:
    return Stream(common.aendless())


@get("/left")
async def left() -> dict[str, int]:
    return {"left": len(common.left)}


app = Litestar(
    [
        get_json,
        post_json,
        form,
        upload,
        digest,
        download,
        events,
        cookies,
        error,
        error_later,
        endless,
        left,
    ],
    openapi_config=None,
)
