"""FastPySGI serves one of apps.py: python -m fastpysgi_one asgi|wsgi PORT"""

import sys

import fastpysgi

import apps

fastpysgi.server.hook_sigint = 1
fastpysgi.run(
    wsgi_app=getattr(apps, sys.argv[1]),
    host="127.0.0.1",
    port=int(sys.argv[2]),
    loglevel=0,
)
