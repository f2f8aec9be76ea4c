"""Who we are at the authorization server of a tool server.

A client of our own making is registered where the server's authorization server is new to us, or
does not know us any more; one that a manager has given stays with the first authorization server
that it was used at. So no secret is sent to a server that only says it were the other.

Source: RFC 7591, section 3; RFC 9700, section 4.4 (mix-up).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from mcp.client.auth.exceptions import OAuthFlowError
from mcp.client.auth.oauth2 import check_registration_usable
from mcp.client.auth.utils import handle_registration_response, issuers_match
from mcp.shared.auth import OAuthClientInformationFull

from backend.platform.database import in_database
from backend.platform.guarded_client import GuardedClient
from backend.tools.models import ToolServer
from backend.tools.oauth.discovery import GRANTS, Discovered
from backend.tools.oauth.errors import ClientNeeded, IssuerChanged, SignInFailed
from backend.tools.oauth_models import OAuthClient
from backend.tools.secrets import client_secret_decrypt, client_secret_encrypt
from backend.tools.types import stored_text

# By the first, the protocol's own servers take everything; by the second, no revocation.
_METHODS = ("client_secret_post", "client_secret_basic", "none")
_MAX_SECRET = 4_000
_SOON = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Client:
    """What is needed to speak to the authorization server as ourselves."""

    client_id: str
    secret: str
    auth_method: str
    issuer: str
    names_issuer: bool
    token_endpoint: str
    revocation_endpoint: str
    resource: str


def callback_url(server: ToolServer) -> str:
    """One for each server: an answer that another authorization server caused comes to the wrong
    one (RFC 9700, section 4.4.2.2)."""
    return f"{settings.PUBLIC_URL}/api/tool-servers/{server.pk}/callback"


def client_give(server: ToolServer, *, client_id: str, secret: str) -> None:
    """Use the client that a manager has made at the authorization server; what was given to
    another client is void."""
    OAuthClient.objects.update_or_create(
        server=server,
        defaults={
            **_forgotten(),
            "organization_id": server.organization_id,
            "is_given": True,
            "client_id": client_id,
            "encrypted_secret": _encrypted(server, secret),
        },
    )


def client_of(server: ToolServer) -> Client | None:
    """As it is stored."""
    row = OAuthClient.objects.filter(server=server).first()
    return _read(row) if row is not None else None


def client_forget(server: ToolServer, client_id: str) -> None:
    """The authorization server does not know it any more; one that was given stays."""
    OAuthClient.objects.filter(server=server, client_id=client_id, is_given=False).delete()


async def client_for(http: GuardedClient, server: ToolServer, found: Discovered) -> Client:
    """Who we are at the authorization server that was found, registered now where need be.

    Raises:
        ClientNeeded, IssuerChanged, SignInFailed. httpx2.HTTPError: no answer.
    """
    known = await in_database(_known, server, found)
    if known is not None:
        return known
    if not found.registration_endpoint:
        raise ClientNeeded(
            "The authorization server registers no clients by itself: make one there for"
            f" {callback_url(server)}, and give its id here.",
            param="client_id",
        )
    made = await _register(http, server, found)
    return await in_database(_client_save, server, found, made)


async def _register(
    http: GuardedClient, server: ToolServer, found: Discovered
) -> OAuthClientInformationFull:
    wanted = {
        "client_name": "Parley",
        "application_type": "web",
        "redirect_uris": [callback_url(server)],
        "grant_types": GRANTS,
        "response_types": ["code"],
        "token_endpoint_auth_method": _method(found),
        **({"scope": found.scope} if found.scope else {}),
    }
    response = await http.post(found.registration_endpoint, json=wanted)
    try:
        made = await handle_registration_response(response)
        check_registration_usable(made)
    except OAuthFlowError as error:
        why = stored_text(str(error))[:200]
        raise SignInFailed(f"The authorization server does not register us: {why}") from error
    if len(made.client_id) > 1000 or len(made.client_secret or "") > _MAX_SECRET:
        raise SignInFailed("The authorization server gave a client id or secret that is too long.")
    return made


def _method(found: Discovered) -> str:
    """How we prove who we are. RFC 8414: `client_secret_basic` where nothing is said."""
    offered = found.auth_methods or ("client_secret_basic",)
    for method in _METHODS:
        if method in offered:
            return method
    raise SignInFailed(f"The authorization server offers none of {', '.join(_METHODS)}.")


@transaction.atomic
def _known(server: ToolServer, found: Discovered) -> Client | None:
    """The stored client, with the endpoints as they are now; None where one is to be made."""
    row = OAuthClient.objects.select_for_update().filter(server=server).first()
    if row is None:
        return None
    if row.issuer and not issuers_match(row.issuer, found.issuer):
        if row.is_given:
            raise IssuerChanged(
                f"The client was used at {row.issuer[:200]}, and the tool server names"
                f" {found.issuer[:200]} now: give its client's id and secret anew."
            )
        return None
    if row.secret_expires_at is not None and row.secret_expires_at < timezone.now() + _SOON:
        return None
    if row.is_given:
        row.auth_method = _method(found) if row.encrypted_secret else "none"
    _found_in(row, found)
    row.save()
    return _read(row)


@transaction.atomic
def _client_save(server: ToolServer, found: Discovered, made: OAuthClientInformationFull) -> Client:
    ToolServer.objects.select_for_update().get(pk=server.pk)
    secret = made.client_secret or ""
    expires = made.client_secret_expires_at
    row = OAuthClient(
        server=server,
        organization_id=server.organization_id,
        client_id=made.client_id,
        encrypted_secret=_encrypted(server, secret),
        secret_expires_at=datetime.fromtimestamp(expires, UTC) if expires and secret else None,
        auth_method=made.token_endpoint_auth_method
        or ("client_secret_basic" if secret else "none"),
    )
    _found_in(row, found)
    OAuthClient.objects.filter(server=server).delete()
    row.save(force_insert=True)
    return _read(row)


def _found_in(row: OAuthClient, found: Discovered) -> None:
    row.issuer, row.names_issuer = found.issuer, found.names_issuer
    row.token_endpoint = found.token_endpoint
    row.revocation_endpoint = found.revocation_endpoint
    row.resource = found.resource


def _forgotten() -> dict[str, object]:
    return {
        "issuer": "",
        "names_issuer": False,
        "token_endpoint": "",
        "revocation_endpoint": "",
        "resource": "",
        "auth_method": "",
        "secret_expires_at": None,
    }


def _read(row: OAuthClient) -> Client:
    secret = row.encrypted_secret and client_secret_decrypt(
        row.encrypted_secret, organization_id=row.organization_id, server_id=row.server_id
    )
    return Client(
        client_id=row.client_id,
        secret=secret,
        auth_method=row.auth_method,
        issuer=row.issuer,
        names_issuer=row.names_issuer,
        token_endpoint=row.token_endpoint,
        revocation_endpoint=row.revocation_endpoint,
        resource=row.resource,
    )


def _encrypted(server: ToolServer, secret: str) -> str:
    return secret and client_secret_encrypt(
        secret, organization_id=server.organization_id, server_id=server.pk
    )
