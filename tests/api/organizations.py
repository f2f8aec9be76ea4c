"""Organizations with a verified domain and an identity provider, and a browser's way through it."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from django.utils import timezone
from oidc_provider_mock import User as ProviderUser
from oidc_provider_mock import run_server_in_thread

from backend.accounts.models import Organization, OrganizationDomain
from backend.accounts.principal import Principal
from backend.enterprise.connections import Wanted, connection_set
from backend.enterprise.models import Connection
from tests.api.asgi_client import AsgiClient
from tests.factories import member
from tests.support.saml_provider import SAMLProvider, form_of

PASSWORD = "a long enough one 7"


def new_domain(organization: Organization) -> str:
    domain = f"{secrets.token_hex(6)}.example.com"
    OrganizationDomain.objects.create(
        organization=organization, domain=domain, token="t", verified_at=timezone.now()
    )
    return domain


def owner_with_domain(**fields: Any) -> tuple[Principal, str]:
    owner = member(**fields)
    return owner, new_domain(Organization.objects.get(pk=owner.organization_id))


def oidc_of(owner: Principal, issuer: str, **fields: Any) -> Connection:
    wanted = {
        "protocol": "oidc",
        "issuer": issuer,
        "default_role": "member",
        "is_enabled": True,
        "is_forced": False,
        "client_id": "parley",
        "client_secret": "the client's own",
    }
    return connection_set(principal=owner, wanted=Wanted(**{**wanted, **fields}))


def saml_of(owner: Principal, provider: SAMLProvider, **fields: Any) -> Connection:
    wanted = Wanted(
        protocol="saml",
        issuer=f"{provider.url}/metadata",
        default_role="member",
        is_enabled=True,
        is_forced=False,
        sso_url=f"{provider.url}/sso",
        certificates=provider.certificate,
        **fields,
    )
    return connection_set(principal=owner, wanted=wanted)


@contextmanager
def oidc_provider(*users: tuple[str, dict[str, Any]]) -> Iterator[str]:
    """The issuer of a provider that knows `users`: subject and claims."""
    claims = [ProviderUser(sub=sub, claims=one) for sub, one in users]
    with run_server_in_thread(user_claims=claims) as server:
        yield f"http://localhost:{server.server_port}"


async def begin(browser: AsgiClient, email: str) -> str:
    """Where the browser is sent."""
    await browser.get("/")
    answer = await browser.post("/api/auth/sso", json={"email": email})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["url"])


async def at_oidc_provider(url: str, subject: str) -> str:
    """Sign in at the provider; the path that it sends the browser back to."""
    async with httpx.AsyncClient() as client:
        answer = await client.post(url, data={"sub": subject})
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["location"])
    return f"{back.path}?{back.query}"


async def through_oidc(browser: AsgiClient, email: str, subject: str) -> httpx.Response:
    back = await at_oidc_provider(await begin(browser, email), subject)
    return await browser.get(back)


async def at_saml_provider(url: str) -> tuple[str, dict[str, str]]:
    """Sign in at the provider; the path and the form that its page posts."""
    async with httpx.AsyncClient() as client:
        action, form = form_of((await client.get(url)).text)
    return urlsplit(action).path, form


async def through_saml(browser: AsgiClient, email: str) -> httpx.Response:
    path, form = await at_saml_provider(await begin(browser, email))
    async with AsgiClient() as provider_page:  # a post from another site brings no cookie
        posted = await provider_page.post(path, data=form)
    assert posted.status_code == 302, posted.text
    if posted.headers["location"].startswith("/login"):
        return posted
    return await browser.get(posted.headers["location"])


def refusal(answer: httpx.Response) -> str:
    """The code with which a browser comes back to the sign-in page; empty where it is in."""
    assert answer.status_code == 302, answer.text
    query = parse_qs(urlsplit(answer.headers["location"]).query)
    assert query.keys() <= {"sso_error"}  # no words of ours, which a stranger could write as well
    return query.get("sso_error", [""])[0]
