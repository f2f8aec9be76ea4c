"""A person's way through the authorization server of a tool server, and back.

The session holds the sign-ins that the browser has begun: an answer counts once, in the browser
that asked, for the person and the organization that asked, at the address of the server that was
asked for. Where the browser goes afterwards is one of two pages of ours, and the query that it
brings is one of a few words: nothing of an answer is in either.
"""

import time
from typing import Any, Final, Literal
from urllib.parse import urlencode

import structlog
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from backend.accounts.principal import Principal
from backend.platform.database import in_database
from backend.platform.errors import NotFound, ParleyError
from backend.tools.models import ToolServer
from backend.tools.oauth.clients import callback_url, client_for, client_of
from backend.tools.oauth.connections import connection_refuse, connection_save
from backend.tools.oauth.discovery import discover, oauth_client
from backend.tools.oauth.errors import SignInRefused, UnknownSignIn
from backend.tools.oauth.exchange import (
    authorization_url,
    check_issuer,
    code_exchange,
    new_secret,
)

log = structlog.get_logger(__name__)

Page = Literal["settings", "organization"]
Outcome = Literal["connected", "refused", "failed", "unknown"]
_PAGES: dict[Page, str] = {"settings": "/settings", "organization": "/organization/tools"}
_ATTEMPTS: Final = "tool_sign_ins"
_ATTEMPT_S = 900
_MAX_ATTEMPTS = 5
_MAX_QUERY = 8_000


async def begin(
    request: HttpRequest, principal: Principal, server: ToolServer, *, page: Page
) -> str:
    """Where the browser goes to sign in. The attempt stays in its session until the answer.

    Raises:
        SignInFailed, ClientNeeded, IssuerChanged.
    """
    state, verifier = new_secret(), new_secret()
    async with oauth_client() as http:
        found = await discover(http, server.url)
        client = await client_for(http, server, found)
    attempt = {
        "server": str(server.pk),
        "user": str(principal.user_id),
        "organization": str(principal.organization_id),
        "client": client.client_id,
        "issuer": client.issuer,
        "verifier": verifier,
        "page": page,
        "at": time.time(),
    }
    await _remember(request, state, attempt)
    return authorization_url(
        found, client, state=state, verifier=verifier, redirect_uri=callback_url(server)
    )


async def finish(request: HttpRequest, principal: Principal, server: ToolServer) -> HttpResponse:
    """The authorization server's answer: connects, or leads to the page that says why not."""
    page: Page = "settings"
    try:
        attempt = await _recall(request, principal, server)
        page = attempt["page"]
        await _connect(request, principal, server, attempt)
        return _to(page, "connected")
    except UnknownSignIn:
        return _to(page, "unknown")
    except NotFound:
        raise
    except ParleyError as error:
        log.info("tool_sign_in_failed", server_id=str(server.pk), error=error.message)
        await in_database(
            connection_refuse, principal=principal, server=server, error=error.message
        )
        return _to(page, "refused" if isinstance(error, SignInRefused) else "failed")


async def _connect(
    request: HttpRequest, principal: Principal, server: ToolServer, attempt: dict[str, Any]
) -> None:
    """Raises SignInRefused, SignInFailed, UnknownSignIn."""
    client = await in_database(client_of, server)
    asked = (attempt["client"], attempt["issuer"])
    if client is None or (client.client_id, client.issuer) != asked:
        raise UnknownSignIn("The server's client was changed meanwhile; begin again.")
    # Also of a refusal: an answer that another server caused says nothing of this one.
    check_issuer(client, request.GET.get("iss"))
    code = request.GET.get("code", "")
    if not code:
        raise SignInRefused(request.GET.get("error", "it sent no code"))
    async with oauth_client() as http:
        granted = await code_exchange(
            http,
            client,
            code=code,
            verifier=attempt["verifier"],
            redirect_uri=callback_url(server),
        )
    await in_database(
        connection_save, principal=principal, server=server, client=client, granted=granted
    )


async def _remember(request: HttpRequest, state: str, attempt: dict[str, Any]) -> None:
    attempts: dict[str, Any] = await request.session.aget(_ATTEMPTS, {})
    attempts[state] = attempt
    newest = sorted(attempts, key=lambda one: attempts[one]["at"])[-_MAX_ATTEMPTS:]
    await request.session.aset(_ATTEMPTS, {one: attempts[one] for one in newest})


async def _recall(request: HttpRequest, principal: Principal, server: ToolServer) -> dict[str, Any]:
    """The attempt of this browser that the answer's state names, once. Raises UnknownSignIn."""
    if len(request.META.get("QUERY_STRING", "")) > _MAX_QUERY:
        raise UnknownSignIn("The answer is too long.")
    attempts: dict[str, Any] = await request.session.aget(_ATTEMPTS, {})
    attempt: dict[str, Any] | None = attempts.get(request.GET.get("state", ""))
    if attempt is None:
        raise UnknownSignIn("This answer belongs to no sign-in of this browser; begin again.")
    del attempts[request.GET["state"]]
    await request.session.aset(_ATTEMPTS, attempts)
    asked = (attempt["server"], attempt["user"], attempt["organization"])
    came = (str(server.pk), str(principal.user_id), str(principal.organization_id))
    if asked != came or time.time() - attempt["at"] > _ATTEMPT_S:
        raise UnknownSignIn("This answer belongs to another sign-in, or is late; begin again.")
    return attempt


def _to(page: Page, outcome: Outcome) -> HttpResponseRedirect:
    return HttpResponseRedirect(f"{_PAGES[page]}?{urlencode({'tool_sign_in': outcome})}")
