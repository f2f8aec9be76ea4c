"""A browser's way through its organization's identity provider, and what its session is worth.

The session holds the sign-ins that it has begun (`_ATTEMPTS`), and afterwards whose provider it
came from (`SSO_ORGANIZATION`): such a session is confined to that organization, and changes
nothing of what opens the account elsewhere (password, address, second factors).
"""

import asyncio
import secrets
import time
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

import structlog
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from backend.accounts.models import User
from backend.accounts.sessions import SSO_ORGANIZATION, sso_sessions_end
from backend.api import throttling
from backend.api.authentication import SESSION_ORGANIZATION
from backend.api.sign_in import session_start
from backend.audit.actions import Action
from backend.audit.services import Actor, record
from backend.enterprise import oidc, saml
from backend.enterprise.connections import connection_by_id
from backend.enterprise.errors import sso_refused
from backend.enterprise.group_grants import PROVIDER
from backend.enterprise.identities import Claims, identity_sign_in
from backend.enterprise.models import Connection, Identity, Protocol
from backend.enterprise.saml_logout import (
    logout_at_provider_url,
    logout_of_post,
    logout_of_request,
)
from backend.platform.database import in_database
from backend.platform.errors import ParleyError

log = structlog.get_logger(__name__)

_ATTEMPTS: Final = "sso_attempts"
# Of a session that a provider began: what signs it out there.
_AT_PROVIDER: Final = "sso_at_provider"
_LOGOUT_S = 3.0
_ATTEMPT_S = 900
_MAX_ATTEMPTS = 5
_TICKET_S = 120


async def begin(
    request: HttpRequest, connection: Connection, *, email: str = "", next_page: str = ""
) -> str:
    """Begin a sign-in: the provider's page for it. The attempt stays in the session.

    Args:
        email: which address was entered, for the provider's form.
        next_page: a path of ours, where the sign-in leads in the end.
    """
    if connection.protocol == Protocol.OIDC:
        attempt = oidc.Attempt.new()
        url = await oidc.authorization_url(connection, attempt, email=email)
        await _remember(request, attempt.state, connection, asdict(attempt), next_page)
        return url
    url, request_id = await in_database(saml.authorization_url, connection)
    await _remember(request, request_id, connection, {}, next_page)
    return url


async def finish_oidc(request: HttpRequest) -> HttpResponse:
    """The provider's answer, a code. Signs in, or leads to the sign-in page, which says why not."""
    connection = None
    try:
        if len(request.META.get("QUERY_STRING", "")) > 8000:
            raise sso_refused("The identity provider's answer is too long.")
        connection, noted, next_page = await _recall(request, request.GET.get("state", ""))
        code = request.GET.get("code", "")
        if not code:
            why = request.GET.get("error", "it sent no code")[:100]
            raise sso_refused(f"The identity provider refused: {why}.")
        claims, id_token = await oidc.claims_of_code(connection, oidc.Attempt(**noted), code)
        answer = await _signed_in(request, connection, claims, next_page)
        await request.session.aset(
            _AT_PROVIDER, {"connection": str(connection.pk), "id_token": id_token}
        )
        await throttling.forgive_sso_answer(request)
        return answer
    except ParleyError as error:
        return await _to_sign_in(error, connection)


async def receive_saml(request: HttpRequest, connection: Connection, response: str) -> HttpResponse:
    """The provider's answer, posted from its page, so without our cookie: it is checked, kept for
    a moment, and taken up by the browser's next request, which has the cookie."""
    try:
        assertion = await in_database(saml.assertion_of_response, connection, response)
    except ParleyError as error:
        return await _to_sign_in(error, connection)
    await throttling.forgive_sso_answer(request)
    if not assertion.request_id:  # the provider began: it belongs to no browser
        return HttpResponseRedirect(start_url(connection.pk))
    ticket = secrets.token_urlsafe(32)
    await cache.aset(
        _ticket_key(ticket),
        {
            "request": assertion.request_id,
            "claims": asdict(assertion.claims),
            "session": asdict(assertion.session),
        },
        _TICKET_S,
    )
    return HttpResponseRedirect(f"/api/auth/sso/saml/finish?{urlencode({'ticket': ticket})}")


async def start(request: HttpRequest, connection: Connection) -> HttpResponse:
    """What a provider starts by itself (an unsolicited SAML answer, OIDC's initiate_login_uri, a
    tile of its portal) begins a sign-in of this browser, so that the answer to that is its own."""
    try:
        if not connection.allows_idp_initiated:
            raise sso_refused("Begin at this page's sign-in: nothing else begins one here.")
        return HttpResponseRedirect(await begin(request, connection))
    except ParleyError as error:
        return await _to_sign_in(error, connection)


async def logout_by_provider(request: HttpRequest, connection: Connection) -> HttpResponse:
    """The provider signs a person out, by redirect or POST: their sessions that it began end, in
    every browser. Its answer to a logout that began here needs nothing more."""
    if "SAMLResponse" in request.GET or "SAMLResponse" in request.POST:
        return HttpResponseRedirect("/login")
    try:
        if request.method == "POST":
            posted = (request.POST.get("SAMLRequest", ""), request.POST.get("RelayState", ""))
            asked = await in_database(logout_of_post, connection, *posted)
        else:
            asked = await in_database(logout_of_request, connection, request.GET.dict())
    except ParleyError as error:
        return await _to_sign_in(error, None)
    await throttling.forgive_sso_answer(request)
    if asked.user is not None:
        await in_database(_sessions_end, asked.user, connection)
    return HttpResponseRedirect(asked.answer_url)


async def backchannel_logout(connection: Connection, token: str) -> None:
    """An OIDC provider tells that a person has signed out there: the sessions that it began end.

    Raises PermissionDenied: a token that is not for us, forged, or used before. UpstreamFailed.
    """
    read = await oidc.logout_token_read(connection, token)
    await in_database(_subject_signed_out, connection, read)


def _subject_signed_out(connection: Connection, token: oidc.LogoutToken) -> None:
    saml.use_once(connection, token.id, until=token.expires_at)
    identity = Identity.objects.filter(connection=connection, subject=token.subject)
    known = identity.select_related("user").first()
    if known is not None:
        _sessions_end(known.user, connection)


async def sign_out_url(noted: dict[str, Any] | None) -> str | None:
    """The page of its provider that signs a browser out there too, if there is one.

    A provider that does not answer delays nobody: they are signed out here.

    Args:
        noted: `at_provider` of the session that has ended.
    """
    if noted is None:
        return None
    try:
        async with asyncio.timeout(_LOGOUT_S):
            connection = await in_database(connection_by_id, UUID(noted["connection"]))
            if connection.protocol == Protocol.SAML:
                session = saml.Session(**noted["session"])
                return await in_database(logout_at_provider_url, connection, session) or None
            return await oidc.end_session_url(connection, id_token=noted["id_token"])
    except (ParleyError, TimeoutError, KeyError) as error:  # KeyError: of another protocol
        log.info("sso_provider_not_signed_out", error=str(error) or "timeout")
        return None


async def at_provider(request: HttpRequest) -> dict[str, Any] | None:
    """What `sign_out_url` needs of a session, before it ends."""
    noted: dict[str, Any] | None = await request.session.aget(_AT_PROVIDER)
    return noted


async def finish_saml(request: HttpRequest) -> HttpResponse:
    """As `finish_oidc`, for the answer behind a ticket; it has to be of this browser's attempt."""
    connection = None
    try:
        key = _ticket_key(request.GET.get("ticket", "")[:100])
        kept: dict[str, Any] | None = await cache.aget(key)
        # Of two that bring it at once, the delete that finds it wins.
        if kept is None or not await cache.adelete(key):
            raise sso_refused("This sign-in has expired or was used already.")
        connection, _, next_page = await _recall(request, kept["request"])
        claims, groups = kept["claims"], kept["claims"]["groups"]
        claims["groups"] = None if groups is None else tuple(groups)  # JSON made a list of them
        answer = await _signed_in(request, connection, Claims(**claims), next_page)
        await request.session.aset(
            _AT_PROVIDER, {"connection": str(connection.pk), "session": kept["session"]}
        )
        await throttling.forgive_sso_answer(request)
        return answer
    except ParleyError as error:
        return await _to_sign_in(error, connection)


async def _signed_in(
    request: HttpRequest, connection: Connection, claims: Claims, next_page: str
) -> HttpResponseRedirect:
    user = await in_database(identity_sign_in, connection=connection, claims=claims)
    await session_start(request, user, method=f"sso:{connection.protocol}")
    organization = str(connection.organization_id)
    await request.session.aset(SSO_ORGANIZATION, organization)
    await request.session.aset(SESSION_ORGANIZATION, organization)
    await throttling.forgive_sso_start(request)
    return HttpResponseRedirect(next_page)


async def _remember(
    request: HttpRequest,
    state: str,
    connection: Connection,
    noted: dict[str, Any],
    next_page: str,
) -> None:
    attempts: dict[str, Any] = await request.session.aget(_ATTEMPTS, {})
    attempts[state] = {
        "connection": str(connection.pk),
        "at": time.time(),
        "noted": noted,
        "next": next_page,
    }
    newest = sorted(attempts, key=lambda one: attempts[one]["at"])[-_MAX_ATTEMPTS:]
    await request.session.aset(_ATTEMPTS, {one: attempts[one] for one in newest})


async def _recall(request: HttpRequest, state: str) -> tuple[Connection, dict[str, Any], str]:
    """The attempt of this browser that `state` names, once, and where it leads.

    Raises PermissionDenied."""
    attempts: dict[str, Any] = await request.session.aget(_ATTEMPTS, {})
    attempt = attempts.pop(state, None)
    await request.session.aset(_ATTEMPTS, attempts)
    if attempt is None or time.time() - attempt["at"] > _ATTEMPT_S:
        raise sso_refused("This answer belongs to no sign-in of this browser; begin again.")
    connection = await in_database(connection_by_id, UUID(attempt["connection"]))
    return connection, attempt["noted"], attempt.get("next") or "/"


async def _to_sign_in(error: ParleyError, connection: Connection | None) -> HttpResponseRedirect:
    """With the error's code alone: the page has its words, since anybody can write such a link.

    Recorded for the organization of `connection`, where the answer got so far that it is known."""
    code = error.code or "sso_refused"
    log.info("sso_refused", code=code, reason=error.message)
    if connection is not None:
        await in_database(_record_refusal, connection, code, error.message[:300])
    return HttpResponseRedirect(f"/login?{urlencode({'sso_error': code})}")


def _record_refusal(connection: Connection, code: str, why: str) -> None:
    record(
        Action.LOGIN_FAILED,
        organization_id=connection.organization_id,
        actor=Actor(),
        target=("sso", connection.pk),
        details={"reason": code, "why": why, "method": f"sso:{connection.protocol}"},
    )


def _sessions_end(user: User, connection: Connection) -> None:
    """Those of `user` that the connection's organization signed in; a password's stay."""
    sso_sessions_end(user_id=user.pk, organization_id=connection.organization_id)
    record(
        Action.LOGOUT_SUCCEEDED,
        organization_id=connection.organization_id,
        actor=PROVIDER,
        target=("user", user.pk),
        details={"method": f"sso:{connection.protocol}"},
    )


def _ticket_key(ticket: str) -> str:
    return f"sso:ticket:{ticket}"


def start_url(connection_id: UUID) -> str:
    """Where what the provider starts by itself leads."""
    return f"{settings.PUBLIC_URL}/api/auth/sso/{connection_id}/start"


def scim_url() -> str:
    """What an organization's directory is given."""
    return f"{settings.PUBLIC_URL}/api/scim/v2"
