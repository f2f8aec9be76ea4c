"""Servers on loopback that weights are fetched from: S3, and what answers as the hub does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from infra.services.ports import free_port
from tests.inference.serving import wait_for

S3_KEY, S3_SECRET = "engine", "a secret of the test"


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """rclone serving `folder`, whose folders are buckets; gives its URL."""
    address = f"127.0.0.1:{free_port()}"
    server = subprocess.Popen(
        [
            *(Path(sys.executable).with_name("rclone"), "serve", "s3", folder, "--addr", address),
            *("--auth-key", f"{S3_KEY},{S3_SECRET}", "--vfs-cache-mode", "off", "--quiet"),
            *("--dir-cache-time", "0s"),
        ],
        env={**os.environ, "RCLONE_CONFIG": os.devnull},
    )

    def answers() -> bool:
        assert server.poll() is None, "the S3 server ended while it started"
        try:
            httpx.get(f"http://{address}")
        except httpx.TransportError:
            return False
        return True

    try:
        wait_for(answers, timeout_s=60)
        yield f"http://{address}"
    finally:
        server.terminate()
        server.wait()


class Hub:
    """One model repository, by the routes of the hub's API that reading one needs."""

    def __init__(self, name: str, files: dict[str, bytes]) -> None:
        self.name = name
        self.files = files
        self.published: dict[str, str] = {}
        """The SHA-256 that it says of large files."""
        self.failures = 0
        """So many downloads are broken off after half of their bytes."""
        self.downloads: list[str] = []

    def answer(self, path: str) -> tuple[int, Any]:
        """Status, and an object to be sent as JSON or bytes as they are."""
        api = f"/api/models/{self.name}"
        if path == api or path.startswith(f"{api}/revision/"):
            return 200, {"id": self.name, "sha": "0" * 40, "siblings": [], "tags": []}
        if match := re.fullmatch(rf"{api}/tree/[^/?]+(?:/([^?]*))?(?:\?.*)?", path):
            if match[1]:
                return 404, {"error": "Entry not found"}
            return 200, [self.entry(name) for name in self.files]
        match = re.fullmatch(rf"/{self.name}/resolve/[^/]+/(.+)", path)
        if match and match[1] in self.files:
            self.downloads.append(match[1])
            return 200, self.files[match[1]]
        return 404, {"error": "Not found"}

    def entry(self, name: str) -> dict[str, Any]:
        content = self.files[name]
        oid = sha1(content, usedforsecurity=False).hexdigest()
        entry = {"type": "file", "path": name, "size": len(content), "oid": oid}
        if sha256 := self.published.get(name):
            entry["lfs"] = {"oid": sha256, "size": len(content), "pointerSize": 134}
        return entry


@contextmanager
def hub_server(hub: Hub) -> Iterator[str]:
    """Gives the URL for HF_ENDPOINT."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send(*hub.answer(self.path))

        do_HEAD = do_GET

        def do_POST(self) -> None:  # paths-info: which of these are there
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            asked = json.loads(body)["paths"] if body.startswith("{") else []
            self.send(200, [hub.entry(name) for name in asked if name in hub.files])

        def send(self, status: int, content: Any) -> None:
            body = content if isinstance(content, bytes) else json.dumps(content).encode()
            whole = len(body)
            wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            self.close_connection = True
            if wanted and isinstance(content, bytes):
                begin, end = int(wanted[1]), int(wanted[2] or whole - 1)
                status, body = 206, body[begin : end + 1]
            self.send_response(status)
            if status == 206:
                self.send_header("Content-Range", f"bytes {begin}-{begin + len(body) - 1}/{whole}")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")  # said, or the next request may meet the end
            self.send_header("X-Repo-Commit", "0" * 40)
            if status == 404:
                known = hub.name in self.path
                self.send_header("X-Error-Code", "EntryNotFound" if known else "RepoNotFound")
            self.send_header("ETag", f'"{sha1(body, usedforsecurity=False).hexdigest()}"')
            self.end_headers()
            if self.command != "HEAD":
                if isinstance(content, bytes) and hub.failures:
                    hub.failures -= 1
                    body = body[: len(body) // 2]
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
