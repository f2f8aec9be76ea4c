"""What an identity provider begins by itself: a sign-in, a logout."""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest

from backend.accounts.models import User
from backend.audit.models import AuditEvent
from backend.enterprise import saml_settings
from backend.enterprise.models import Connection
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.api.organizations import (
    PASSWORD,
    at_saml_provider,
    owner_with_domain,
    refusal,
    saml_of,
    through_saml,
)
from tests.factories import member
from tests.support.saml_provider import Answer, SAMLProvider, encrypt, rename

pytestmark = pytest.mark.usefixtures("transactional_db", "private_providers")


@pytest.fixture
async def browser() -> AsyncIterator[AsgiClient]:
    async with AsgiClient() as client:
        yield client


@pytest.fixture(scope="module")
def provider() -> Iterator[SAMLProvider]:
    served = SAMLProvider()
    yield served
    served.close()


def unsolicited(provider: SAMLProvider, connection: Connection) -> dict[str, str]:
    """What a tile of the provider's portal posts."""
    acs, audience = saml_settings.acs_url(connection.pk), saml_settings.entity_id(connection.pk)
    return {"SAMLResponse": provider.response(acs=acs, audience=audience, request_id="")}


async def test_unsolicited_answer_begins_a_sign_in_of_the_browser_where_allowed(
    browser: AsgiClient, provider: SAMLProvider
) -> None:
    owner, domain = await in_database(owner_with_domain)
    connection = await in_database(lambda: saml_of(owner, provider, allows_idp_initiated=True))
    provider.answer = Answer(f"ada@{domain}")
    acs = f"/api/auth/sso/saml/{connection.pk}/acs"
    form = unsolicited(provider, connection)
    async with AsgiClient() as attacker:  # whose answer it is does not matter: it signs nobody in
        posted = await attacker.post(acs, data=form)
        assert refusal(await attacker.post(acs, data=form)) == "sso_refused"
    assert posted.headers["location"] == f"http://127.0.0.1:8000/api/auth/sso/{connection.pk}/start"
    await browser.get("/")
    started = await browser.get(f"/api/auth/sso/{connection.pk}/start")
    assert (await browser.get("/api/me")).status_code == 401
    path, answer = await at_saml_provider(started.headers["location"])
    taken = await browser.post(path, data=answer)
    assert refusal(await browser.get(taken.headers["location"])) == ""
    assert (await browser.get("/api/me")).json()["user"]["email"] == f"ada@{domain}"


async def test_provider_begins_nothing_unless_its_organization_allows_it(
    browser: AsgiClient, provider: SAMLProvider
) -> None:
    owner, domain = await in_database(owner_with_domain)
    connection = await in_database(saml_of, owner, provider)
    provider.answer = Answer(f"ada@{domain}")
    form = unsolicited(provider, connection)
    answer = await browser.post(f"/api/auth/sso/saml/{connection.pk}/acs", data=form)
    assert refusal(answer) == "sso_refused"
    assert refusal(await browser.get(f"/api/auth/sso/{connection.pk}/start")) == "sso_refused"


@pytest.mark.parametrize(
    "attack",
    [{"is_signed": False}, {"change": rename}, {"audience": "https://other.example.com"}],
)
async def test_forged_unsolicited_answer_begins_nothing(
    browser: AsgiClient, provider: SAMLProvider, attack: dict[str, Any]
) -> None:
    owner, domain = await in_database(owner_with_domain)
    connection = await in_database(lambda: saml_of(owner, provider, allows_idp_initiated=True))
    provider.answer = Answer(f"ada@{domain}", **attack)
    form = unsolicited(provider, connection)
    answer = await browser.post(f"/api/auth/sso/saml/{connection.pk}/acs", data=form)
    assert refusal(answer) == "sso_refused"


async def test_encrypted_assertion_is_refused_by_name(
    browser: AsgiClient, provider: SAMLProvider
) -> None:
    owner, domain = await in_database(owner_with_domain)
    await in_database(saml_of, owner, provider)
    provider.answer = Answer(f"ada@{domain}", change=encrypt)
    assert refusal(await through_saml(browser, f"ada@{domain}")) == "sso_encrypted"


async def signed_in(browser: AsgiClient, provider: SAMLProvider) -> tuple[Connection, str]:
    """Ada, through a provider with single logout."""
    owner, domain = await in_database(owner_with_domain)
    slo_url = f"{provider.url}/slo"
    connection = await in_database(lambda: saml_of(owner, provider, slo_url=slo_url))
    provider.answer = Answer(f"ada@{domain}", subject="employee-7")
    assert refusal(await through_saml(browser, f"ada@{domain}")) == ""
    assert (await browser.get("/api/me")).status_code == 200
    return connection, f"ada@{domain}"


async def test_logout_at_the_provider_ends_the_sessions_that_it_began(
    browser: AsgiClient, provider: SAMLProvider
) -> None:
    connection, email = await signed_in(browser, provider)

    def give_password() -> None:
        user = User.objects.get(email=email)
        user.set_password(PASSWORD)
        user.save()

    async with AsgiClient() as second, AsgiClient() as elsewhere:
        await through_saml(second, email)
        await in_database(give_password)
        await through_saml(browser, email)  # a new password ended the earlier sessions
        assert (await elsewhere.sign_in(email, PASSWORD)).status_code == 200
        url = provider.logout_url(saml_settings.logout_url(connection.pk), subject="employee-7")
        answer = await second.get(url)
        assert answer.headers["location"].startswith(f"{provider.url}/slo?SAMLResponse=")
        assert (await browser.get("/api/me")).status_code == 401
        assert (await elsewhere.get("/api/me")).status_code == 200
        assert refusal(await second.get(url)) == "sso_refused"
    event = await in_database(AuditEvent.objects.get, action="logout.succeeded")
    assert (event.actor_kind, event.details) == ("scim", {"method": "sso:saml"})
    metadata = await browser.get(f"/api/auth/sso/saml/{connection.pk}/metadata")
    assert "SingleLogoutService" in metadata.text


@pytest.mark.parametrize("attack", ["unsigned", "another key", "issuer", "changed", "elsewhere"])
async def test_forged_logout_ends_no_session(
    browser: AsgiClient, provider: SAMLProvider, attack: str
) -> None:
    connection, _ = await signed_in(browser, provider)
    url = saml_settings.logout_url(connection.pk)
    other = SAMLProvider()
    try:
        if attack == "another key":
            asked = other.logout_url(url, subject="employee-7", issuer=connection.issuer)
        elif attack == "issuer":
            asked = provider.logout_url(url, subject="employee-7", issuer="https://x.example.com")
        elif attack == "elsewhere":  # made for another connection of the same provider
            foreign = url.replace(str(connection.pk), str(uuid4()))
            asked = provider.logout_url(foreign, subject="employee-7")
            asked = asked.replace(foreign.partition("8000")[2], url.partition("8000")[2])
        else:
            asked = provider.logout_url(url, subject="employee-7", is_signed=attack == "changed")
        if attack == "changed":
            whole = provider.logout_url(url, subject="another")
            asked = f"{whole.partition('&SigAlg')[0]}&SigAlg{asked.partition('&SigAlg')[2]}"
    finally:
        other.close()
    async with AsgiClient() as anonymous:
        assert refusal(await anonymous.get(asked)) == "sso_refused"
    assert (await browser.get("/api/me")).status_code == 200


async def test_provider_without_single_logout_ends_no_session(
    browser: AsgiClient, provider: SAMLProvider
) -> None:
    owner, _ = await in_database(owner_with_domain)
    connection = await in_database(saml_of, owner, provider)
    await in_database(member)
    url = provider.logout_url(saml_settings.logout_url(connection.pk), subject="employee-7")
    assert refusal(await browser.get(url)) == "sso_unknown"
