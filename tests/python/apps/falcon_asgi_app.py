"""Falcon as ASGI."""

import falcon.asgi

import common


class Json:
    async def on_get(self, req, resp):
        resp.media = {"hello": "world", "q": req.get_param("q")}

    async def on_post(self, req, resp):
        resp.media = await req.get_media()


class Form:
    async def on_post(self, req, resp):
        data = await req.get_media()
        resp.media = {"name": data["name"], "tags": data["tags"]}


class Upload:
    async def on_post(self, req, resp):
        found, note = common.Digest(), None
        async for part in await req.get_media():
            if part.name == "note":
                note = await part.text
                continue
            filename = part.secure_filename
            while piece := await part.stream.read(64 * 1024):
                found.add(piece)
        resp.media = found.result(note=note, filename=filename)


class Digest:
    async def on_post(self, req, resp):
        found = common.Digest()
        async for piece in req.stream:
            found.add(piece)
        resp.media = found.result()


class Stream:
    def __init__(self, make, kind="application/octet-stream"):
        self.make, self.kind = make, kind

    async def on_get(self, req, resp):
        resp.content_type = self.kind
        resp.stream = self.make()


class Cookies:
    async def on_get(self, req, resp):
        resp.media = dict(req.cookies)
        resp.set_cookie("a", "1", http_only=True, secure=False)
        resp.set_cookie("b", "2", http_only=False, secure=False)


class Error:
    async def on_get(self, req, resp):
        raise common.BoomError


class Left:
    async def on_get(self, req, resp):
        resp.media = {"left": len(common.left)}


app = falcon.asgi.App()
app.add_route("/json", Json())
app.add_route("/form", Form())
app.add_route("/upload", Upload())
app.add_route("/digest", Digest())
app.add_route("/download", Stream(common.apieces))
app.add_route("/events", Stream(common.aevents, "text/event-stream"))
app.add_route("/cookies", Cookies())
app.add_route("/error", Error())
app.add_route("/error-later", Stream(common.aerror_later))
app.add_route("/endless", Stream(common.aendless))
app.add_route("/left", Left())
