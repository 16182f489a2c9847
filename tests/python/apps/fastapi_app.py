"""FastAPI: some endpoints async, some on its thread pool."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, File, Form, Request, UploadFile
from fastapi.responses import JSONResponse, StreamingResponse

import common

app = FastAPI()


@app.get("/json")
def get_json(q: str | None = None):
    return {"hello": "world", "q": q}


@app.post("/json")
async def post_json(data: Annotated[Any, Body()]):
    return data


@app.post("/form")
async def form(
    name: Annotated[str, Form()], tags: Annotated[list[str], Form()]
):
    return {"name": name, "tags": tags}


@app.post("/upload")
def upload(note: Annotated[str, Form()], file: Annotated[UploadFile, File()]):
    return common.digest(
        common.read_all(file.file.read), note=note, filename=file.filename
    )


@app.post("/digest")
async def digest(request: Request):
    found = common.Digest()
    async for piece in request.stream():
        found.add(piece)
    return found.result()


@app.get("/download")
async def download():
    return StreamingResponse(common.apieces())


@app.get("/events")
async def events():
    return StreamingResponse(common.aevents(), media_type="text/event-stream")


@app.get("/cookies")
async def cookies(request: Request):
    response = JSONResponse(request.cookies)
    response.set_cookie("a", "1", httponly=True)
    response.set_cookie("b", "2")
    return response


@app.get("/error")
def error():
    raise common.BoomError


@app.get("/error-later")
async def error_later():
    return StreamingResponse(common.aerror_later())


@app.get("/endless")
async def endless():
    return StreamingResponse(common.aendless())


@app.get("/left")
def left():
    return {"left": len(common.left)}
