"""Answers from addresses that customers chose cost little, whatever their servers send."""

import gzip
import ssl
import threading
import tracemalloc
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import brotli
import httpx2
import pytest

from backend.enterprise.outbound import get_json
from backend.platform.errors import UpstreamFailed
from backend.platform.guarded_client import AnswerRefused, bounded_post, guarded_client
from tests.billing.receivers import Receiver
from tests.support.certificates import Authority

UNPACKED = b" " * 100_000_000


def zstd_of_spaces(blocks: int) -> bytes:
    """A frame of RLE blocks, each 128 KiB when unpacked (RFC 8878, sections 3.1.1.1 and 3.1.1.2).

    Python has no zstd before 3.14.
    """
    header = bytes.fromhex("28b52ffd") + b"\x00\x38"  # window of 128 KiB, no content size
    block = (131_072 << 3 | 1 << 1).to_bytes(3, "little") + b" "
    last = (131_072 << 3 | 1 << 1 | 1).to_bytes(3, "little") + b" "
    return header + block * (blocks - 1) + last


BOMBS = {
    "gzip": gzip.compress(UNPACKED, 1),
    "deflate": zlib.compress(UNPACKED, 1),
    "br": brotli.compress(UNPACKED, quality=1),
    "zstd": zstd_of_spaces(800),
}
MAX_BYTES = 100_000


class Server:
    """Answers every GET with `body`; without one it sends zeros for as long as somebody reads."""

    def __init__(self) -> None:
        self.body: bytes | None = None
        self.encoding = "identity"
        self.accepted: list[str] = []
        self.clients: set[Any] = set()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.accepted.append(self.headers["Accept-Encoding"])
                server.clients.add(self.client_address)
                self.send_response(200)
                self.send_header("Content-Encoding", server.encoding)
                if server.body is None:
                    self.send_header("Connection", "close")
                else:
                    self.send_header("Content-Length", str(len(server.body)))
                self.end_headers()
                try:
                    if server.body is not None:
                        self.wfile.write(server.body)
                    while server.body is None:
                        self.wfile.write(bytes(65_536))
                except OSError:
                    pass

            do_POST = do_GET

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


async def test_certificate_that_is_not_trusted_is_refused(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    receiver = Receiver(authority.server_context("provider"))
    try:
        async with guarded_client(to_private=True, what="A server", timeout_s=10) as client:
            with pytest.raises(httpx2.ConnectError, match="certificate"):
                await client.post(receiver.url, content=b"{}")
        assert receiver.requests == []
        trusting = ssl.create_default_context(cafile=str(authority.file))
        async with httpx2.AsyncClient(verify=trusting) as client:
            assert (await client.post(receiver.url, content=b"{}")).status_code == 200
    finally:
        receiver.stop()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


async def fetch(url: str) -> httpx2.Response:
    async with guarded_client(
        to_private=True, what="A URL", timeout_s=10.0, max_bytes=MAX_BYTES
    ) as client:
        return await client.get(url)


@pytest.mark.parametrize("encoding", BOMBS)
async def test_compressed_answer_is_refused_unread(server: Server, encoding: str) -> None:
    server.body, server.encoding = BOMBS[encoding], encoding
    with pytest.raises(AnswerRefused, match="compressed"):
        await fetch(server.url)
    assert server.accepted == ["identity"]


@pytest.mark.parametrize("encoding", BOMBS)
async def test_identity_provider_cannot_fill_memory(
    server: Server, encoding: str, settings: Any
) -> None:
    settings.SSO_TO_PRIVATE = True
    server.body, server.encoding = BOMBS[encoding], encoding
    tracemalloc.start()
    try:
        with pytest.raises(UpstreamFailed):
            await get_json(server.url)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


async def test_answer_without_end_is_refused_at_its_bound(server: Server) -> None:
    with pytest.raises(AnswerRefused, match="too long"):
        await fetch(server.url)


async def test_answer_within_the_bound_is_read(server: Server) -> None:
    server.body = b"x" * MAX_BYTES
    assert len((await fetch(server.url)).content) == MAX_BYTES


@pytest.mark.parametrize("encoding", BOMBS)
async def test_unread_compressed_body_is_no_failure(server: Server, encoding: str) -> None:
    server.body, server.encoding = BOMBS[encoding], encoding
    async with (
        guarded_client(to_private=True, what="A URL", timeout_s=10.0, reads_body=False) as client,
        client.stream("GET", server.url) as response,
    ):
        assert response.status_code == 200


async def test_names_at_one_address_share_no_connection(server: Server) -> None:
    server.body = b"{}"
    named = server.url.replace("127.0.0.1", "localhost")
    async with guarded_client(to_private=True, what="A URL", timeout_s=10.0) as client:
        for url in (server.url, server.url, named):
            assert (await client.get(url)).status_code == 200
    assert len(server.clients) == 2


@pytest.mark.parametrize("encoding", BOMBS)
def test_answer_to_an_operators_address_has_a_bound_too(server: Server, encoding: str) -> None:
    server.body, server.encoding = BOMBS[encoding], encoding
    with pytest.raises(AnswerRefused, match="compressed"):
        bounded_post(server.url, timeout_s=10.0)
    server.body, server.encoding = None, "identity"
    with pytest.raises(AnswerRefused, match="too long"):
        bounded_post(server.url, timeout_s=10.0)
