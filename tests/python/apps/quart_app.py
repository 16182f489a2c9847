"""Quart."""

from quart import Quart, jsonify, request

import common

app = Quart(__name__)
app.config["MAX_CONTENT_LENGTH"] = None
app.config["RESPONSE_TIMEOUT"] = None


@app.get("/json")
async def get_json():
    return {"hello": "world", "q": request.args.get("q")}


@app.post("/json")
async def post_json():
    return await request.get_json()


@app.post("/form")
async def form():
    data = await request.form
    return {"name": data["name"], "tags": data.getlist("tags")}


@app.post("/upload")
async def upload():
    file = (await request.files)["file"]
    return common.digest(
        common.read_all(file.stream.read),
        note=(await request.form)["note"],
        filename=file.filename,
    )


@app.post("/digest")
async def digest():
    found = common.Digest()
    async for piece in request.body:
        found.add(piece)
    return found.result()


@app.get("/download")
async def download():
    return common.apieces()


@app.get("/events")
async def events():
    return common.aevents(), {"content-type": "text/event-stream"}


@app.get("/cookies")
async def cookies():
    response = jsonify(dict(request.cookies))
    response.set_cookie("a", "1", httponly=True)
    response.set_cookie("b", "2")
    return response


@app.get("/error")
async def error():
    raise common.BoomError


@app.get("/error-later")
async def error_later():
    return common.aerror_later()


@app.get("/endless")
async def endless():
    return common.aendless()


@app.get("/left")
async def left():
    return {"left": len(common.left)}
