"""A session that an identity provider began reaches nothing outside its organization."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from backend.accounts.invitations import invitation_create
from backend.accounts.models import Membership
from backend.platform.database import in_database
from backend.rights.models import DataExport, JobState, SubjectKind
from tests.api.asgi_client import AsgiClient
from tests.api.organizations import (
    PASSWORD,
    oidc_of,
    oidc_provider,
    owner_with_domain,
    refusal,
    through_oidc,
)
from tests.factories import member

pytestmark = pytest.mark.usefixtures("transactional_db", "private_providers")


@pytest.fixture
async def browser() -> AsyncIterator[AsgiClient]:
    async with AsgiClient() as client:
        yield client


def person(email: str) -> tuple[str, dict[str, Any]]:
    return "subject-1", {"email": email, "email_verified": True, "name": "Ada"}


async def test_session_is_confined_to_its_organization(browser: AsgiClient) -> None:
    """The provider's administrator could sign in as anybody of the domain."""
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    elsewhere = await in_database(member, email=email, password=PASSWORD)
    with oidc_provider(person(email)) as issuer:
        await in_database(oidc_of, owner, issuer)
        assert refusal(await through_oidc(browser, email, "subject-1")) == ""
    switch = await browser.patch(
        "/api/me", json={"organization_id": str(elsewhere.organization_id)}
    )
    assert switch.status_code == 403
    assert (await browser.get("/api/me")).json()["organization"]["id"] == str(owner.organization_id)
    for method, path, body in (
        ("POST", "/api/me/password", {"password": "another long one 8"}),
        ("POST", "/api/me/email", {"email": "other@example.org"}),
        ("POST", "/api/me/totp", None),
        ("DELETE", "/api/me", None),
    ):
        answer = await browser.request(method, path, json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "sso_session"), path
    places = Membership.objects.filter(organization_id=owner.organization_id)
    await in_database(places.delete)
    assert (await browser.get("/api/me")).status_code == 401


async def test_provider_session_touches_nothing_elsewhere(browser: AsgiClient) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    elsewhere = await in_database(member, email=email, password=PASSWORD)
    export = await in_database(finished_export, elsewhere.user_id)
    invitation = await in_database(invitation_elsewhere, email)
    async with AsgiClient() as own:
        assert (await own.sign_in(email, PASSWORD)).status_code == 200
        with oidc_provider(person(email)) as issuer:
            await in_database(oidc_of, owner, issuer)
            assert refusal(await through_oidc(browser, email, "subject-1")) == ""
        assert (await browser.get("/api/exports")).json()["data"] == []
        sessions = (await browser.get("/api/me/sessions")).json()["data"]
        assert [one["current"] for one in sessions] == [True]
        other = next(
            one
            for one in (await own.get("/api/me/sessions")).json()["data"]
            if one["current"] is True
        )
        for method, path, body in (
            ("POST", f"/api/exports/{export}/link", None),
            ("POST", "/api/me/invitations", {"token": invitation}),
            ("POST", "/api/me/join-offer", None),
            ("DELETE", "/api/me/sessions", None),
            ("DELETE", f"/api/me/sessions/{other['id']}", None),
            ("PUT", "/api/data-policy/training", {"allowed": True}),
            ("PATCH", "/api/me", {"name": "Mallory"}),
        ):
            answer = await browser.request(method, path, json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "sso_session"), (
                path
            )
        me = (await browser.get("/api/me")).json()
        assert [one["id"] for one in me["organizations"]] == [str(owner.organization_id)]
        # The account's own session does it all.
        assert len((await own.get("/api/exports")).json()["data"]) == 1
        assert (await own.post(f"/api/exports/{export}/link")).status_code == 200
        assert len((await own.get("/api/me")).json()["organizations"]) == 2


async def test_person_of_one_organization_keeps_their_account_by_provider(
    browser: AsgiClient,
) -> None:
    owner, domain = await in_database(owner_with_domain)
    email = f"ada@{domain}"
    with oidc_provider(person(email)) as issuer:
        await in_database(oidc_of, owner, issuer)
        assert refusal(await through_oidc(browser, email, "subject-1")) == ""
    assert (await browser.patch("/api/me", json={"name": "Countess"})).status_code == 200
    training = await browser.put("/api/data-policy/training", json={"allowed": False})
    assert training.status_code == 200
    assert (await browser.delete("/api/me/sessions")).status_code == 204


def finished_export(user_id: UUID) -> UUID:
    made = DataExport.objects.create(
        kind=SubjectKind.USER,
        subject_id=user_id,
        requested_by_id=user_id,
        state=JobState.DONE,
        expires_at=timezone.now() + timedelta(days=1),
    )
    return made.pk


def invitation_elsewhere(email: str) -> str:
    _, url = invitation_create(principal=member(), role="member", email=email, may_mail=False)
    return url.partition("#")[2]
