"""A search service that speaks SearXNG's, Brave's and Tavily's JSON, and pages of the web.

Its address is the one of WEB_PRIVATE_HOSTS in product_settings.py; `forbidden` is a second server
at 127.0.0.1, which no page may lead to.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

ADDRESS = "127.0.0.2"
HTML = "text/html; charset=utf-8"


class WebPages:
    """`pages` are (status, headers, body) by path; `results` what every search finds."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.results: list[dict[str, str]] = []
        self.queries: list[str] = []
        self.keys: set[str] = set()
        self.visited: list[str] = []
        self.reached: list[str] = []
        """Paths of `forbidden`."""
        self._servers = [
            ThreadingHTTPServer((ADDRESS, 0), _handler(self, self.visited)),
            ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, self.reached)),
        ]

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self._servers[0].server_port}"

    @property
    def forbidden(self) -> str:
        return f"http://127.0.0.1:{self._servers[1].server_port}"

    def page(self, path: str, body: str | bytes, *, kind: str = HTML, status: int = 200) -> str:
        """Its address, from now on."""
        data = body.encode() if isinstance(body, str) else body
        self.pages[path] = (status, {"Content-Type": kind}, data)
        return self.url + path

    def redirect(self, path: str, to: str) -> str:
        self.pages[path] = (302, {"Location": to}, b"")
        return self.url + path

    def start(self) -> None:
        for server in self._servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def answer(self, target: str, headers: Any, body: bytes) -> tuple[int, dict[str, str], bytes]:
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
        if path not in {"/search", "/brave", "/tavily"}:
            return self.pages.get(path, (404, {"Content-Type": HTML}, b"not here"))
        asked = json.loads(body)["query"] if path == "/tavily" else query["q"][0]
        if path == "/search" and query["format"] != ["json"]:
            return 403, {}, b""
        self.queries.append(asked)
        self.keys.add(headers.get("X-Subscription-Token") or headers.get("Authorization") or "")
        found: dict[str, Any] = {"results": self.results}
        if path == "/brave":
            results = [{**one, "description": one["content"]} for one in self.results]
            found = {"web": {"results": results}}
        return 200, {"Content-Type": "application/json"}, json.dumps(found).encode()


def _handler(pages: WebPages, visited: list[str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            visited.append(self.path)
            status, headers, body = pages.answer(self.path, self.headers, self.rfile.read(length))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Handler
