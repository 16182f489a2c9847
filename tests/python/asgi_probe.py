"""Talk to apps/asgi_app.py, for tests of the ASGI gateway."""

import json

from raw import Client
from serving import Served


class Probe(Served):
    """A server of asgi_app."""

    def __init__(self, *args, **options):
        super().__init__("asgi_app:app", *args, **options)

    def connect(self, **options):
        return Client(self.address, **options)

    def get(self, target, *fields):
        """The response to one request on a connection of its own."""
        with self.connect() as client:
            return client.get(target, *fields)

    def post(self, target, body, *fields):
        with self.connect() as client:
            client.request("POST", target, *fields, body=body)
            return client.response()

    def get_json(self, target, *fields):
        return json.loads(self.get(target, *fields).body)

    def seen(self, name):
        """What the application saw under that name; waits for it."""
        return self.get_json(f"/seen/{name}")

    def errors_about(self, path):
        """The lines of the log that speak of `path`, after one more request
        has been answered."""
        self.get("/hello")
        return [line for line in self.stderr if path in line]
