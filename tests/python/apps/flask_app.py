"""Flask, plain (``app``) and under wsgiref's checker (``validated``)."""

from wsgiref.validate import validator

import flask
from flask import Flask, request

import common

app = Flask(__name__)


@app.get("/json")
def get_json():
    return {"hello": "world", "q": request.args.get("q")}


@app.post("/json")
def post_json():
    return request.get_json()


@app.post("/form")
def form():
    data = request.form
    return {"name": data["name"], "tags": data.getlist("tags")}


@app.post("/upload")
def upload():
    file = request.files["file"]
    return common.digest(
        common.read_all(file.stream.read),
        note=request.form["note"],
        filename=file.filename,
    )


@app.post("/digest")
def digest():
    return common.digest(common.read_all(request.stream.read))


@app.get("/download")
def download():
    return flask.Response(common.pieces())


@app.get("/events")
def events():
    return flask.Response(common.events(), mimetype="text/event-stream")


@app.get("/cookies")
def cookies():
    response = flask.jsonify(dict(request.cookies))
    response.set_cookie("a", "1", httponly=True)
    response.set_cookie("b", "2")
    return response


@app.get("/error")
def error():
    raise common.BoomError


@app.get("/error-later")
def error_later():
    return flask.Response(common.error_later())


@app.get("/endless")
def endless():
    return flask.Response(common.endless())


@app.get("/left")
def left():
    return {"left": len(common.left)}


_checked = validator(app)


def validated(environ, start_response):
    # Where the server promises an end of the input, Flask reads without a
    # size, which the checker, older than that promise, forbids.
    environ.pop("wsgi.input_terminated", None)
    return _checked(environ, start_response)
