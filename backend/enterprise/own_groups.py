"""Groups that the organization keeps itself, beside those of its directory, read only here.

Their people are members. What a group gives stands in the same table (`GroupRule`, by its name), so
a name is one group's, and nobody fills a group that gives a role which they may not give.
"""

from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from backend.accounts.members import locked_organization, people_of
from backend.accounts.models import Membership, Role
from backend.accounts.principal import Principal
from backend.accounts.roles import may_give, require_manager
from backend.audit.actions import Action
from backend.audit.services import record
from backend.enterprise.group_grants import groups_apply
from backend.enterprise.group_rules import MAX_RULES
from backend.enterprise.models import DirectoryGroup, GroupRule
from backend.enterprise.tasks import group_rules_changed
from backend.platform.errors import Conflict, InvalidRequest, NotFound, PermissionDenied

MAX_GROUPS = 200
_MAX_NAME = 200


@transaction.atomic
def group_create(*, principal: Principal, name: str) -> DirectoryGroup:
    """A group without people.

    Raises PermissionDenied, InvalidRequest; Conflict: `group_exists`, or there are too many.
    """
    _lock(principal)
    own = DirectoryGroup.objects.filter(organization_id=principal.organization_id, is_scim=False)
    if own.count() >= MAX_GROUPS:
        raise Conflict(f"An organization keeps at most {MAX_GROUPS} groups.")
    group = DirectoryGroup.objects.create(
        organization_id=principal.organization_id,
        display_name=_free_name(principal, name),
        is_scim=False,
    )
    _record(Action.GROUP_CREATED, principal, group, name=group.display_name)
    return group


@transaction.atomic
def group_rename(*, principal: Principal, group_id: UUID, name: str) -> DirectoryGroup:
    """What it gives stays. Raises as `group_create`, and as `_own_group`."""
    group = _own_group(principal, group_id)
    if name.strip() == group.display_name:
        return group
    rules, name = _rules(group), _free_name(principal, name)
    rules.update(group=name)
    group.display_name = name
    group.save(update_fields=["display_name", "changed_at"])
    _record(Action.GROUP_UPDATED, principal, group, name=name)
    return group


@transaction.atomic
def group_delete(*, principal: Principal, group_id: UUID) -> None:
    """What it gave is taken back within seconds. Raises as `_own_group`."""
    group = _own_group(principal, group_id)
    _rules(group).delete()
    _record(Action.GROUP_DELETED, principal, group, name=group.display_name)
    group.delete()
    group_rules_changed(principal.organization_id)


@transaction.atomic
def group_user_add(*, principal: Principal, group_id: UUID, user_id: UUID) -> None:
    """A member; one who is in it already changes nothing. Raises as `_own_group`."""
    group = _own_group(principal, group_id)
    group.people.add(_membership(principal, user_id))
    _record(Action.GROUP_UPDATED, principal, group, added=str(user_id))
    groups_apply(organization_id=principal.organization_id, user_id=user_id)


@transaction.atomic
def group_user_remove(*, principal: Principal, group_id: UUID, user_id: UUID) -> None:
    """Raises as `_own_group`; NotFound: they are not in it."""
    group = _own_group(principal, group_id)
    membership = _membership(principal, user_id)
    if not group.people.filter(pk=membership.pk).exists():
        raise NotFound(f"{user_id} is not in this group.")
    group.people.remove(membership)
    _record(Action.GROUP_UPDATED, principal, group, removed=str(user_id))
    groups_apply(organization_id=principal.organization_id, user_id=user_id)


@transaction.atomic
def group_role_give(*, principal: Principal, group_id: UUID, role: str) -> DirectoryGroup:
    """Its people have the role within seconds; of the directory's groups too.

    Raises:
        PermissionDenied: not theirs to give. NotFound. InvalidRequest: no such role.
        Conflict: `role_assigned`: it gives another one, and a group gives one.
    """
    group = _group(principal, group_id)
    if role not in Role.values:
        raise InvalidRequest(f"There is no role {role[:100]!r}.", param="role_id")
    _require_may_give(principal, role)
    given = _rules(group).exclude(role="").first()
    if given is not None and given.role != role:
        raise Conflict("The group gives another role: take that one first.", code="role_assigned")
    rules = GroupRule.objects.filter(organization_id=principal.organization_id)
    if given is None and rules.count() >= MAX_RULES:
        raise Conflict(f"The table of groups has at most {MAX_RULES} lines.")
    if given is None:
        rules.create(organization_id=principal.organization_id, group=group.display_name, role=role)
        _rules_record(principal, f"{group.display_name}: {role}")
    return group


@transaction.atomic
def group_role_take(*, principal: Principal, group_id: UUID, role: str) -> None:
    """Raises PermissionDenied. NotFound: no such group, or it does not give the role."""
    group = _group(principal, group_id)
    _require_may_give(principal, role)
    taken, _ = _rules(group).filter(role=role).delete() if role else (0, {})
    if not taken:
        raise NotFound(f"The group does not give the role {role[:100]!r}.")
    _rules_record(principal, f"{group.display_name}: no role")


def group_role(group: DirectoryGroup) -> str:
    """What a group gives in the organization; empty for nothing."""
    return _rules(group).exclude(role="").values_list("role", flat=True).first() or ""


def _lock(principal: Principal) -> None:
    require_manager(principal)
    locked_organization(principal.organization_id)


def _group(principal: Principal, group_id: UUID) -> DirectoryGroup:
    """Raises PermissionDenied; NotFound, also for another organization's."""
    _lock(principal)
    rows = DirectoryGroup.objects.filter(organization_id=principal.organization_id, pk=group_id)
    found = rows.first()
    if found is None:
        raise NotFound(f"There is no group {group_id}.")
    return found


def _own_group(principal: Principal, group_id: UUID) -> DirectoryGroup:
    """One to change.

    Raises:
        PermissionDenied: neither owner nor admin, or it gives what they may not give. NotFound.
        Conflict: `scim_managed`, the directory's.
    """
    group = _group(principal, group_id)
    if group.is_scim:
        raise Conflict(
            "The organization's directory sends this group (SCIM): change it there.",
            code="scim_managed",
        )
    _require_may_give(principal, group_role(group))
    return group


def _require_may_give(principal: Principal, role: str) -> None:
    if role and not may_give(principal.role, role):
        raise PermissionDenied(f"Only an owner decides who becomes {role} by a group.")


def _free_name(principal: Principal, name: str) -> str:
    """Also none that the table names: a group would give at once what was meant for another."""
    name = name.strip()
    if not name or len(name) > _MAX_NAME or not name.isprintable():
        raise InvalidRequest(f"A group's name has 1 to {_MAX_NAME} characters.", param="name")
    groups = DirectoryGroup.objects.filter(organization_id=principal.organization_id)
    rules = GroupRule.objects.filter(organization_id=principal.organization_id)
    if groups.filter(display_name=name).exists() or rules.filter(group=name).exists():
        raise Conflict(
            "There is a group of this name, or the table of groups names it.",
            code="group_exists",
            param="name",
        )
    return name


def _membership(principal: Principal, user_id: UUID) -> Membership:
    found = people_of(principal.organization_id).filter(user_id=user_id).first()
    if found is None:
        raise NotFound(f"There is no member {user_id}.", param="user_id")
    return found


def _rules(group: DirectoryGroup) -> QuerySet[GroupRule]:
    return GroupRule.objects.filter(organization_id=group.organization_id, group=group.display_name)


def _rules_record(principal: Principal, rule: str) -> None:
    record(
        Action.GROUP_RULES_UPDATED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("group_rules", principal.organization_id),
        details={"rules": [rule]},
    )
    group_rules_changed(principal.organization_id)


def _record(action: Action, principal: Principal, group: DirectoryGroup, **details: str) -> None:
    record(
        action,
        organization_id=principal.organization_id,
        actor=principal,
        target=("group", group.pk),
        details=details,
    )
