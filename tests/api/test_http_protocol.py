"""A request that offers another protocol is answered as if it did not (RFC 9110, 7.8)."""

import json
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

import pytest

from tests.api.users import sign_up
from tests.support.scripted import ScriptedProduct

# As JDK's HttpClient sends it with each request to an address with http://.
H2C = (
    b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    b"HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n"
)
WEBSOCKET = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
HANDSHAKE = (
    WEBSOCKET + b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
OFFERS = [
    pytest.param(H2C, id="h2c"),
    pytest.param(WEBSOCKET, id="websocket"),
    pytest.param(HANDSHAKE, id="websocket handshake"),
    pytest.param(
        b"Connection: keep-alive\r\nConnection: upgrade\r\nUpgrade: TLS/1.0\r\n", id="tls"
    ),
    pytest.param(b"Connection: upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n", id="two"),
]
LAST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def secret(scripted_product: ScriptedProduct) -> str:
    person = sign_up(scripted_product.url)
    scripted_product.give_largest_plan(person.organization_id)
    return str(person.new_key()["secret"])


def exchange(url: str, parts: Sequence[bytes]) -> bytes:
    """What a connection answers until it is closed; each part is sent alone."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            connection.sendall(part)
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
    return received


def chat(secret: str, headers: bytes, *, stream: bool = False) -> tuple[bytes, bytes]:
    """The header and the body of a POST that asks for an answer."""
    message = {"role": "user", "content": "Hi"}
    body = json.dumps({"model": "smollm2-135m", "messages": [message], "stream": stream}).encode()
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {secret}\r\nContent-Type: application/json\r\n"
    )
    return head.encode() + headers, body


def statuses(received: bytes) -> list[int]:
    return [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("offer", OFFERS)
def test_post_with_an_offer_keeps_its_body(
    scripted_product: ScriptedProduct, secret: str, offer: bytes, stream: bool
) -> None:
    scripted_product.says("Good morning")
    head, body = chat(secret, offer, stream=stream)
    head += b"Content-Length: %d\r\n\r\n" % len(body)
    received = exchange(scripted_product.url, [head + body + LAST])
    assert statuses(received) == [200, 200]
    assert b"morning" in received
    apart = exchange(scripted_product.url, [head[:90], head[90:], body[:9], body[9:], LAST])
    assert statuses(apart) == [200, 200]


def test_chunked_post_with_an_offer_keeps_its_body(
    scripted_product: ScriptedProduct, secret: str
) -> None:
    scripted_product.says("Good morning")
    head, body = chat(secret, H2C + b"Transfer-Encoding: chunked\r\n\r\n")
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:9], body[9:]))
    received = exchange(scripted_product.url, [head, chunks + b"0\r\n\r\n" + LAST])
    assert statuses(received) == [200, 200]
    assert b"morning" in received


@pytest.mark.parametrize("offer", OFFERS)
@pytest.mark.parametrize("method", [b"POST", b"GET", b"PUT"])
def test_body_is_not_read_as_the_next_request(
    scripted_product: ScriptedProduct, method: bytes, offer: bytes
) -> None:
    head = b"%s /api/auth/login HTTP/1.1\r\nHost: localhost\r\n%s" % (method, offer)
    head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN)
    for parts in ([head + HIDDEN, LAST], [head, HIDDEN, LAST]):
        assert len(statuses(exchange(scripted_product.url, parts))) == 2


@pytest.mark.parametrize(
    "lengths",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"Content-Length: +5\r\n",
        b"Content-Length: 5\r\n Transfer-Encoding: chunked\r\n",
    ],
)
def test_ambiguous_length_is_refused_beside_an_offer(
    scripted_product: ScriptedProduct, lengths: bytes
) -> None:
    head = b"POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\n"
    hidden = b"0\r\n\r\n" + HIDDEN
    received = exchange(scripted_product.url, [head + H2C + lengths + b"\r\n" + hidden])
    assert statuses(received) == [400]
    assert b"connection: close" in received


def test_offers_of_pipelined_requests_are_ignored(scripted_product: ScriptedProduct) -> None:
    get = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    received = exchange(scripted_product.url, [(get + H2C + b"\r\n") * 3 + get + b"\r\n" + LAST])
    assert statuses(received) == [200] * 5


def test_tunnel_is_refused_and_the_connection_closed(scripted_product: ScriptedProduct) -> None:
    tunnel = b"CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert statuses(exchange(scripted_product.url, [tunnel + HIDDEN])) == [400]
