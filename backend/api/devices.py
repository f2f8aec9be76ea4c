"""Browsers in which a user has signed in before, by a signed cookie for each account.

Attempts from such a browser have a counter of their own (throttling.py): who guesses at an
account from elsewhere cannot keep its owner out. The cookie is no credential: it opens nothing
without the password, and a stolen one buys no more guesses than its own counter allows.
Source: OWASP, "Slow Down Online Guessing Attacks with Device Cookies".
"""

import hashlib
import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from backend.platform.encryption import token_read, token_sign
from backend.platform.keys import Purpose

KEPT_S = 365 * 24 * 3600


def device_of(request: HttpRequest, email: str) -> str | None:
    """The id of a browser that has signed in to the account `email`; None for any other."""
    shown = request.COOKIES.get(cookie_name(email))
    if shown is None:
        return None
    try:
        account, device = token_read(shown, purpose=Purpose.DEVICE, max_age_s=KEPT_S)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return str(device) if account == _account(email) else None


def device_remember(request: HttpRequest, response: HttpResponseBase, email: str) -> None:
    """Let `response` name the browser, after the right password."""
    device = device_of(request, email) or secrets.token_urlsafe(16)
    response.set_cookie(
        cookie_name(email),
        token_sign([_account(email), device], purpose=Purpose.DEVICE),
        max_age=KEPT_S,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def cookie_name(email: str) -> str:
    """One for each account: people share browsers."""
    return f"device_{_account(email)[:16]}"


def _account(email: str) -> str:
    return hashlib.sha256(email.strip().casefold().encode()).hexdigest()[:32]
