"""A suspended organization is served nowhere, and is again when it is reinstated."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.access import Access, access_ended
from backend.accounts.authentication import principal_for_api_key, principal_for_session
from backend.accounts.internal_calls import internal_token
from backend.accounts.models import Mail, Membership, Organization, Suspension, User
from backend.accounts.operator_models import SuspensionCause
from backend.accounts.principal import Principal
from backend.accounts.suspension import reinstate_organization, suspend_organization
from backend.conversations.shares import shared_get
from backend.platform.database import in_database
from backend.platform.errors import Conflict, InvalidRequest, NotFound, OrganizationSuspended
from tests.factories import MembershipFactory, api_key_of, conversation_of, member

pytestmark = pytest.mark.django_db(transaction=True)

REASON = "Spam was sent with it"


def suspend(
    principal: Principal, *, reason: str = REASON, cause: str = SuspensionCause.OPERATOR
) -> Suspension:
    return suspend_organization(
        organization_id=principal.organization_id, reason=reason, cause=cause
    )


async def test_keys_are_refused_at_once_with_the_reason_and_work_again_at_once() -> None:
    principal = await in_database(member)
    _, secret = await in_database(api_key_of, principal)
    _, unused = await in_database(api_key_of, principal)
    assert (await principal_for_api_key(secret)).user_id == principal.user_id  # cached from here

    await in_database(suspend, principal)
    internal = await in_database(
        internal_token, organization_id=principal.organization_id, user_id=principal.user_id
    )
    for key in (secret, unused, secret, internal):
        with pytest.raises(OrganizationSuspended, match=REASON) as refused:
            await principal_for_api_key(key)
        assert refused.value.code == "organization_suspended"
        assert refused.value.status == 403

    await in_database(reinstate_organization, organization_id=principal.organization_id)
    for key in (secret, unused):
        assert (await principal_for_api_key(key)).user_id == principal.user_id


async def test_sessions_are_refused_but_for_account_and_data_and_other_organizations() -> None:
    principal = await in_database(member)
    user = await in_database(User.objects.get, pk=principal.user_id)
    await in_database(suspend, principal)
    with pytest.raises(OrganizationSuspended, match=REASON):
        await principal_for_session(user, None)
    ungated = await principal_for_session(user, None, gate=False)
    assert ungated.organization_id == principal.organization_id

    other = await in_database(MembershipFactory.create, user=user)
    served = await principal_for_session(user, None)
    assert served.organization_id == other.organization_id
    with pytest.raises(OrganizationSuspended):
        await principal_for_session(user, principal.organization_id)


def test_open_streams_and_sockets_end() -> None:
    principal, neighbour = member(), member()
    running = {
        Access(p.user_id, organization_id)
        for p in (principal, neighbour)
        for organization_id in (p.organization_id, None)
    }
    assert access_ended(running) == set()
    suspend(principal)
    assert access_ended(running) == {a for a in running if a.user_id == principal.user_id}


def test_public_links_lead_nowhere_meanwhile() -> None:
    principal = member()
    conversation = conversation_of(principal, title="Trip")
    conversation.shares.create(
        created_by_id=principal.user_id,
        token_sha256="3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0",
        title="Trip",
        model="m",
        snapshot=[],
        expires_at=timezone.now() + timedelta(days=1),
    )
    assert shared_get(token="token").title == "Trip"
    suspend(principal)
    with pytest.raises(NotFound):
        shared_get(token="token")
    reinstate_organization(organization_id=principal.organization_id)
    assert shared_get(token="token").title == "Trip"


def test_paying_does_not_lift_what_an_operator_decided() -> None:
    principal = member()
    suspend(principal)
    suspend(principal, cause=SuspensionCause.UNPAID, reason="Invoice 12 is unpaid")
    organization = Organization.objects.get(pk=principal.organization_id)
    assert organization.suspended_at is not None

    assert not reinstate_organization(organization_id=organization.pk, cause=SuspensionCause.UNPAID)
    assert Organization.objects.exclude(suspended_at=None).filter(pk=organization.pk).exists()
    assert reinstate_organization(organization_id=organization.pk)
    assert Organization.objects.filter(pk=organization.pk, suspended_at=None).exists()
    with pytest.raises(Conflict):
        reinstate_organization(organization_id=organization.pk)


def test_owners_get_a_mail_and_a_reason_is_needed() -> None:
    principal = member()
    MembershipFactory.create(organization_id=principal.organization_id, role="member")
    with pytest.raises(InvalidRequest) as refused:
        suspend(principal, reason=" ")
    assert refused.value.param == "reason"
    suspend(principal)
    with pytest.raises(Conflict):
        suspend(principal)
    owner = Membership.objects.get(organization_id=principal.organization_id, role="owner").user
    assert [mail.to for mail in Mail.objects.filter(kind="suspension")] == [owner.email]
