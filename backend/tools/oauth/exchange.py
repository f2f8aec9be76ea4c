"""What is said to an authorization server: where a sign-in begins, and requests for tokens.

Source: RFC 6749, sections 4.1, 5 and 6; RFC 7636 (PKCE, S256); RFC 8707 (`resource`); RFC 9207
(`iss`); RFC 7009 (revocation).
"""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx2
import jwt
from django.utils import timezone
from mcp.shared.auth import OAuthToken
from pydantic import ValidationError

from backend.platform.guarded_client import GuardedClient
from backend.tools.oauth.clients import Client
from backend.tools.oauth.discovery import Discovered
from backend.tools.oauth.errors import SignInFailed, SignInRefused
from backend.tools.types import stored_text

_REFUSALS = (400, 401, 403)
_MAX_TOKEN = 16_000
_MAX_LIFE_S = 10 * 365 * 86_400


@dataclass(frozen=True, slots=True)
class Granted:
    """What an authorization server gave.

    Attributes:
        refresh: "" where it gave none.
        expires_at: None where it does not say.
        account: whom it let in, as it names them; "" where it does not.
    """

    access: str
    refresh: str
    expires_at: datetime | None
    scope: str
    account: str


def new_secret() -> str:
    """A state, or a verifier of PKCE: 43 characters that nobody guesses."""
    return secrets.token_urlsafe(32)


def authorization_url(
    found: Discovered, client: Client, *, state: str, verifier: str, redirect_uri: str
) -> str:
    """Where the browser goes to sign in."""
    digest = hashlib.sha256(verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        "resource": found.resource,
        **({"scope": found.scope} if found.scope else {}),
    }
    endpoint = found.authorization_endpoint
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"


def check_issuer(client: Client, iss: str | None) -> None:
    """SignInFailed where an answer is of another authorization server than the one asked."""
    if iss is not None and iss != client.issuer:
        raise SignInFailed("The answer is of another authorization server than the one asked.")
    if iss is None and client.names_issuer:
        raise SignInFailed("The answer does not name its authorization server, which always does.")


async def code_exchange(
    http: GuardedClient, client: Client, *, code: str, verifier: str, redirect_uri: str
) -> Granted:
    """Raises SignInRefused, SignInFailed; httpx2.HTTPError: no answer."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
        "resource": client.resource,
    }
    return _granted(await _post(http, client, client.token_endpoint, form), client)


async def token_refresh(http: GuardedClient, client: Client, refresh: str) -> Granted:
    """New tokens; `refresh` is theirs, and the old one stays where none is given.

    Raises:
        SignInRefused, SignInFailed; httpx2.HTTPError: no answer.
    """
    form = {"grant_type": "refresh_token", "refresh_token": refresh, "resource": client.resource}
    return _granted(await _post(http, client, client.token_endpoint, form), client)


async def token_revoke(http: GuardedClient, client: Client, token: str) -> None:
    """Let it be worth nothing, where the authorization server has a way to. Raises as above."""
    if client.revocation_endpoint:
        await _send(http, client, client.revocation_endpoint, {"token": token})


async def _post(
    http: GuardedClient, client: Client, endpoint: str, form: dict[str, str]
) -> dict[str, Any]:
    response = await _send(http, client, endpoint, form)
    try:
        body = response.json()
    except ValueError:
        body = None
    if response.status_code != 200:
        error = body.get("error") if isinstance(body, dict) else None
        if isinstance(error, str) and response.status_code in _REFUSALS:
            raise SignInRefused(error)
        raise SignInFailed(f"The authorization server answered {response.status_code}.")
    if not isinstance(body, dict):
        raise SignInFailed("The authorization server's answer is not a JSON object.")
    return body


async def _send(
    http: GuardedClient, client: Client, endpoint: str, form: dict[str, str]
) -> httpx2.Response:
    auth: Any = httpx2.USE_CLIENT_DEFAULT
    form = {**form, "client_id": client.client_id}  # some ask for it beside the header too
    if client.auth_method == "client_secret_basic":
        auth = httpx2.BasicAuth(quote(client.client_id, safe=""), quote(client.secret, safe=""))
    elif client.auth_method == "client_secret_post":
        form["client_secret"] = client.secret
    headers = {"Accept": "application/json"}
    return await http.post(endpoint, data=form, headers=headers, auth=auth)


def _granted(body: Mapping[str, Any], client: Client) -> Granted:
    try:
        token = OAuthToken.model_validate(body)
    except ValidationError as error:
        raise SignInFailed("The authorization server's answer is no bearer token.") from error
    for text in (token.access_token, token.refresh_token or ""):
        if len(text) > _MAX_TOKEN or not text.isascii() or not text.isprintable() or " " in text:
            raise SignInFailed("The authorization server gave a token that cannot be sent.")
    if not token.access_token:
        raise SignInFailed("The authorization server gave an empty token.")
    life = token.expires_in
    return Granted(
        access=token.access_token,
        refresh=token.refresh_token or "",
        expires_at=None
        if life is None
        else timezone.now() + timedelta(seconds=min(max(life, 0), _MAX_LIFE_S)),
        scope=stored_text(token.scope or "")[:1000],
        account=_account(body.get("id_token"), client),
    )


def _account(id_token: object, client: Client) -> str:
    """Of an id token that came from the token endpoint itself, whose TLS says whose it is (OpenID
    Connect Core, section 3.1.3.7, 6): nothing but what is shown rests on it."""
    if not isinstance(id_token, str):
        return ""
    try:
        claims = jwt.decode(id_token, options={"verify_signature": False})
    except jwt.PyJWTError:
        return ""
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if claims.get("iss") != client.issuer or client.client_id not in audiences:
        return ""
    for name in ("email", "preferred_username", "name"):
        if isinstance(claims.get(name), str) and claims[name]:
            return stored_text(claims[name])[:200]
    return ""
