"""A stand-in for an engine: it says that it is ready, and nothing else."""

import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from infra.services.ports import LOOPBACK


class Ready(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    HTTPServer((LOOPBACK, int(os.environ["PARLEY_ENGINE_PORT"])), Ready).serve_forever()
