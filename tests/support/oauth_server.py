"""A real OAuth 2.1 authorization server on this machine: the protocol's own handlers, with a page
where a person says who they are, and refresh tokens that are worth something once.

A refresh token that comes a second time ends everything that its sign-in gave, as servers do that
take it for stolen (RFC 9700, section 4.14.2).
"""

import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import jwt
import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.routes import build_metadata, create_auth_routes
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from infra.services.ports import free_port

SCOPES = ["trips", "openid"]
_PAGE = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>Trips Inc.</title><main style="font-family: sans-serif; max-width: 24rem; margin: 3rem auto">
<h1>Trips Inc.</h1><p>Parley wants to see and book your trips.</p>
<form method="post"><label>Account <input name="account" value="ada@trips.example"></label>
<p><button name="say" value="yes">Allow</button> <button name="say" value="no">Deny</button></p>
</form></main></html>"""


class Tokens(OAuthToken):
    """As OpenID Connect has it."""

    id_token: str | None = None


@dataclass
class Family:
    """What one sign-in has given."""

    client_id: str
    account: str
    resource: str | None
    scopes: list[str]
    accesses: dict[str, float] = field(default_factory=dict)
    refresh: str = ""
    used: set[str] = field(default_factory=set)
    is_revoked: bool = False


class Provider(OAuthAuthorizationServerProvider[Any, Any, Any]):
    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.life_s = 3600.0
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.asked: dict[str, tuple[OAuthClientInformationFull, AuthorizationParams]] = {}
        self.codes: dict[str, tuple[AuthorizationCode, str]] = {}
        self.families: list[Family] = []
        self.refreshed = 0

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        ticket = secrets.token_urlsafe(16)
        self.asked[ticket] = (client, params)
        return f"{self.issuer}/login?{urlencode({'ticket': ticket})}"

    def decided(self, ticket: str, account: str | None) -> str:
        """Where the browser goes once its person has decided; None is a refusal."""
        client, params = self.asked.pop(ticket)
        answer: dict[str, str | None] = {"state": params.state, "iss": self.issuer}
        if account is None:
            return construct_redirect_uri(str(params.redirect_uri), error="access_denied", **answer)
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32),
            scopes=params.scopes or SCOPES,
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
            subject=account,
        )
        self.codes[code.code] = (code, account)
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, **answer)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code, (None, ""))[0]

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        _, account = self.codes.pop(authorization_code.code)
        family = Family(
            client.client_id, account, authorization_code.resource, authorization_code.scopes
        )
        self.families.append(family)
        return self._given(family)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        for family in self.families:
            if refresh_token in family.used:
                family.is_revoked = True
            if family.refresh == refresh_token and not family.is_revoked:
                return RefreshToken(
                    token=refresh_token, client_id=family.client_id, scopes=family.scopes
                )
        return None

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        for family in self.families:
            if family.refresh == refresh_token.token:
                family.used.add(family.refresh)
                self.refreshed += 1
                return self._given(family)
        raise TokenError("invalid_grant")

    async def load_access_token(self, token: str) -> AccessToken | None:
        for family in self.families:
            expires = family.accesses.get(token, 0.0)
            if expires > time.time() and not family.is_revoked:
                return AccessToken(
                    token=token,
                    client_id=family.client_id,
                    scopes=family.scopes,
                    resource=family.resource,
                    subject=family.account,
                )
        return None

    async def verify_token(self, token: str) -> AccessToken | None:
        return await self.load_access_token(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        for family in self.families:
            if token.token == family.refresh or token.token in family.accesses:
                family.is_revoked = True

    def end_all(self) -> None:
        """As an owner of accounts does who signs everybody out."""
        for family in self.families:
            family.is_revoked = True

    def _given(self, family: Family) -> Tokens:
        access, family.refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        family.accesses[access] = time.time() + self.life_s
        claims = {"iss": self.issuer, "aud": family.client_id, "email": family.account, "sub": "1"}
        return Tokens(
            access_token=access,
            refresh_token=family.refresh,
            expires_in=int(self.life_s),
            scope=" ".join(family.scopes),
            id_token=jwt.encode(claims, secrets.token_hex(32), algorithm="HS256"),
        )


class AuthorizationServer:
    """Runs in a thread. `metadata` is what it says of itself: a test may let it lie."""

    def __init__(self) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.provider = Provider(self.url)
        registration = ClientRegistrationOptions(
            enabled=True, valid_scopes=SCOPES, default_scopes=SCOPES
        )
        revocation = RevocationOptions(enabled=True)
        issuer = AnyHttpUrl.build(scheme="http", host="127.0.0.1", port=port)
        said = build_metadata(issuer, None, registration, revocation)
        self.metadata: dict[str, Any] = {
            **said.model_dump(mode="json", exclude_none=True),
            "issuer": self.url,
            "authorization_response_iss_parameter_supported": True,
        }
        self.honest = dict(self.metadata)
        routes = [
            Route("/.well-known/oauth-authorization-server", self._metadata),
            Route("/login", self._page, methods=["GET"]),
            Route("/login", self._decide, methods=["POST"]),
            *create_auth_routes(
                self.provider,
                issuer,
                client_registration_options=registration,
                revocation_options=revocation,
            ),
        ]
        config = uvicorn.Config(Starlette(routes=routes), port=port, log_level="error")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def start(self) -> None:
        self._thread.start()
        deadline = time.monotonic() + 30
        while not self._server.started:
            assert time.monotonic() < deadline, "the authorization server did not start"
            time.sleep(0.05)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=10)

    async def _metadata(self, request: Request) -> Response:
        return JSONResponse(self.metadata)

    async def _page(self, request: Request) -> Response:
        return HTMLResponse(_PAGE)

    async def _decide(self, request: Request) -> Response:
        form = await request.form()
        account = str(form["account"]) if form["say"] == "yes" else None
        there = self.provider.decided(request.query_params["ticket"], account)
        return RedirectResponse(there, status_code=303)
