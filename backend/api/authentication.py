"""Who calls: an API key, or a signed-in session with a CSRF token.

A request with an `Authorization` header is judged by it alone: a page of another site can make
a browser send our cookie, but not that header. A request without one is a browser's, and then
every unsafe method needs the CSRF token. Ninja puts the result into `request.auth`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, cast
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from ninja.security.base import AuthBase

from backend.accounts.authentication import principal_for_api_key, principal_for_session
from backend.accounts.internal_calls import PREFIX as INTERNAL_PREFIX
from backend.accounts.models import User
from backend.accounts.principal import Principal
from backend.accounts.scopes import Scope
from backend.accounts.sessions import SSO_ORGANIZATION
from backend.api import throttling
from backend.api.context import header_of
from backend.api.session_devices import session_note
from backend.enterprise.gate import Door
from backend.platform.errors import AuthenticationFailed, PermissionDenied

SESSION_ORGANIZATION = "organization_id"
# What a member does before they are let into an organization: see who they are, choose another.
_BEFORE_THE_GATE = frozenset({"/api/me", "/api/me/terms", "/api/auth/logout", "/api/announcements"})
_OWN_ACCOUNT = "/api/me/"

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


def bearer_parts(header: str) -> tuple[str, str]:
    """The kind, in lower case, and the secret of an Authorization header."""
    kind, _, secret = header.partition(" ")
    return kind.lower(), secret.strip()


class BearerKey(AuthBase):
    """An API key, as OpenAI's clients send it.

    Args:
        scope: what a restricted key must have been given to pass; see docs/api.md.
    """

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, scope: Scope | None = None) -> None:
        super().__init__()
        self.scope = scope

    async def __call__(self, request: HttpRequest) -> Principal:
        header = header_of(request, "Authorization")
        if header is None:
            raise AuthenticationFailed(
                "You did not send an API key. Send it as 'Authorization: Bearer YOUR_KEY'."
            )
        return await self.principal(request, header)

    async def principal(self, request: HttpRequest, header: str) -> Principal:
        """The caller that an Authorization header names; typed errors where there is none."""
        kind, secret = bearer_parts(header)
        if kind != "bearer" or not secret.isascii() or not secret:
            raise AuthenticationFailed("The Authorization header must be 'Bearer ' and an API key.")
        principal = await principal_for_api_key(
            secret, admit=partial(throttling.count_unseen_key, request)
        )
        if self.scope is not None:
            principal.require(self.scope)
        if not secret.startswith(INTERNAL_PREFIX):  # our own worker's calls
            await _pass_gate(request, principal, sso_organization=None)
        return principal


class MessagesKey(BearerKey):
    """An API key, as Anthropic's clients send it: `x-api-key`; `Authorization` too."""

    openapi_type = "apiKey"
    openapi_in = "header"
    openapi_name = "x-api-key"

    async def __call__(self, request: HttpRequest) -> Principal:
        header = shown_key(request.headers.get)
        if header is None:
            raise AuthenticationFailed("You did not send an API key. Send it as 'x-api-key'.")
        return await self.principal(request, header)


def shown_key(header: Callable[[str], str | None]) -> str | None:
    """The Authorization header of a request, or what `x-api-key` says in its place."""
    shown = header("Authorization")
    key = header("x-api-key")
    return f"Bearer {key}" if shown is None and key is not None else shown


class SessionOrKey(AuthBase):
    """A browser's session with CSRF, or an API key with the given scope.

    Args:
        gate: see `principal_for_session`.
    """

    openapi_type = "apiKey"
    openapi_in = "cookie"
    openapi_name = "sessionid"

    def __init__(self, scope: Scope | None = None, *, gate: bool = True) -> None:
        super().__init__()
        self.bearer = BearerKey(scope)
        self.gate = gate

    async def __call__(self, request: HttpRequest) -> Principal:
        header = request.headers.get("Authorization")
        if header is not None:
            return await self.bearer.principal(request, header)
        return await session_principal(request, gate=self.gate)


class SessionOnly(AuthBase):
    """A signed-in person. For what a leaked key must not do, such as making more keys.

    Args:
        gate: see `principal_for_session`.
    """

    openapi_type = "apiKey"
    openapi_in = "cookie"
    openapi_name = "sessionid"

    def __init__(self, *, gate: bool = True) -> None:
        super().__init__()
        self.gate = gate

    async def __call__(self, request: HttpRequest) -> Principal:
        return await session_principal(request, gate=self.gate)


class AnonymousWithCsrf(AuthBase):
    """Any visitor of our own page: stops another site from signing a visitor in."""

    openapi_type = "apiKey"
    openapi_in = "header"
    openapi_name = "X-CSRFToken"

    async def __call__(self, request: HttpRequest) -> bool:
        require_csrf_token(request)
        return True


async def session_principal(request: HttpRequest, *, gate: bool = True) -> Principal:
    """The signed-in caller, after the CSRF check; AuthenticationFailed or PermissionDenied.

    Args:
        gate: see `principal_for_session`.
    """
    user = await sync_to_async(_user_of)(request)
    if not user.is_authenticated:
        raise AuthenticationFailed("You are not signed in.", code="not_signed_in")
    require_csrf_token(request)
    await session_note(request, user)
    confined = await request.session.aget(SSO_ORGANIZATION)
    chosen = confined or await request.session.aget(SESSION_ORGANIZATION)
    principal = await principal_for_session(user, UUID(chosen) if chosen else None, gate=gate)
    if confined and str(principal.organization_id) != confined:
        raise AuthenticationFailed(
            "You belong no longer to the organization that signed you in.", code="not_signed_in"
        )
    if request.path not in _BEFORE_THE_GATE:
        await _pass_gate(request, principal, sso_organization=confined)
    return principal


def _user_of(request: HttpRequest) -> User | AnonymousUser:
    """As `request.auser()`, which goes to the request's thread once for the session and once for
    the user. Its connection is given back: what follows needs one, too, and requests that each
    keep one wait for each other's."""
    known: Any = request
    try:
        if not hasattr(known, "_acached_user"):
            known._acached_user = get_user(request)
    finally:
        close_old_connections()
    user: User | AnonymousUser = known._acached_user
    return user


async def _pass_gate(
    request: HttpRequest, principal: Principal, *, sso_organization: str | None
) -> None:
    """PermissionDenied where the organization does not let them in; what stays open after the
    request is asked again (`door_of`)."""
    own = request.path.startswith(_OWN_ACCOUNT)
    door = Door(principal, _address(request), sso_organization, is_own_account=own)
    refusal = await door.refusal()
    if refusal is not None:
        raise refusal
    cast(Any, request).door = door


def door_of(request: HttpRequest) -> Door | None:
    """By what the caller was let in; None for calls of our own worker."""
    return getattr(request, "door", None)


def _address(request: HttpRequest) -> str:
    """Behind a trusted proxy the forwarded one (backend/api/proxies.py)."""
    return str(request.META.get("REMOTE_ADDR", ""))


def require_csrf_token(request: HttpRequest) -> None:
    """PermissionDenied unless the method is safe or the CSRF token and origin are right."""
    if request.method in _SAFE_METHODS:
        return
    reason = _CSRF.failure_reason(request)
    if reason is not None:
        raise PermissionDenied(
            f"{reason.rstrip('.')}. Send the csrftoken cookie's value as X-CSRFToken.",
            code="csrf_failed",
        )


class _CsrfCheck(CsrfViewMiddleware):
    """Django's check as a question; pure computation on the request's cookies and headers."""

    def _reject(self, request: HttpRequest, reason: str) -> Any:
        return reason

    def failure_reason(self, request: HttpRequest) -> str | None:
        return cast("str | None", self.process_view(request, _checked_view, (), {}))


def _checked_view(request: HttpRequest) -> HttpResponse:
    """Stands for the view in Django's check, which looks for an exemption on it."""
    raise NotImplementedError


_CSRF = _CsrfCheck(_checked_view)
