"""In the place of Werkzeug's tests/live_apps/run.py: xsgi serves its apps."""

import json
import os
import sys
from importlib import import_module

from werkzeug.wrappers import Request, Response

name, options = sys.argv[1], json.loads(sys.argv[2])
sys.path.insert(0, os.environ["XSGI_PATH"])
import xsgi  # noqa: E402

mod = import_module(f"{name}_app")


@Request.application
def app(request):
    if request.path == "/ensure":
        return Response()

    return Response.from_app(mod.app, request.environ)


hostname = options.get("hostname", "127.0.0.1")
if hostname.startswith("unix://"):
    bind = "unix:" + hostname.removeprefix("unix://")
else:
    bind = f"{hostname}:{options['port']}"
threads = 8 if options.get("threaded") else 1
xsgi.run(app, bind=[bind], threads=threads)
