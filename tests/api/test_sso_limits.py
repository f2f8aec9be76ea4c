"""Limits of returns from an identity provider by address."""

from collections.abc import Iterator
from typing import Any

import pytest

from backend.api import throttling
from backend.api.throttling import AttemptLimit
from backend.platform.database import in_database
from tests.api.asgi_client import AsgiClient
from tests.api.organizations import (
    oidc_of,
    oidc_provider,
    owner_with_domain,
    refusal,
    saml_of,
    through_oidc,
    through_saml,
)
from tests.support.saml_provider import Answer, SAMLProvider

pytestmark = pytest.mark.usefixtures("transactional_db")

LIMIT = AttemptLimit(3, 600)
SIGN_INS = LIMIT.attempts + 2


@pytest.fixture(autouse=True)
def low_limits(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SSO_TO_PRIVATE = True
    for name in ("LINKS_PER_ADDRESS", "SSO_STARTS_PER_ADDRESS", "SSO_ANSWERS_PER_ADDRESS"):
        monkeypatch.setattr(throttling, name, LIMIT, raising=False)


@pytest.fixture
def provider() -> Iterator[SAMLProvider]:
    served = SAMLProvider()
    yield served
    served.close()


async def test_office_behind_one_address_signs_in_by_oidc() -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    with oidc_provider(("subject-1", {"email": email, "email_verified": True})) as issuer:
        await in_database(oidc_of, owner, issuer)
        for _ in range(SIGN_INS):
            async with AsgiClient() as browser:
                assert refusal(await through_oidc(browser, email, "subject-1")) == ""


async def test_office_behind_one_address_signs_in_by_saml(provider: SAMLProvider) -> None:
    owner, domain = await in_database(owner_with_domain)
    await in_database(saml_of, owner, provider)
    provider.answer = Answer(f"ada@{domain}")
    for _ in range(SIGN_INS):
        async with AsgiClient() as browser:
            assert refusal(await through_saml(browser, f"ada@{domain}")) == ""


@pytest.mark.parametrize(
    "path", ["oidc/callback?state=invented&code=1", "saml/finish?ticket=invented"]
)
async def test_refused_answers_are_limited(path: str) -> None:
    async with AsgiClient() as browser:
        answers = [await browser.get(f"/api/auth/sso/{path}") for _ in range(LIMIT.attempts + 1)]
    assert [answer.status_code for answer in answers] == [302] * LIMIT.attempts + [429]
    assert answers[-1].json()["error"]["code"] == "too_many_attempts"


async def test_forged_assertions_are_limited(provider: SAMLProvider) -> None:
    owner, _ = await in_database(owner_with_domain)
    connection = await in_database(saml_of, owner, provider)
    async with AsgiClient() as browser:
        statuses = [
            (
                await browser.post(
                    f"/api/auth/sso/saml/{connection.pk}/acs", data={"SAMLResponse": "forged"}
                )
            ).status_code
            for _ in range(LIMIT.attempts + 1)
        ]
    assert statuses == [302] * LIMIT.attempts + [429]


async def test_sign_ins_that_only_begin_are_limited() -> None:
    owner, domain = await in_database(owner_with_domain)
    with oidc_provider() as issuer:
        await in_database(oidc_of, owner, issuer)
        async with AsgiClient() as browser:
            await browser.get("/")
            body = {"email": f"x@{domain}"}
            statuses = [
                (await browser.post("/api/auth/sso", json=body)).status_code
                for _ in range(LIMIT.attempts + 1)
            ]
    assert statuses == [200] * LIMIT.attempts + [429]
