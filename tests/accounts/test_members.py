"""Membership: roles are respected, and an organization never loses its last owner."""

import pytest

from backend.accounts.members import member_add, member_remove, member_role_set
from backend.accounts.models import APIKey, Membership, Role
from backend.accounts.services import api_key_create
from backend.platform.errors import Conflict, InvalidRequest, NotFound, PermissionDenied
from tests.factories import OrganizationFactory, UserFactory, member

pytestmark = pytest.mark.django_db


def role_of(principal):
    return Membership.objects.get(
        organization_id=principal.organization_id, user_id=principal.user_id
    ).role


def test_admin_adds_a_member_once():
    admin, newcomer = member(role=Role.ADMIN), UserFactory.create()

    added = member_add(principal=admin, email=newcomer.email.upper(), role=Role.FINANCE)

    assert added.organization_id == admin.organization_id
    assert added.role == Role.FINANCE
    with pytest.raises(Conflict):
        member_add(principal=admin, email=newcomer.email, role=Role.MEMBER)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.FINANCE])
def test_other_roles_manage_no_members(role):
    caller = member(role=role)

    with pytest.raises(PermissionDenied):
        member_add(principal=caller, email=UserFactory.create().email, role=Role.MEMBER)
    with pytest.raises(PermissionDenied):
        member_role_set(principal=caller, user_id=caller.user_id, role=Role.MEMBER)


def test_unknown_user_or_role_is_refused_by_name():
    owner = member()

    with pytest.raises(NotFound):
        member_add(principal=owner, email="nobody@example.org", role=Role.MEMBER)
    with pytest.raises(InvalidRequest):
        member_add(principal=owner, email=UserFactory.create().email, role="emperor")


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


def test_member_cannot_be_changed_by_another_organizations_owner():
    ordinary, other_owner = member(role=Role.MEMBER), member()

    with pytest.raises(NotFound):
        member_role_set(principal=other_owner, user_id=ordinary.user_id, role=Role.ADMIN)
    with pytest.raises(NotFound):
        member_remove(principal=other_owner, user_id=ordinary.user_id)
    assert role_of(ordinary) == Role.MEMBER
