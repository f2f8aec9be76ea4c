"""What groups of the identity provider, or of the directory, give: roles and places in projects.

A table that owners and admins write: a group's name, and a role or a project. Only an owner writes
what makes owners. group_grants.py gives people what it says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from backend.accounts.models import Project, Role
from backend.accounts.principal import Principal
from backend.accounts.roles import may_give, require_manager
from backend.accounts.team_models import ProjectRole
from backend.audit.actions import Action
from backend.audit.services import record
from backend.enterprise.models import DirectoryGroup, GroupRule
from backend.enterprise.tasks import group_rules_changed
from backend.platform.errors import InvalidRequest, PermissionDenied

MAX_RULES = 200
MAX_SHOWN_GROUPS = 200


@dataclass(frozen=True, slots=True)
class Given:
    """A line of the table: `role`, or `project_id` with `project_role`."""

    group: str
    role: str = ""
    project_id: UUID | None = None
    project_role: str = ""


def group_rules_list(*, principal: Principal) -> list[GroupRule]:
    """Raises PermissionDenied."""
    _require_manager(principal)
    rows = GroupRule.objects.filter(organization_id=principal.organization_id)
    return list(rows.order_by("group", "pk")[:MAX_RULES])


def groups_known(*, principal: Principal) -> list[str]:
    """Names that the directory has sent, for who writes the table. Raises PermissionDenied."""
    _require_manager(principal)
    rows = DirectoryGroup.objects.filter(organization_id=principal.organization_id)
    return list(
        rows.order_by("display_name").values_list("display_name", flat=True)[:MAX_SHOWN_GROUPS]
    )


@transaction.atomic
def group_rules_set(*, principal: Principal, rules: Sequence[Given]) -> None:
    """Replace the table; people get what it says within seconds.

    Raises:
        PermissionDenied: neither owner nor admin, a key, or a change of who becomes an owner by
            somebody who is none.
        InvalidRequest: names `rules`: two lines alike, no role and no project, an unknown one.
    """
    _require_manager(principal)
    cleaned = [_clean(rule) for rule in rules]
    if len(cleaned) > MAX_RULES or len({(r.group, r.project_id) for r in cleaned}) < len(cleaned):
        raise _wrong(f"A group has one role, and one place in a project; {MAX_RULES} lines at most")
    _require_projects(principal, {rule.project_id for rule in cleaned if rule.project_id})
    earlier = GroupRule.objects.select_for_update().filter(
        organization_id=principal.organization_id
    )
    owners = set(earlier.filter(role=Role.OWNER).values_list("group", flat=True))
    wanted = {rule.group for rule in cleaned if rule.role == Role.OWNER}
    if owners != wanted and not may_give(principal.role, Role.OWNER):
        raise PermissionDenied("Only an owner decides which group makes owners.")
    earlier.delete()
    GroupRule.objects.bulk_create(
        GroupRule(
            organization_id=principal.organization_id,
            group=rule.group,
            role=rule.role,
            project_id=rule.project_id,
            project_role=rule.project_role,
        )
        for rule in cleaned
    )
    record(
        Action.GROUP_RULES_UPDATED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("group_rules", principal.organization_id),
        details={"rules": [_line(rule) for rule in cleaned]},
    )
    group_rules_changed(principal.organization_id)


def _require_manager(principal: Principal) -> None:
    require_manager(principal)
    if principal.is_api_key:
        raise PermissionDenied("Only people, signed in themselves, say what groups give.")


def _clean(rule: Given) -> Given:
    group = rule.group.strip()
    if not group or len(group) > 200 or "\x00" in group:
        raise _wrong("A group's name has 1 to 200 characters")
    if bool(rule.role) == (rule.project_id is not None):
        raise _wrong(f"{group[:50]!r} gives a role, or a place in a project, in one line")
    if rule.role and rule.role not in Role.values:
        raise _wrong(f"{rule.role!r} is no role")
    place = rule.project_role or str(ProjectRole.MEMBER)
    if rule.project_id is not None and place not in ProjectRole.values:
        raise _wrong(f"{place!r} is no role of a project")
    return Given(group, rule.role, rule.project_id, place if rule.project_id else "")


def _require_projects(principal: Principal, wanted: set[UUID]) -> None:
    known = Project.objects.filter(
        organization_id=principal.organization_id, archived_at=None, pk__in=wanted
    )
    missing = wanted - set(known.values_list("pk", flat=True))
    if missing:
        raise _wrong(f"There is no project {min(map(str, missing))}")


def _line(rule: Given) -> str:
    given = rule.role or f"{rule.project_role} of {rule.project_id}"
    return f"{rule.group}: {given}"


def _wrong(what: str) -> InvalidRequest:
    return InvalidRequest(f"{what}.", param="rules")
