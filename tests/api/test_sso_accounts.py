"""Finds the account that a provider's answer opens, and keeps its address."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.hashers import make_password

from backend.accounts.invitations import invitation_create
from backend.accounts.models import Invitation, Mail, Membership, OrganizationDomain, User
from backend.enterprise.connections import identities_forget
from backend.enterprise.identities import Claims, identity_sign_in
from backend.enterprise.models import Connection, DirectoryUser, Identity
from backend.platform.database import in_database
from backend.platform.errors import PermissionDenied
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
from tests.factories import member
from tests.support.saml_provider import Answer, SAMLProvider

pytestmark = pytest.mark.usefixtures("transactional_db", "private_providers")


@pytest.fixture
async def browser() -> AsyncIterator[AsgiClient]:
    async with AsgiClient() as client:
        yield client


async def enter(
    browser: AsgiClient, issuer_of: Any, subject: str, email: str
) -> tuple[str, dict[str, Any]]:
    """Sign in as `subject` with `email`; the refusal's code and who is signed in."""
    owner, domain = issuer_of
    claims = {"email": email, "email_verified": True, "name": "Ada"}
    with oidc_provider((subject, claims)) as issuer:
        await in_database(
            lambda: Connection.objects.filter(organization_id=owner.organization_id).update(
                issuer=issuer
            )
        )
        code = refusal(await through_oidc(browser, f"x@{domain}", subject))
    answer = await browser.get("/api/me")
    return code, answer.json()


@pytest.fixture
async def company() -> Any:
    owner, domain = await in_database(owner_with_domain)
    await in_database(oidc_of, owner, "https://idp.example.com")
    return owner, domain


async def test_reused_address_opens_no_account(browser: AsgiClient, company: Any) -> None:
    email = f"ada@{company[1]}"
    _, first = await enter(browser, company, "employee-1", email)
    async with AsgiClient() as newcomer:
        code, answer = await enter(newcomer, company, "employee-2", email)
    assert (code, answer["error"]["code"]) == ("sso_address_reused", "not_signed_in")
    subjects = await in_database(
        lambda: list(Identity.objects.filter(user_id=first["user"]["id"]).values_list("subject"))
    )
    assert subjects == [("employee-1",)]


async def test_address_follows_the_subject(browser: AsgiClient, company: Any) -> None:
    old, new = f"ada@{company[1]}", f"ada.king@{company[1]}"
    _, first = await enter(browser, company, "employee-1", old)
    _, again = await enter(browser, company, "employee-1", new)
    assert (again["user"]["id"], again["user"]["email"]) == (first["user"]["id"], new)
    assert await in_database(Mail.objects.filter(to=old, kind="address_changed").exists)
    # The old address is free again: whoever has it now is somebody else.
    async with AsgiClient() as newcomer:
        code, other = await enter(newcomer, company, "employee-2", old)
    assert (code, other["user"]["email"]) == ("", old)
    assert other["user"]["id"] != first["user"]["id"]


async def test_account_survives_a_change_to_saml(browser: AsgiClient, company: Any) -> None:
    owner, domain = company
    await enter(browser, company, "employee-1", f"ada@{domain}")
    _, before = await enter(browser, company, "employee-1", f"ada.king@{domain}")
    provider = SAMLProvider(Answer(f"ada.king@{domain}", subject="by-saml"))
    try:
        await in_database(saml_of, owner, provider)
        assert refusal(await through_saml(browser, f"x@{domain}")) == ""
    finally:
        provider.close()
    assert (await browser.get("/api/me")).json()["user"]["id"] == before["user"]["id"]


async def test_taken_address_leaves_the_account_its_own(browser: AsgiClient, company: Any) -> None:
    email, taken = f"ada@{company[1]}", f"bob@{company[1]}"
    await enter(browser, company, "employee-1", email)
    await in_database(member, email=taken)
    code, again = await enter(browser, company, "employee-1", taken)
    assert (code, again["user"]["email"]) == ("", email)


async def test_private_address_of_an_account_stays(browser: AsgiClient, company: Any) -> None:
    email = f"ada@{company[1]}"
    _, first = await enter(browser, company, "employee-1", email)
    account = User.objects.filter(pk=first["user"]["id"])
    await in_database(lambda: account.update(email="ada@private.example"))
    code, again = await enter(browser, company, "employee-1", email)
    assert (code, again["user"]["email"]) == ("", "ada@private.example")


async def test_known_subject_is_refused_without_its_domain(
    browser: AsgiClient, company: Any
) -> None:
    owner, domain = company
    await enter(browser, company, "employee-1", f"ada@{domain}")
    await in_database(OrganizationDomain.objects.filter(domain=domain).update, verified_at=None)
    connection = await in_database(Connection.objects.get, organization_id=owner.organization_id)
    with pytest.raises(PermissionDenied) as refused:
        claims = Claims("employee-1", f"ada@{domain}", True)
        await in_database(identity_sign_in, connection=connection, claims=claims)
    assert refused.value.code == "sso_foreign_address"


@pytest.mark.parametrize("subject", ["", "s" * 301, "a\x00b"])
def test_unusable_subject_is_refused(subject: str) -> None:
    with pytest.raises(PermissionDenied, match="subject"):
        Claims(subject, "ada@example.org", True)


def test_transient_subjects_are_linked_by_address() -> None:
    owner, domain = owner_with_domain()
    connection = oidc_of(owner, "https://idp.example.com")
    email = f"ada@{domain}"
    users = [
        identity_sign_in(
            connection=connection,
            claims=Claims(f"_{n}", email, True, groups=(f"group-{n}",), is_transient=True),
        )
        for n in range(3)
    ]
    assert len({user.pk for user in users}) == 1
    groups = Identity.objects.order_by("subject").values_list("groups", flat=True)
    assert list(groups) == [[], [], ["group-2"]]


@pytest.mark.parametrize("role", ["admin", "finance"])
async def test_invited_person_has_the_invitations_role(
    browser: AsgiClient, company: Any, role: str
) -> None:
    owner, domain = company
    email = f"ada@{domain}"
    await in_database(
        lambda: invitation_create(principal=owner, role=role, email=email, may_mail=False)
    )
    _, me = await enter(browser, company, "employee-1", email)
    assert me["role"] == role
    invitation = await in_database(Invitation.objects.get)
    assert (invitation.uses, invitation.accepted_at is None) == (1, False)


@pytest.mark.parametrize("named", [{"user_name": "{email}"}, {"external_id": "employee-1"}])
async def test_deactivated_name_opens_no_new_account(
    browser: AsgiClient, company: Any, named: dict[str, str]
) -> None:
    owner, domain = company
    email = f"ada@{domain}"

    def deactivated() -> None:
        row = {
            "user_name": "somebody",
            **{name: v.format(email=email) for name, v in named.items()},
        }
        account = User.objects.create(
            email="ada@private.example", name="Ada", password=make_password(None)
        )
        DirectoryUser.objects.create(
            organization_id=owner.organization_id, user=account, is_active=False, **row
        )

    await in_database(deactivated)
    code, _ = await enter(browser, company, "employee-1", email)
    assert code == "sso_deactivated"
    assert not await in_database(
        Membership.objects.filter(organization_id=owner.organization_id, user__email=email).exists
    )


async def test_owner_has_accounts_linked_anew(browser: AsgiClient, company: Any) -> None:
    owner, domain = company
    _, first = await enter(browser, company, "employee-1", f"ada@{domain}")
    with pytest.raises(PermissionDenied):
        await in_database(identities_forget, principal=replace(owner, role="admin"))
    await in_database(identities_forget, principal=owner, user_id=UUID(first["user"]["id"]))
    code, again = await enter(browser, company, "another-subject", f"ada@{domain}")
    assert (code, again["user"]["id"]) == ("", first["user"]["id"])


@pytest.mark.parametrize(
    ("fields", "is_kept"),
    [
        ({"default_role": "viewer"}, True),
        ({"issuer": "https://other.example.com"}, False),
        ({"client_id": "another"}, False),
    ],
)
def test_another_provider_forgets_identities(fields: dict[str, str], is_kept: bool) -> None:
    owner, domain = owner_with_domain()
    first = oidc_of(owner, "https://idp.example.com")
    identity_sign_in(connection=first, claims=Claims("employee-1", f"ada@{domain}", True))
    second = oidc_of(owner, **{"issuer": "https://idp.example.com", **fields})
    assert first.pk == second.pk
    assert Identity.objects.filter(connection=second).exists() is is_kept
