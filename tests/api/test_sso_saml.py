"""SAML with pysaml2's identity provider: metadata both ways, signatures, attributes, logout."""

import base64
from collections.abc import AsyncIterator, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from lxml import etree
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NAMEID_FORMAT_TRANSIENT, NameID

from backend.accounts.models import User
from backend.accounts.principal import Principal
from backend.enterprise.connections import Wanted, connection_set
from backend.enterprise.models import Connection
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.api.organizations import (
    PASSWORD,
    at_saml_provider,
    begin,
    owner_with_domain,
    refusal,
    through_saml,
)
from tests.support.saml_identity_provider import IdentityProvider

pytestmark = pytest.mark.usefixtures("transactional_db", "private_providers")

ASSERTION = "{urn:oasis:names:tc:SAML:2.0:assertion}"
SSO = "/api/organization/sso"


@pytest.fixture
async def browser() -> AsyncIterator[AsgiClient]:
    async with AsgiClient() as client:
        yield client


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[IdentityProvider]:
    served = IdentityProvider(tmp_path)
    yield served
    served.close()


@pytest.fixture
async def company(provider: IdentityProvider) -> tuple[Principal, str]:
    """An organization and its provider, set up by each other's metadata through the page's API."""
    email = "boss@example.org"
    owner, domain = await in_database(lambda: owner_with_domain(email=email, password=PASSWORD))
    async with AsgiClient() as page:
        await page.sign_in(email, PASSWORD)
        ours = (await page.get(SSO)).json()
        metadata = await page.get(urlsplit(ours["entity_id"]).path)
        assert metadata.headers["Content-Type"] == "application/samlmetadata+xml"
        assert "validUntil" not in metadata.text
        provider.learn(metadata.content)
        read = await page.post(f"{SSO}/metadata", json={"metadata": provider.entity_id})
        assert read.status_code == 200, read.text
        pasted = await page.post(f"{SSO}/metadata", json={"metadata": provider.metadata})
        assert pasted.json() == read.json()
        saved = await page.put(SSO, json={"protocol": "saml", **read.json()})
        assert saved.status_code == 200, saved.text
        # What the provider was told before the first save holds after it.
        assert {name: saved.json()[name] for name in ("entity_id", "acs_url", "logout_url")} == {
            name: ours[name] for name in ("entity_id", "acs_url", "logout_url")
        }
    provider.person = {"email": f"ada@{domain}", "displayName": "Ada King"}
    return owner, domain


@pytest.mark.parametrize("signs", ["response", "assertion", "both"])
async def test_either_signature_is_enough(
    browser: AsgiClient, provider: IdentityProvider, company: tuple[Principal, str], signs: str
) -> None:
    provider.signs = signs
    assert refusal(await through_saml(browser, f"x@{company[1]}")) == ""
    user = (await browser.get("/api/me")).json()["user"]
    assert (user["email"], user["name"]) == (f"ada@{company[1]}", "Ada King")


async def test_answer_without_a_signature_is_refused(
    browser: AsgiClient, provider: IdentityProvider, company: tuple[Principal, str]
) -> None:
    provider.signs = "neither"
    assert refusal(await through_saml(browser, f"x@{company[1]}")) == "sso_refused"


async def test_unsigned_response_around_a_signed_one_is_refused(
    browser: AsgiClient, provider: IdentityProvider, company: tuple[Principal, str]
) -> None:
    provider.signs = "response"
    path, form = await at_saml_provider(await begin(browser, f"x@{company[1]}"))
    signed = etree.fromstring(base64.b64decode(form["SAMLResponse"]))
    forged = deepcopy(signed)
    forged.set("ID", "_forged")
    forged.remove(forged.find("{http://www.w3.org/2000/09/xmldsig#}Signature"))
    for element in forged.iter(f"{ASSERTION}NameID", f"{ASSERTION}AttributeValue"):
        element.text = f"boss@{company[1]}"
    extensions = etree.Element("{urn:oasis:names:tc:SAML:2.0:protocol}Extensions")
    extensions.append(signed)
    forged.insert(1, extensions)
    posted = {"SAMLResponse": base64.b64encode(etree.tostring(forged)).decode()}
    assert refusal(await browser.post(path, data=posted)) == "sso_refused"
    # The untouched answer is good.
    taken = await browser.post(path, data=form)
    assert refusal(await browser.get(taken.headers["location"])) == ""


@pytest.mark.parametrize(
    "name",
    [
        "Email",
        "emailAddress",
        "user.email",
        "urn:oid:1.3.6.1.4.1.5923.1.1.1.6",
        "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn",
        "ours",
    ],
)
async def test_address_is_read_by_its_names(
    browser: AsgiClient, provider: IdentityProvider, company: tuple[Principal, str], name: str
) -> None:
    owner, domain = company
    if name == "ours":
        rows = Connection.objects.filter(organization_id=owner.organization_id)
        await in_database(rows.update, email_claim="ours")
    provider.person = {name: f"ada@{domain}"}
    assert refusal(await through_saml(browser, f"x@{domain}")) == ""
    assert (await browser.get("/api/me")).json()["user"]["email"] == f"ada@{domain}"


async def test_transient_name_id_is_one_account(
    browser: AsgiClient, provider: IdentityProvider, company: tuple[Principal, str]
) -> None:
    for n in range(2):
        provider.name_id = NameID(format=NAMEID_FORMAT_TRANSIENT, text=f"_{n}")
        assert refusal(await through_saml(browser, f"x@{company[1]}")) == ""
    assert await in_database(User.objects.filter(email=f"ada@{company[1]}").count) == 1


async def test_persistent_name_ids_with_one_address_are_two_people(
    browser: AsgiClient, provider: IdentityProvider, company: tuple[Principal, str]
) -> None:
    assert refusal(await through_saml(browser, f"x@{company[1]}")) == ""
    provider.name_id = NameID(format=NAMEID_FORMAT_PERSISTENT, text="employee-8")
    async with AsgiClient() as newcomer:
        assert refusal(await through_saml(newcomer, f"x@{company[1]}")) == "sso_address_reused"


async def test_signing_out_here_signs_out_at_the_provider(
    browser: AsgiClient, provider: IdentityProvider, company: tuple[Principal, str]
) -> None:
    assert refusal(await through_saml(browser, f"x@{company[1]}")) == ""
    url = (await browser.post("/api/auth/logout")).json()["url"]
    async with httpx.AsyncClient() as client:
        assert (await client.get(url)).text == "signed out"
    assert provider.logouts == ["employee-7"]
    back = await browser.get(f"{SAML_LOGOUT.format(company[0].organization_id)}?SAMLResponse=x")
    assert back.headers["location"] == "/login"


SAML_LOGOUT = "/api/auth/sso/saml/{}/logout"


async def test_posted_logout_ends_the_session(
    browser: AsgiClient, provider: IdentityProvider, company: tuple[Principal, str]
) -> None:
    assert refusal(await through_saml(browser, f"x@{company[1]}")) == ""
    path = SAML_LOGOUT.format(company[0].organization_id)
    form = provider.logout_form(f"http://127.0.0.1:8000{path}")
    async with AsgiClient() as page:  # a post from another site brings no cookie
        answer = await page.post(path, data=form)
        assert answer.headers["location"].startswith(f"{provider.url}/slo?SAMLResponse=")
        assert (await browser.get("/api/me")).status_code == 401
        assert refusal(await page.post(path, data=form)) == "sso_refused"


@pytest.mark.parametrize("attack", ["unsigned", "changed", "wrapped"])
async def test_forged_posted_logout_ends_no_session(
    browser: AsgiClient,
    provider: IdentityProvider,
    company: tuple[Principal, str],
    attack: str,
) -> None:
    assert refusal(await through_saml(browser, f"x@{company[1]}")) == ""
    path = SAML_LOGOUT.format(company[0].organization_id)
    form = provider.forged_logout_form(f"http://127.0.0.1:8000{path}", attack)
    assert refusal(await browser.post(path, data=form)) == "sso_refused"
    assert (await browser.get("/api/me")).status_code == 200


async def test_metadata_of_no_provider_is_refused(browser: AsgiClient) -> None:
    await in_database(lambda: owner_with_domain(email="boss@example.org", password=PASSWORD))
    await browser.sign_in("boss@example.org", PASSWORD)
    ours = urlsplit((await browser.get(SSO)).json()["entity_id"]).path
    service = (await browser.get(ours)).text
    for text in ("<html>", "<a/>", service, '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'):
        answer = await browser.post(f"{SSO}/metadata", json={"metadata": text})
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "metadata"), text
    answer = await browser.post(f"{SSO}/metadata", json={"metadata": "ftp://example.org/"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "metadata")


def test_addresses_stay_when_the_provider_changes() -> None:
    owner, _ = owner_with_domain()
    wanted = Wanted(
        protocol="oidc",
        issuer="https://one.example.com",
        default_role="member",
        is_enabled=True,
        is_forced=False,
        client_id="parley",
        client_secret="secret",
    )
    first = connection_set(principal=owner, wanted=wanted)
    second = connection_set(
        principal=owner, wanted=Wanted(**{**_fields(wanted), "issuer": "https://two.example.com"})
    )
    assert first.pk == second.pk == owner.organization_id


def _fields(wanted: Wanted) -> dict[str, Any]:
    return {name: getattr(wanted, name) for name in Wanted.__dataclass_fields__}
