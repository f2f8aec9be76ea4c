"""OIDC with npm's oidc-provider: ways of the secret, claims, userinfo, signing out both ways."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from django.contrib.sessions.models import Session

from backend.enterprise.models import Connection, Identity
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.api.organizations import begin, oidc_of, owner_with_domain, refusal
from tests.support.oidc_identity_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    OIDCIdentityProvider,
    oidc_identity_provider,
)

pytestmark = pytest.mark.usefixtures("transactional_db", "private_providers")


@pytest.fixture
async def browser() -> AsyncIterator[AsgiClient]:
    async with AsgiClient() as client:
        yield client


def connect(provider: OIDCIdentityProvider, owner: Any, **fields: Any) -> Connection:
    client = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    return oidc_of(owner, provider.issuer, **client, **fields)


async def enter(browser: AsgiClient, provider: OIDCIdentityProvider, email: str) -> str:
    """Sign in as ada; the refusal's code."""
    back = await provider.sign_in(await begin(browser, email), "ada")
    return refusal(await browser.get(back))


@pytest.mark.parametrize(
    "client",
    [
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"id_token_signed_response_alg": "EdDSA"},
    ],
)
async def test_client_of_each_kind_signs_in(browser: AsgiClient, client: dict[str, str]) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    accounts = {"ada": {"email": email, "email_verified": True, "name": "Ada King"}}
    with oidc_identity_provider(accounts, **client) as provider:
        await in_database(connect, provider, owner)
        assert await enter(browser, provider, email) == ""
    user = (await browser.get("/api/me")).json()["user"]
    assert (user["email"], user["name"]) == (email, "Ada King")


async def test_groups_and_nested_claims_are_read_from_userinfo(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    accounts = {
        "ada": {
            "email": email,
            "email_verified": True,
            "groups": ["staff"],
            "resource_access": {"parley": {"roles": ["editors"]}},
        }
    }
    with oidc_identity_provider(accounts) as provider:
        for claim, groups in (("groups", ["staff"]), ("resource_access.parley.roles", ["editors"])):
            await in_database(lambda: connect(provider, owner, groups_claim=claim))  # noqa: B023
            assert await enter(browser, provider, email) == ""
            assert (await in_database(Identity.objects.get)).groups == groups


@pytest.mark.parametrize("takes", [False, True])
async def test_unstated_verification_needs_the_owners_word(
    browser: AsgiClient, takes: bool
) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    with oidc_identity_provider({"ada": {"email": email}}) as provider:
        await in_database(lambda: connect(provider, owner, takes_unstated_email=takes))
        code = await enter(browser, provider, email)
    assert code == ("" if takes else "sso_unverified_address")


async def test_address_in_another_claim_is_read(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    address = {"name": f"ada@{domain}"}
    with oidc_identity_provider({"ada": {"email_verified": True, **address}}) as provider:
        await in_database(lambda: connect(provider, owner, email_claim="name"))
        assert await enter(browser, provider, f"ada@{domain}") == ""
    assert (await browser.get("/api/me")).json()["user"]["email"] == f"ada@{domain}"


async def test_entered_address_goes_to_the_provider(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    with oidc_identity_provider({}) as provider:
        await in_database(connect, provider, owner)
        url = await begin(browser, f"ada@{domain}")
    assert parse_qs(urlsplit(url).query)["login_hint"] == [f"ada@{domain}"]


async def test_browser_returns_after_signing_out_there(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    accounts = {"ada": {"email": email, "email_verified": True}}
    with oidc_identity_provider(accounts) as provider:
        await in_database(lambda: connect(provider, owner, returns_after_logout=True))
        assert await enter(browser, provider, email) == ""
        url = (await browser.post("/api/auth/logout")).json()["url"]
        back = await provider.sign_out(url)
    assert back == "http://127.0.0.1:8000/login"


@contextmanager
def inbox() -> Iterator[tuple[str, list[bytes]]]:
    """An address that keeps what is posted to it."""
    posted: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", posted
    finally:
        server.shutdown()
        server.server_close()


async def test_signing_out_at_the_provider_ends_the_session(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    accounts = {"ada": {"email": email, "email_verified": True}}
    with (
        inbox() as (url, posted),
        oidc_identity_provider(accounts, backchannel_logout_uri=url) as provider,
    ):
        connection = await in_database(connect, provider, owner)
        assert await enter(browser, provider, email) == ""
        await provider.sign_out(f"{provider.issuer}/session/end?client_id={quote(CLIENT_ID)}")
        path = f"/api/auth/sso/oidc/{connection.pk}/backchannel-logout"
        (form,) = ({"logout_token": parse_qs(body.decode())["logout_token"][0]} for body in posted)
        async with AsgiClient() as server:
            forged = {"logout_token": f"{form['logout_token'][:-4]}AAAA"}
            assert (await server.post(path, data=forged)).status_code == 400
            assert (await browser.get("/api/me")).status_code == 200
            taken = await server.post(path, data=form)
            assert (taken.status_code, taken.headers["Cache-Control"]) == (200, "no-store")
            assert (await browser.get("/api/me")).status_code == 401
            assert (await server.post(path, data=form)).status_code == 400


async def test_id_token_is_no_logout_token(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    accounts = {"ada": {"email": email, "email_verified": True}}
    with oidc_identity_provider(accounts) as provider:
        connection = await in_database(connect, provider, owner)
        assert await enter(browser, provider, email) == ""
        noted = await in_database(id_token_of_session)
        path = f"/api/auth/sso/oidc/{connection.pk}/backchannel-logout"
        answer = await browser.post(path, data={"logout_token": noted})
    assert answer.status_code == 400
    assert "no logout token" in answer.json()["error"]["message"]
    assert (await browser.get("/api/me")).status_code == 200


def id_token_of_session() -> str:
    (noted,) = (
        session.get_decoded()["sso_at_provider"]
        for session in Session.objects.all()
        if "sso_at_provider" in session.get_decoded()
    )
    return str(noted["id_token"])
