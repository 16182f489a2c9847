"""A Flask site as it is while somebody works on it: under the debugger."""

import io

import flask
from flask import Flask, request, stream_with_context
from werkzeug.debug import DebuggedApplication

import common

site = Flask(__name__)
site.debug = True


@site.get("/error")
def error():
    secret_of_the_view = "kept for the console"  # noqa: F841
    raise common.BoomError("in a view")


@site.get("/stream")
def stream():
    @stream_with_context
    def words():
        for word in request.args.getlist("word"):
            yield word + "\n"

    return words(), {"Content-Type": "text/plain"}


@site.get("/stream-error")
def stream_error():
    @stream_with_context
    def words():
        yield request.args["word"]
        raise common.BoomError("in a stream")

    return words()


@site.get("/file")
def file():
    return flask.send_file(
        io.BytesIO(common.PIECE),
        mimetype="application/octet-stream",
        etag="an-etag",
        download_name="piece.bin",
    )


@site.get("/source")
def source():
    return flask.send_file(__file__, conditional=True)


app = DebuggedApplication(site, evalex=True, pin_security=False)
