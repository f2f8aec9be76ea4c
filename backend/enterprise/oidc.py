"""OpenID Connect: the authorization code flow with PKCE, state and nonce.

allauth's `openid_connect` keeps one table of providers for the whole site, checks neither a nonce
nor, in this flow, a signature, and calls whatever address it is given; here each organization
names its own provider, so all of that is checked. PyJWT checks signature, issuer, audience and
times.
Source: OpenID Connect Core 1.0, section 3.1; RFC 7636 (PKCE); RFC 9700 (best practice).
"""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import jwt
from django.conf import settings
from django.core.cache import cache

from backend.enterprise.errors import provider_failed, sso_refused
from backend.enterprise.identities import Claims, clean_groups
from backend.enterprise.models import Connection
from backend.enterprise.outbound import get_json, post_form
from backend.enterprise.secrets import secret_decrypt

# Signatures only: an HMAC would make our client secret a key that forges users.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
_SCHEMES = ("https", "http")
_LEEWAY_S = 60
_METADATA_TTL_S = 600
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_OPTIONAL = ("userinfo_endpoint", "end_session_endpoint", "scopes_supported")
# A longer one would make an address that servers refuse: the provider then asks the person.
_MAX_HINT_CHARACTERS = 4000


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in that has begun; it stays in the browser's session until its answer comes."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> "Attempt":
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))


def callback_url() -> str:
    """The same for every organization: the state says whose answer it is."""
    return f"{settings.PUBLIC_URL}/api/auth/sso/oidc/callback"


async def authorization_url(connection: Connection, attempt: Attempt) -> str:
    """Where the browser goes. Raises UpstreamFailed."""
    metadata = await _metadata(connection.issuer)
    endpoint = metadata["authorization_endpoint"]
    digest = hashlib.sha256(attempt.verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": connection.oidc.client_id,
        "redirect_uri": callback_url(),
        "scope": " ".join(["openid", "email", "profile", *_more_scopes(metadata)]),
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"


def _more_scopes(metadata: Mapping[str, Any]) -> list[str]:
    """Some providers name a person's groups only to who asks; others refuse an unknown scope."""
    offered = metadata.get("scopes_supported")
    return ["groups"] if isinstance(offered, list) and "groups" in offered else []


async def end_session_url(connection: Connection, *, id_token: str) -> str | None:
    """Where the browser goes to sign out at the provider too; None where it publishes no such page.

    No `post_logout_redirect_uri`: providers refuse one that was not registered, and then the
    person is still signed in there.
    Source: OpenID Connect RP-Initiated Logout 1.0, section 2.
    Raises UpstreamFailed.
    """
    endpoint = (await _metadata(connection.issuer))["end_session_endpoint"]
    if not endpoint:
        return None
    query = {"client_id": connection.oidc.client_id}
    if 0 < len(id_token) <= _MAX_HINT_CHARACTERS:
        query["id_token_hint"] = id_token
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"


async def claims_of_code(connection: Connection, attempt: Attempt, code: str) -> tuple[Claims, str]:
    """Who the provider says has signed in, for the `code` that it sent the browser back with, and
    its id token, which signs out there (`end_session_url`).

    Raises:
        PermissionDenied: an id token that is not for us, not of this sign-in, or forged.
        UpstreamFailed: the provider does not answer, or refuses the code.
    """
    metadata = await _metadata(connection.issuer)
    oidc = connection.oidc
    answer = await post_form(
        metadata["token_endpoint"],
        {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": callback_url(),
            "code_verifier": attempt.verifier,
            "client_id": oidc.client_id,
            "client_secret": secret_decrypt(
                oidc.encrypted_secret,
                organization_id=connection.organization_id,
                connection_id=connection.pk,
            ),
        },
    )
    token = answer.get("id_token")
    if not isinstance(token, str):
        raise provider_failed("its answer has no id_token")
    key = await _signing_key(connection.issuer, metadata["jwks_uri"], token)
    claims = checked_claims(
        token, key=key, issuer=connection.issuer, client_id=oidc.client_id, nonce=attempt.nonce
    )
    if "email" not in claims and isinstance(metadata.get("userinfo_endpoint"), str):
        more = await get_json(metadata["userinfo_endpoint"], bearer=str(answer["access_token"]))
        if more.get("sub") != claims["sub"]:
            raise sso_refused("The provider's userinfo is of another person than its id token.")
        claims = {**more, **claims}
    found = Claims(
        subject=str(claims["sub"]),
        email=str(claims.get("email") or ""),
        is_email_verified=claims.get("email_verified", True) in (True, "true"),
        name=str(claims.get("name") or ""),
        groups=_groups(claims, connection.groups_claim),
    )
    return found, token


def _groups(claims: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """None where there are too many for a token (Entra's overage names where else to ask)."""
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, dict) and name in elsewhere:
        return None
    return clean_groups(claims.get(name))


def checked_claims(
    token: str, *, key: Any, issuer: str, client_id: str, nonce: str
) -> dict[str, Any]:
    """The claims of an id token that is for us and of this sign-in.

    Args:
        key: the provider's public key that the token's header names.
    Raises:
        PermissionDenied: signature, issuer, audience, times or nonce are wrong.
    """
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=list(ALGORITHMS),
            issuer=issuer,
            audience=client_id,
            leeway=_LEEWAY_S,
            options={"require": ["iss", "sub", "aud", "exp", "iat"]},
        )
    except jwt.PyJWTError as error:
        raise sso_refused(f"The identity provider's answer was refused: {error}.") from error
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", client_id if not several else None) != client_id:
        raise sso_refused("The identity provider's answer was made for another application.")
    if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise sso_refused("The identity provider's answer is not of this sign-in (nonce).")
    return claims


async def _metadata(issuer: str) -> Mapping[str, Any]:
    key = f"sso:oidc:{hashlib.sha256(issuer.encode()).hexdigest()}"
    known: Mapping[str, Any] | None = await cache.aget(key)
    if known is not None:
        return known
    found = await get_json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if found.get("issuer") != issuer:
        raise provider_failed(f"it calls itself {str(found.get('issuer'))[:200]!r}")
    missing = [name for name in _ENDPOINTS if not isinstance(found.get(name), str)]
    if missing:
        raise provider_failed(f"its metadata has no {missing[0]}")
    for name in (*_ENDPOINTS, "end_session_endpoint"):
        # The browser is sent to some of them: never to a script.
        if found.get(name) is not None and urlsplit(str(found[name])).scheme not in _SCHEMES:
            raise provider_failed(f"its {name} is no web address")
    kept = {name: found.get(name) for name in (*_ENDPOINTS, *_OPTIONAL)}
    await cache.aset(key, kept, _METADATA_TTL_S)
    return kept


async def _signing_key(issuer: str, jwks_uri: str, token: str) -> Any:
    """Asked for at each sign-in, so that a provider may rotate its keys at any time."""
    try:
        header = jwt.get_unverified_header(token)
        keys = jwt.PyJWKSet.from_dict(await get_json(jwks_uri)).keys
    except jwt.PyJWTError as error:
        raise sso_refused(f"The identity provider's answer was refused: {error}.") from error
    signing = [key for key in keys if key.public_key_use in (None, "sig")]
    kid = header.get("kid")
    named = [key for key in signing if key.key_id == kid] if kid else signing
    if len(named) != 1:
        raise sso_refused("The identity provider signed with a key that it does not publish.")
    return named[0].key
