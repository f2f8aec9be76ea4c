"""Groups that an organization keeps itself: nobody gives by them what they may not give."""

from typing import Any

import pytest

from backend.accounts.members import member_remove
from backend.accounts.models import Membership, Organization
from backend.accounts.principal import Principal
from backend.audit.models import AuditEvent
from backend.enterprise.group_grants import groups_apply_to_all
from backend.enterprise.group_rules import Given, group_rules_set
from backend.enterprise.models import DirectoryGroup, GroupRule
from backend.enterprise.own_groups import (
    group_create,
    group_delete,
    group_rename,
    group_role,
    group_role_give,
    group_role_take,
    group_user_add,
    group_user_remove,
)
from backend.enterprise.selectors import group_get
from backend.platform.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    ParleyError,
    PermissionDenied,
)
from tests.factories import member

pytestmark = pytest.mark.django_db


def colleague(owner: Principal, role: str) -> Principal:
    return member(organization=Organization.objects.get(pk=owner.organization_id), role=role)


def role_of(principal: Principal) -> str:
    row = Membership.objects.get(
        organization_id=principal.organization_id, user_id=principal.user_id
    )
    return row.role


def settle(owner: Principal) -> None:
    """What the background does after a change of the table."""
    groups_apply_to_all(organization_id=owner.organization_id)


def test_group_gives_its_role_until_its_people_leave_it_or_it_ends() -> None:
    owner = member()
    ada, grace = colleague(owner, "member"), colleague(owner, "member")
    group = group_create(principal=owner, name=" Money ")
    for one in (ada, grace):
        group_user_add(principal=owner, group_id=group.pk, user_id=one.user_id)
    group_role_give(principal=owner, group_id=group.pk, role="finance")
    settle(owner)
    assert [role_of(one) for one in (ada, grace)] == ["finance", "finance"]
    group = group_rename(principal=owner, group_id=group.pk, name="Treasury")
    assert (group.display_name, group_role(group)) == ("Treasury", "finance")
    group_user_remove(principal=owner, group_id=group.pk, user_id=ada.user_id)
    assert [role_of(one) for one in (ada, grace)] == ["member", "finance"]
    group_delete(principal=owner, group_id=group.pk)
    settle(owner)
    assert (role_of(grace), GroupRule.objects.count()) == ("member", 0)
    actions = AuditEvent.objects.filter(target_type="group").order_by("created_at")
    assert [event.action for event in actions] == [
        "group.created",
        *["group.updated"] * 4,
        "group.deleted",
    ]


def test_admin_makes_no_owner_by_a_group_and_unmakes_none() -> None:
    owner = member()
    admin = colleague(owner, "admin")
    group = group_create(principal=admin, name="Board")
    with pytest.raises(PermissionDenied):
        group_role_give(principal=admin, group_id=group.pk, role="owner")
    group_role_give(principal=owner, group_id=group.pk, role="owner")
    named: dict[str, Any] = {"principal": admin, "group_id": group.pk}
    for refused in (
        lambda: group_user_add(**named, user_id=admin.user_id),
        lambda: group_rename(**named, name="Boards"),
        lambda: group_role_take(**named, role="owner"),
        lambda: group_delete(**named),
        # A group of another name that the table gives something, one of the provider's say.
        lambda: group_create(principal=admin, name="Claimed"),
    ):
        group_rules_set(
            principal=owner, rules=[Given("Board", role="owner"), Given("Claimed", role="owner")]
        )
        with pytest.raises((PermissionDenied, Conflict)):
            refused()
    settle(owner)
    assert role_of(admin) == "admin"


@pytest.mark.parametrize("caller", ["member", "finance", "viewer", "another organization's owner"])
def test_only_owners_and_admins_of_the_organization_touch_its_groups(caller: str) -> None:
    owner = member()
    other = member() if caller.startswith("another") else colleague(owner, caller)
    group = group_create(principal=owner, name="Money")
    group_user_add(principal=owner, group_id=group.pk, user_id=owner.user_id)
    named: dict[str, Any] = {"principal": other, "group_id": group.pk}
    for call in (
        lambda: group_get(**named),
        lambda: group_rename(**named, name="Mine"),
        lambda: group_delete(**named),
        lambda: group_user_add(**named, user_id=other.user_id),
        lambda: group_user_remove(**named, user_id=owner.user_id),
        lambda: group_role_give(**named, role="viewer"),
        lambda: group_role_take(**named, role="viewer"),
    ):
        with pytest.raises((PermissionDenied, NotFound)):
            call()
    outsider = member()
    with pytest.raises(NotFound):
        group_user_add(principal=owner, group_id=group.pk, user_id=outsider.user_id)


def test_group_of_the_directory_is_read_only_but_for_what_it_gives() -> None:
    owner = member()
    group = DirectoryGroup.objects.create(
        organization_id=owner.organization_id, display_name="engineers"
    )
    named: dict[str, Any] = {"principal": owner, "group_id": group.pk}
    for call in (
        lambda: group_rename(**named, name="Mine"),
        lambda: group_delete(**named),
        lambda: group_user_add(**named, user_id=owner.user_id),
        lambda: group_user_remove(**named, user_id=owner.user_id),
    ):
        with pytest.raises(Conflict) as refused:
            call()
        assert refused.value.code == "scim_managed"
    with pytest.raises(Conflict) as taken:
        group_create(principal=owner, name="engineers")
    assert taken.value.code == "group_exists"
    group_role_give(**named, role="viewer")
    with pytest.raises(Conflict) as second:
        group_role_give(**named, role="finance")
    assert second.value.code == "role_assigned"
    group_role_take(**named, role="viewer")
    with pytest.raises(NotFound):
        group_role_take(**named, role="viewer")


def test_own_group_is_none_of_the_directorys_and_leaves_with_its_member() -> None:
    owner = member()
    ada = colleague(owner, "member")
    group = group_create(principal=owner, name="Money")
    group_user_add(principal=owner, group_id=group.pk, user_id=ada.user_id)
    sent = DirectoryGroup.objects.filter(organization_id=owner.organization_id, is_scim=True)
    assert not sent.exists()
    member_remove(principal=owner, user_id=ada.user_id)
    assert group.people.count() == 0


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\x00b", "a\nb"])
def test_malformed_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        group_create(principal=member(), name=name)
    assert isinstance(refused.value, ParleyError)
    assert refused.value.param == "name"
