"""Membership: roles are respected, and an organization never loses its last owner."""

import pytest

from backend.accounts.invitations import invitation_accept, invitation_create
from backend.accounts.members import member_remove, member_role_set, ownership_transfer
from backend.accounts.models import APIKey, Membership, Organization, Role, ServiceAccount
from backend.accounts.scopes import Scope
from backend.accounts.service_accounts import service_account_create
from backend.accounts.services import api_key_create
from backend.platform.errors import Conflict, InvalidRequest, NotFound, PermissionDenied
from tests.factories import OrganizationFactory, member

pytestmark = pytest.mark.django_db


def organization_of(principal):
    return Organization.objects.get(pk=principal.organization_id)


def token_of(url):
    return url.partition("#")[2]


def role_of(principal):
    return Membership.objects.get(
        organization_id=principal.organization_id, user_id=principal.user_id
    ).role


@pytest.mark.parametrize("role", [Role.MEMBER, Role.FINANCE, Role.VIEWER])
def test_other_roles_manage_no_members(role):
    caller = member(role=role)
    other = member(organization=organization_of(caller), role=Role.MEMBER)

    with pytest.raises(PermissionDenied):
        invitation_create(principal=caller, role=Role.MEMBER)
    with pytest.raises(PermissionDenied):
        member_role_set(principal=caller, user_id=caller.user_id, role=Role.OWNER)
    with pytest.raises(PermissionDenied):
        member_remove(principal=caller, user_id=other.user_id)


def test_unknown_role_is_refused():
    owner = member()

    with pytest.raises(InvalidRequest):
        member_role_set(principal=owner, user_id=owner.user_id, role="emperor")


def test_seats_of_the_plan_are_not_passed():
    owner = member()  # of the plan `free`: five seats
    organization = organization_of(owner)
    for _ in range(3):
        member(organization=organization, role=Role.MEMBER)
    service_account_create(principal=owner, project_id=owner.project_id, name="takes no seat")

    _, url = invitation_create(principal=owner, role=Role.MEMBER, max_uses=3)
    invitation_accept(token=token_of(url), user_id=member().user_id)

    with pytest.raises(Conflict, match="5 seats"):
        invitation_accept(token=token_of(url), user_id=member().user_id)
    with pytest.raises(Conflict, match="5 seats"):
        invitation_create(principal=owner, role=Role.MEMBER, email="sixth@example.org")


def test_ownership_is_transferred_by_an_owner_only():
    owner = member()
    admin = member(organization=organization_of(owner), role=Role.ADMIN)
    outsider = member()

    with pytest.raises(PermissionDenied):
        ownership_transfer(principal=admin, user_id=admin.user_id)
    with pytest.raises(NotFound):
        ownership_transfer(principal=owner, user_id=outsider.user_id)
    ownership_transfer(principal=owner, user_id=admin.user_id)

    assert (role_of(owner), role_of(admin)) == (Role.ADMIN, Role.OWNER)


def test_last_organization_of_a_leaving_member_is_replaced_by_their_own():
    owner = member()
    leaving = member(organization=organization_of(owner), role=Role.MEMBER, name="Ada")

    member_remove(principal=leaving, user_id=leaving.user_id)

    own = Membership.objects.get(user_id=leaving.user_id)
    assert (own.role, own.organization.name) == (Role.OWNER, "Ada's organization")


def test_admin_cannot_make_or_remove_owners():
    organization = OrganizationFactory.create()
    owner = member(organization=organization)
    admin = member(organization=organization, role=Role.ADMIN)

    for attempt in (
        lambda: member_role_set(principal=admin, user_id=admin.user_id, role=Role.OWNER),
        lambda: member_role_set(principal=admin, user_id=owner.user_id, role=Role.MEMBER),
        lambda: member_remove(principal=admin, user_id=owner.user_id),
    ):
        with pytest.raises(PermissionDenied):
            attempt()
    assert role_of(owner) == Role.OWNER


def test_last_owner_cannot_be_removed():
    owner = member()

    with pytest.raises(Conflict):
        member_role_set(principal=owner, user_id=owner.user_id, role=Role.MEMBER)
    with pytest.raises(Conflict):
        member_remove(principal=owner, user_id=owner.user_id)
    assert role_of(owner) == Role.OWNER


def test_owner_can_leave_when_there_is_another():
    organization = OrganizationFactory.create()
    leaving = member(organization=organization)
    staying = member(organization=organization, role=Role.MEMBER)

    member_role_set(principal=leaving, user_id=staying.user_id, role=Role.OWNER)
    member_remove(principal=leaving, user_id=leaving.user_id)

    assert role_of(staying) == Role.OWNER
    assert organization.memberships.count() == 1


def test_keys_of_a_removed_member_stop_working():
    organization = OrganizationFactory.create()
    owner = member(organization=organization)
    leaving = member(organization=organization, role=Role.MEMBER)
    api_key_create(principal=leaving, name="mine")
    api_key_create(principal=owner, name="stays")

    member_remove(principal=leaving, user_id=leaving.user_id)

    revoked = dict(APIKey.objects.values_list("name", "revoked_at"))
    assert revoked["mine"] is not None
    assert revoked["stays"] is None


def test_keys_of_a_removed_member_are_handed_to_service_accounts_but_those_that_administer():
    owner = member()
    leaving = member(organization=organization_of(owner), role=Role.ADMIN, name="Ada")
    kept, _ = api_key_create(principal=leaving, name="of a server")
    ended, _ = api_key_create(principal=leaving, name="administers", scopes=[Scope.ADMINISTRATION])

    member_remove(principal=owner, user_id=leaving.user_id, keys="service_account")

    kept.refresh_from_db()
    ended.refresh_from_db()
    account = ServiceAccount.objects.get()
    assert (kept.revoked_at, kept.created_by) == (None, account.user)
    assert (account.name, account.project_id) == ("Keys of Ada", kept.project_id)
    assert ended.revoked_at is not None


def test_member_cannot_be_changed_by_another_organizations_owner():
    ordinary, other_owner = member(role=Role.MEMBER), member()

    with pytest.raises(NotFound):
        member_role_set(principal=other_owner, user_id=ordinary.user_id, role=Role.ADMIN)
    with pytest.raises(NotFound):
        member_remove(principal=other_owner, user_id=ordinary.user_id)
    assert role_of(ordinary) == Role.MEMBER
