"""Starlette."""

from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

import common


async def echo_json(request):
    if request.method == "POST":
        return JSONResponse(await request.json())
    q = request.query_params.get("q")
    return JSONResponse({"hello": "world", "q": q})


async def form(request):
    data = await request.form()
    return JSONResponse({"name": data["name"], "tags": data.getlist("tags")})


async def upload(request):
    async with request.form() as data:
        file = data["file"]
        found = common.digest(
            common.read_all(file.file.read),
            note=data["note"],
            filename=file.filename,
        )
    return JSONResponse(found)


async def digest(request):
    found = common.Digest()
    async for piece in request.stream():
        found.add(piece)
    return JSONResponse(found.result())


async def download(request):
    return StreamingResponse(common.apieces())


async def events(request):
    return StreamingResponse(common.aevents(), media_type="text/event-stream")


async def cookies(request):
    response = JSONResponse(request.cookies)
    response.set_cookie("a", "1", httponly=True)
    response.set_cookie("b", "2")
    return response


async def error(request):
    raise common.BoomError


async def error_later(request):
    return StreamingResponse(common.aerror_later())


async def endless(request):
    return StreamingResponse(common.aendless())


async def left(request):
    return JSONResponse({"left": len(common.left)})


app = Starlette(
    routes=[
        Route("/json", echo_json, methods=["GET", "POST"]),
        Route("/form", form, methods=["POST"]),
        Route("/upload", upload, methods=["POST"]),
        Route("/digest", digest, methods=["POST"]),
        Route("/download", download),
        Route("/events", events),
        Route("/cookies", cookies),
        Route("/error", error),
        Route("/error-later", error_later),
        Route("/endless", endless),
        Route("/left", left),
    ]
)
