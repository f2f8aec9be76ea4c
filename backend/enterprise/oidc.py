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
from urllib.parse import quote_plus, urlencode, urlsplit
from uuid import UUID

import jwt
from django.conf import settings
from django.core.cache import cache

from backend.enterprise.errors import provider_failed, sso_refused
from backend.enterprise.identities import Claims, clean_groups
from backend.enterprise.models import Connection
from backend.enterprise.outbound import get_json, post_form, url_check
from backend.enterprise.secrets import secret_decrypt
from backend.platform.errors import InvalidRequest, UpstreamFailed

# Signatures only: an HMAC would make our client secret a key that forges users.
ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)
_SCHEMES = ("https", "http")
_LEEWAY_S = 60
_LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_METADATA_TTL_S = 600
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_OPTIONAL = (
    "userinfo_endpoint",
    "end_session_endpoint",
    "scopes_supported",
    "token_endpoint_auth_methods_supported",
)
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


def logged_out_url() -> str:
    """The address to come back to after signing out at a provider; registered there."""
    return f"{settings.PUBLIC_URL}/login"


def backchannel_logout_url(connection_id: UUID) -> str:
    """The address that a provider tells who has signed out there."""
    return f"{settings.PUBLIC_URL}/api/auth/sso/oidc/{connection_id}/backchannel-logout"


async def authorization_url(connection: Connection, attempt: Attempt, *, email: str = "") -> str:
    """The provider's sign-in page for this attempt. Raises UpstreamFailed.

    Args:
        email: which address the person entered here, so that they need not do it again there.
    """
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
    if email:
        query["login_hint"] = email
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"


def _more_scopes(metadata: Mapping[str, Any]) -> list[str]:
    """Some providers name a person's groups only to who asks; others refuse an unknown scope."""
    offered = metadata.get("scopes_supported")
    return ["groups"] if isinstance(offered, list) and "groups" in offered else []


async def end_session_url(connection: Connection, *, id_token: str) -> str | None:
    """The provider's page that signs out there too; None where it publishes none.

    `post_logout_redirect_uri` only where an owner says that it is registered: providers refuse
    another one, and then the person is still signed in there.
    Source: OpenID Connect RP-Initiated Logout 1.0, section 2.
    Raises UpstreamFailed.
    """
    endpoint = (await _metadata(connection.issuer))["end_session_endpoint"]
    if not endpoint:
        return None
    query = {"client_id": connection.oidc.client_id}
    if connection.oidc.returns_after_logout:
        query["post_logout_redirect_uri"] = logged_out_url()
    if 0 < len(id_token) <= _MAX_HINT_CHARACTERS:
        query["id_token_hint"] = id_token
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"


async def claims_of_code(connection: Connection, attempt: Attempt, code: str) -> tuple[Claims, str]:
    """Exchange the `code` that the browser came back with for the person's claims and the id token,
    which signs out there (`end_session_url`).

    Raises:
        PermissionDenied: an id token that is not for us, not of this sign-in, or forged.
        UpstreamFailed: the provider does not answer, or refuses the code.
    """
    metadata = await _metadata(connection.issuer)
    answer = await _token_answer(connection, metadata, attempt, code)
    token = answer.get("id_token")
    if not isinstance(token, str):
        raise provider_failed("its answer has no id_token")
    key = await _signing_key(connection.issuer, metadata["jwks_uri"], token)
    claims = checked_claims(
        token,
        key=key,
        issuer=connection.issuer,
        client_id=connection.oidc.client_id,
        nonce=attempt.nonce,
    )
    claims = await _with_userinfo(connection, metadata, claims, answer.get("access_token"))
    unstated = connection.oidc.takes_unstated_email
    found = Claims(
        subject=str(claims["sub"]),
        email=str(claim_at(claims, connection.email_claim or "email") or ""),
        is_email_verified=claims.get("email_verified", unstated) in (True, "true"),
        name=str(claims.get("name") or ""),
        groups=_groups(claims, connection.groups_claim),
    )
    return found, token


async def _token_answer(
    connection: Connection, metadata: Mapping[str, Any], attempt: Attempt, code: str
) -> dict[str, Any]:
    """The secret goes in the form where the provider takes that, else in the header, which is what
    a provider takes that names no way (OpenID Connect Discovery 1.0, section 3)."""
    oidc = connection.oidc
    secret = secret_decrypt(
        oidc.encrypted_secret,
        organization_id=connection.organization_id,
        connection_id=connection.pk,
    )
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": callback_url(),
        "code_verifier": attempt.verifier,
    }
    ways = metadata.get("token_endpoint_auth_methods_supported")
    if isinstance(ways, list) and "client_secret_post" in ways:
        form |= {"client_id": oidc.client_id, "client_secret": secret}
        return await post_form(metadata["token_endpoint"], form)
    basic = (quote_plus(oidc.client_id), quote_plus(secret))  # RFC 6749, section 2.3.1
    return await post_form(metadata["token_endpoint"], form, basic=basic)


async def _with_userinfo(
    connection: Connection, metadata: Mapping[str, Any], claims: dict[str, Any], access: object
) -> dict[str, Any]:
    """`claims`, with what only userinfo says where the id token lacks the address or the groups."""
    has_email = bool(claim_at(claims, connection.email_claim or "email"))
    has_groups = claim_at(claims, connection.groups_claim) is not None
    endpoint = metadata.get("userinfo_endpoint")
    if (has_email and has_groups) or not (isinstance(endpoint, str) and isinstance(access, str)):
        return claims
    try:
        more = await get_json(endpoint, bearer=access)
    except UpstreamFailed:
        if not has_email:
            raise
        return {**claims, "_claim_names": {connection.groups_claim: "userinfo"}}
    if more.get("sub") != claims["sub"]:
        raise sso_refused("The provider's userinfo is of another person than its id token.")
    return {**more, **claims}


def claim_at(claims: Mapping[str, Any], name: str) -> Any:
    """The claim of this name, or the nested one where the name is a path
    (`resource_access.parley.roles`); None where there is none."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _groups(claims: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """None where they stand elsewhere: too many for a token (Entra's overage), or in a userinfo
    that does not answer."""
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, dict) and name in elsewhere:
        return None
    return clean_groups(claim_at(claims, name))


def checked_claims(
    token: str, *, key: Any, issuer: str, client_id: str, nonce: str
) -> dict[str, Any]:
    """The claims of an id token that is for us and of this sign-in.

    Args:
        key: the provider's public key that the token's header names.
    Raises:
        PermissionDenied: signature, issuer, audience, times or nonce are wrong.
    """
    claims = _decoded(token, key=key, issuer=issuer, client_id=client_id)
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", client_id if not several else None) != client_id:
        raise sso_refused("The identity provider's answer was made for another application.")
    if not secrets.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise sso_refused("The identity provider's answer is not of this sign-in (nonce).")
    return claims


@dataclass(frozen=True, slots=True)
class LogoutToken:
    """A subject that has signed out at the provider; good once, until `expires_at` (Unix time)."""

    subject: str
    id: str
    expires_at: int


async def logout_token_read(connection: Connection, token: str) -> LogoutToken:
    """Check a provider's logout token.

    Source: OpenID Connect Back-Channel Logout 1.0, section 2.6.
    Raises:
        PermissionDenied: a token that is not for us, forged, of another kind, or names no subject.
        UpstreamFailed.
    """
    metadata = await _metadata(connection.issuer)
    key = await _signing_key(connection.issuer, metadata["jwks_uri"], token)
    claims = _decoded(token, key=key, issuer=connection.issuer, client_id=connection.oidc.client_id)
    events = claims.get("events")
    is_logout = isinstance(events, dict) and _LOGOUT_EVENT in events and "nonce" not in claims
    if not is_logout or not claims["sub"] or not isinstance(claims.get("jti"), str):
        raise sso_refused("The identity provider's token is no logout token of a subject.")
    return LogoutToken(str(claims["sub"]), claims["jti"], int(claims["exp"]) + _LEEWAY_S)


def _decoded(token: str, *, key: Any, issuer: str, client_id: str) -> dict[str, Any]:
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
    return claims


async def issuer_try(issuer: str) -> None:
    """Read the discovery document now. Raises InvalidRequest, `issuer`, where that fails."""
    url_check(issuer, param="issuer")
    try:
        await _metadata_now(issuer)
    except UpstreamFailed as error:
        raise InvalidRequest(error.message, param="issuer", code=error.code) from error


async def _metadata(issuer: str) -> Mapping[str, Any]:
    key = f"sso:oidc:{hashlib.sha256(issuer.encode()).hexdigest()}"
    known: Mapping[str, Any] | None = await cache.aget(key)
    if known is not None:
        return known
    kept = await _metadata_now(issuer)
    await cache.aset(key, kept, _METADATA_TTL_S)
    return kept


async def _metadata_now(issuer: str) -> Mapping[str, Any]:
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
    return {name: found.get(name) for name in (*_ENDPOINTS, *_OPTIONAL)}


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
