"""From the URL of a tool server to the authorization server that it trusts.

The server's 401 names its metadata, which name the authorization server, whose own metadata name
its endpoints. Each document has to name itself as what was asked for, so that none can speak for
another. The protocol's own package knows where the documents are and how they are read.

Source: RFC 9728, sections 3 and 5; RFC 8414, section 3; RFC 7636.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
from django.conf import settings
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_oauth_metadata_request,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    issuers_match,
)
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from mcp_types import LATEST_PROTOCOL_VERSION

from backend.platform import outbound
from backend.platform.errors import InvalidRequest
from backend.platform.guarded_client import GuardedClient, guarded_client
from backend.tools.oauth.errors import SignInFailed
from backend.tools.types import TO_PRIVATE_SWITCH, stored_text

WHAT = "An address of signing in at a tool server"
TIMEOUT_S = 15.0
GRANTS = ["authorization_code", "refresh_token"]
_MAX_ADDRESS = 1000
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": LATEST_PROTOCOL_VERSION,
        "capabilities": {},
        "clientInfo": {"name": "Parley", "version": "1"},
    },
}


@dataclass(frozen=True, slots=True)
class Discovered:
    """Where people sign in for a tool server.

    Attributes:
        resource: what the tokens are for (RFC 8707).
        scope: what is asked for, "" for whatever the server gives.
        auth_methods: how a client may prove who it is; empty where that is not said.
        names_issuer: each answer has to name its issuer (RFC 9207).
    """

    resource: str
    scope: str
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str
    revocation_endpoint: str
    auth_methods: tuple[str, ...]
    names_issuer: bool


@asynccontextmanager
async def oauth_client() -> AsyncIterator[GuardedClient]:
    """The client of all of it. What a server does wrong is SignInFailed."""
    client = guarded_client(
        to_private=settings.TOOLS_TO_PRIVATE,
        what=WHAT,
        timeout_s=TIMEOUT_S,
        switch=TO_PRIVATE_SWITCH,
    )
    try:
        async with client:
            yield client
    except (httpx2.HTTPError, OSError, ValueError) as error:
        why = stored_text(str(error) or type(error).__name__)[:200]
        raise SignInFailed(f"The tool server's sign-in does not work: {why}") from error


async def discover(client: GuardedClient, url: str) -> Discovered:
    """Who lets people into the server at `url`.

    Raises:
        SignInFailed: what is missing or contradicts. httpx2.HTTPError: no answer.
    """
    challenge = await _challenge(client, url)
    resource = await _resource_metadata(
        client, extract_resource_metadata_from_www_auth(challenge), url
    )
    issuer = str(resource.authorization_servers[0])
    server = await _server_metadata(client, issuer, url)
    scope = get_client_metadata_scopes(
        extract_scope_from_www_auth(challenge), resource, server, GRANTS
    )
    return Discovered(
        resource=str(resource.resource),
        scope=scope or "",
        issuer=str(server.issuer),
        authorization_endpoint=_address(server, "authorization_endpoint"),
        token_endpoint=_address(server, "token_endpoint"),
        registration_endpoint=_address(server, "registration_endpoint"),
        revocation_endpoint=_address(server, "revocation_endpoint"),
        auth_methods=tuple(server.token_endpoint_auth_methods_supported or ()),
        names_issuer=bool(server.authorization_response_iss_parameter_supported),
    )


async def _challenge(client: GuardedClient, url: str) -> httpx2.Response:
    """The answer to who has not signed in; its body is not read."""
    request = client.build_request(
        "POST",
        url,
        content=json.dumps(_INITIALIZE),
        headers={
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        },
    )
    response = await client.send(request, stream=True)
    await response.aclose()
    return response


async def _resource_metadata(
    client: GuardedClient, named: str | None, url: str
) -> ProtectedResourceMetadata:
    for address in build_protected_resource_metadata_discovery_urls(named, url):
        response = await client.send(create_oauth_metadata_request(address))
        found = await handle_protected_resource_response(response)
        if found is None:
            continue
        wanted = resource_url_from_server_url(url)
        if not check_resource_allowed(wanted, str(found.resource)):
            raise SignInFailed(
                f"The tool server's metadata are of another resource: {str(found.resource)[:200]}"
            )
        return found
    raise SignInFailed(
        "The tool server does not say where to sign in: it has no OAuth protected resource"
        " metadata (RFC 9728)."
    )


async def _server_metadata(client: GuardedClient, issuer: str, url: str) -> OAuthMetadata:
    for address in build_oauth_authorization_server_metadata_discovery_urls(issuer, url):
        response = await client.send(create_oauth_metadata_request(address))
        goes_on, found = await handle_auth_metadata_response(response)
        if found is not None:
            _check(found, issuer)
            return found
        if not goes_on:
            break
    raise SignInFailed(f"{issuer[:200]} has no metadata of an authorization server (RFC 8414).")


def _check(server: OAuthMetadata, issuer: str) -> None:
    if not issuers_match(str(server.issuer), issuer):
        raise SignInFailed(f"{issuer[:200]} calls itself {str(server.issuer)[:200]}.")
    if "S256" not in (server.code_challenge_methods_supported or ()):
        raise SignInFailed(f"{issuer[:200]} does not say that it supports PKCE with S256.")


def _address(server: OAuthMetadata, name: str) -> str:
    """An endpoint to which a browser, or a secret, may be sent; "" where there is none."""
    found = getattr(server, name)
    if found is None:
        return ""
    address = str(found)
    try:
        outbound.check_url(
            address, to_private=settings.TOOLS_TO_PRIVATE, what=name, switch=TO_PRIVATE_SWITCH
        )
    except InvalidRequest as error:
        raise SignInFailed(f"The authorization server's metadata: {error.message}") from error
    if len(address) > _MAX_ADDRESS:
        raise SignInFailed(f"The authorization server's metadata: {name} is too long.")
    return address
