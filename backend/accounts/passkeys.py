"""Passkeys (WebAuthn): made and used by allauth.mfa and fido2, with the challenge in the session.

A passkey is both factors at once: something held, unlocked by a finger or a PIN, which is always
asked for. It belongs to a domain (passkey_domain.py), and browsers make none for a bare IP address:
there is none on http://127.0.0.1, but on http://localhost.
"""

import ipaddress
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal import auth as webauthn
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest

from backend.accounts.models import User
from backend.accounts.passkey_domain import name_of, page_name, passkeys_serve
from backend.accounts.second_factors import PASSKEY, passkey_added
from backend.platform.errors import AuthenticationFailed, Conflict, InvalidRequest

MAX_PASSKEYS = 20
PASSKEYS_ELSEWHERE = (
    "Passkeys belong to {}, which this host name is not a part of: give a code instead."
)
_NAME_LIMIT = 100


def passkey_begin(*, request: HttpRequest, user: User) -> dict[str, Any]:
    """What `navigator.credentials.create` takes, as JSON.

    Raises:
        InvalidRequest: the page was opened by an IP address. Conflict: they have 20 already.
    """
    _require_host_name(request)
    if Authenticator.objects.filter(user=user, type=PASSKEY).count() >= MAX_PASSKEYS:
        raise Conflict(f"You have {MAX_PASSKEYS} passkeys; remove one first.")
    with context.request_context(request):
        return webauthn.begin_registration(user, passwordless=True)


@transaction.atomic
def passkey_add(
    *, request: HttpRequest, user: User, name: str, credential: Mapping[str, Any]
) -> list[str]:
    """Keep what `navigator.credentials.create` gave. New recovery codes, as for `totp_activate`.

    Raises:
        InvalidRequest: it answers no challenge of this session, or is malformed.
    """
    name = " ".join(name.split())[:_NAME_LIMIT] or "Passkey"
    try:
        with context.request_context(request):
            sent = webauthn.parse_registration_response(dict(credential))
            _require_own_origin(request, sent.response.client_data.origin)
            webauthn.complete_registration(dict(credential))
    except _MALFORMED as error:
        raise InvalidRequest("The passkey could not be added: try again.") from error
    webauthn.WebAuthn.add(user, name, dict(credential))
    return passkey_added(user=user)


def passkey_challenge(*, request: HttpRequest, user: User | None) -> dict[str, Any]:
    """What `navigator.credentials.get` takes, as JSON: of one person's passkeys, or of any's.

    Raises:
        InvalidRequest: the page was opened by an IP address, or under a host name of the staff's
            that shares no domain with the page.
    """
    _require_host_name(request)
    if not passkeys_serve(request.get_host()):
        raise InvalidRequest(PASSKEYS_ELSEWHERE.format(page_name()), code="passkeys_elsewhere")
    with context.request_context(request):
        return webauthn.begin_authentication(user)


def passkey_use(*, request: HttpRequest, user: User | None, credential: Mapping[str, Any]) -> User:
    """Whose passkey answered this session's challenge.

    Args:
        user: who it has to be; None is the owner of the passkey.
    Raises:
        AuthenticationFailed: unknown, another user's, a deactivated user's, or no such challenge.
    """
    try:
        with context.request_context(request):
            sent = webauthn.parse_authentication_response(dict(credential))
            _require_own_origin(request, sent.response.client_data.origin)
            owner = user or webauthn.extract_user_from_response(dict(credential))
            authenticator = webauthn.complete_authentication(owner, dict(credential))
    except _MALFORMED as error:
        raise _refused() from error
    if not isinstance(owner, User) or not owner.is_active:
        raise _refused()
    authenticator.record_usage()
    return owner


def passkey_claimed(credential: Mapping[str, Any]) -> User | None:
    """Whose passkey `credential` says that it is, proven or not: for the log of failed tries."""
    try:
        found = webauthn.extract_user_from_response(dict(credential))
    except _MALFORMED:
        return None
    return found if isinstance(found, User) else None


# fido2 and allauth read what a client sent: whatever they stumble over is the client's fault.
_MALFORMED = (ValidationError, ValueError, TypeError, KeyError, AttributeError, IndexError)


def _require_own_origin(request: HttpRequest, origin: str) -> None:
    """ValueError for a page of another host: fido2 takes every one below the passkey's domain."""
    if urlsplit(origin).hostname != name_of(request.get_host()):
        raise ValueError("the passkey was used on a page of another host")


def _require_host_name(request: HttpRequest) -> None:
    host = request.get_host().rpartition(":")[0] or request.get_host()
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return
    raise InvalidRequest(
        f"Browsers keep no passkeys for an IP address such as {host}: open this page by its name,"
        " on this machine http://localhost.",
        code="host_name_needed",
    )


def _refused() -> AuthenticationFailed:
    return AuthenticationFailed("This passkey opens no account here.", code="wrong_credentials")
