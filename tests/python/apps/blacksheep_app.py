"""BlackSheep."""

from blacksheep import Application, Cookie, Response, StreamedContent, json

import common

app = Application()


def _stream(make, kind=b"application/octet-stream"):
    return Response(200, content=StreamedContent(kind, make))


@app.router.get("/json")
async def get_json(request):
    q = request.query.get("q")
    return json({"hello": "world", "q": q[0] if q else None})


@app.router.post("/json")
async def post_json(request):
    return json(await request.json())


@app.router.post("/form")
async def form(request):
    data = await request.form()
    return json({"name": data["name"], "tags": data["tags"]})


@app.router.post("/upload")
async def upload(request):
    data = await request.form()
    (file,) = data["file"]
    return json(
        common.digest(
            common.read_all(file.file.read),
            note=data["note"],
            filename=file.file_name.decode(),
        )
    )


@app.router.post("/digest")
async def digest(request):
    found = common.Digest()
    async for piece in request.stream():
        found.add(piece)
    return json(found.result())


@app.router.get("/download")
async def download(request):
    return _stream(common.apieces)


@app.router.get("/events")
async def events(request):
    return _stream(common.aevents, b"text/event-stream")


@app.router.get("/cookies")
async def cookies(request):
    response = json(dict(request.cookies))
    response.set_cookie(Cookie("a", "1", http_only=True))
    response.set_cookie(Cookie("b", "2"))
    return response


@app.router.get("/error")
async def error(request):
    raise common.BoomError


@app.router.get("/error-later")
async def error_later(request):
    return _stream(common.aerror_later)


@app.router.get("/endless")
async def endless(request):
    return _stream(common.aendless)


@app.router.get("/left")
async def left(request):
    return json({"left": len(common.left)})
