"""What a tool server says of signing in leads to no address inside, whichever document names it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from backend.platform.guarded_client import AnswerRefused, guarded_client
from backend.tools.oauth.clients import Client
from backend.tools.oauth.discovery import WHAT, discover
from backend.tools.oauth.exchange import code_exchange, token_refresh, token_revoke
from tests.support.mcp_server import Asgi, ToolServer

INSIDE = ["https://169.254.169.254/x", "https://10.0.0.1/x", "https://[::1]/x", "https://127.0.0.1"]


@pytest.fixture
def server() -> Iterator[ToolServer]:
    running = ToolServer()
    running.start()
    yield running
    running.stop()


def documents(resource: str, named: str, issuers: list[str]) -> Asgi:
    """A server that asks for a sign-in, and whose metadata are at `named`."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        is_metadata = scope["path"].startswith("/.well-known/oauth-protected-resource")
        challenge = f'Bearer resource_metadata="{named}"'.encode()
        body = {"resource": resource, "authorization_servers": issuers} if is_metadata else {}
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", challenge)]
        status = 200 if is_metadata else 401
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    return application


def at_localhost(server: ToolServer) -> str:
    """By its name, which alone is let pass."""
    return server.url.replace("127.0.0.1", "localhost")


def guarded() -> Any:
    return guarded_client(to_private=False, what=WHAT, timeout_s=5.0, private_hosts={"localhost"})


@pytest.mark.parametrize("inside", INSIDE)
async def test_metadata_of_the_server_are_not_fetched_from_inside(
    server: ToolServer, inside: str
) -> None:
    url = at_localhost(server)
    server.answers_as = documents(url, inside, ["https://accounts.example"])
    async with guarded() as client:
        with pytest.raises(AnswerRefused, match="not a public address"):
            await discover(client, url)


@pytest.mark.parametrize("inside", INSIDE)
async def test_metadata_of_the_authorization_server_are_not_fetched_from_inside(
    server: ToolServer, inside: str
) -> None:
    url = at_localhost(server)
    named = url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
    server.answers_as = documents(url, named, [inside])
    async with guarded() as client:
        with pytest.raises(AnswerRefused, match="not a public address"):
            await discover(client, url)


@pytest.mark.parametrize("inside", INSIDE)
async def test_codes_and_tokens_are_not_sent_inside(inside: str) -> None:
    us = Client(
        "us", "secret", "client_secret_basic", "https://a.example", False, inside, inside, "r"
    )
    async with guarded() as client:
        with pytest.raises(AnswerRefused, match="not a public address"):
            await code_exchange(client, us, code="c", verifier="v", redirect_uri="https://b")
        with pytest.raises(AnswerRefused, match="not a public address"):
            await token_refresh(client, us, "refresh")
        with pytest.raises(AnswerRefused, match="not a public address"):
            await token_revoke(client, us, "refresh")
