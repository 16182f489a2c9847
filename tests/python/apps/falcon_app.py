"""Falcon as WSGI: ``app``, and ``validated`` by wsgiref's checker."""

from wsgiref.validate import validator

import falcon

import common


class Json:
    def on_get(self, req, resp):
        resp.media = {"hello": "world", "q": req.get_param("q")}

    def on_post(self, req, resp):
        resp.media = req.get_media()


class Form:
    def on_post(self, req, resp):
        data = req.get_media()
        resp.media = {"name": data["name"], "tags": data["tags"]}


class Upload:
    def on_post(self, req, resp):
        found, note = {}, None
        for part in req.get_media():
            if part.name == "note":
                note = part.text
            else:
                found = common.digest(
                    common.read_all(part.stream.read),
                    filename=part.secure_filename,
                )
        resp.media = {**found, "note": note}


class Digest:
    def on_post(self, req, resp):
        resp.media = common.digest(common.read_all(req.bounded_stream.read))


class Stream:
    def __init__(self, make, kind="application/octet-stream"):
        self.make, self.kind = make, kind

    def on_get(self, req, resp):
        resp.content_type = self.kind
        resp.stream = self.make()


class Cookies:
    def on_get(self, req, resp):
        resp.media = dict(req.cookies)
        resp.set_cookie("a", "1", http_only=True, secure=False)
        resp.set_cookie("b", "2", http_only=False, secure=False)


class Error:
    def on_get(self, req, resp):
        raise common.BoomError


class Left:
    def on_get(self, req, resp):
        resp.media = {"left": len(common.left)}


app = falcon.App()
app.add_route("/json", Json())
app.add_route("/form", Form())
app.add_route("/upload", Upload())
app.add_route("/digest", Digest())
app.add_route("/download", Stream(common.pieces))
app.add_route("/events", Stream(common.events, "text/event-stream"))
app.add_route("/cookies", Cookies())
app.add_route("/error", Error())
app.add_route("/error-later", Stream(common.error_later))
app.add_route("/endless", Stream(common.endless))
app.add_route("/left", Left())

validated = validator(app)
