"""Members get what their groups give (group_rules.py), and lose it with the group.

Groups that the organization keeps itself count always (own_groups.py). Where the directory (SCIM)
has sent groups, those count, and what the identity provider claims at sign-in does not: it would
stand until somebody signs in again. Nobody is an owner by a group unless
the table says so. An owner made by hand stays one, and so does the last owner; other roles follow
the groups of whoever is in one that gives a role. Places in projects that were given by hand stay.
"""

from uuid import UUID

from django.db import transaction

from backend.accounts.members import locked_organization, member_role_give, people_of
from backend.accounts.models import Membership, Project, Role
from backend.accounts.project_members import (
    project_place_end,
    project_place_give,
    project_place_set,
)
from backend.accounts.team_models import ProjectMember, ProjectRole
from backend.audit.models import ActorKind
from backend.audit.services import Actor
from backend.enterprise.models import (
    Connection,
    DirectoryGroup,
    DirectoryUser,
    GroupGrant,
    GroupRule,
    Identity,
)

PROVIDER = Actor(kind=ActorKind.SCIM)
# Who is in several groups has the first of these that one of them gives.
_RANK = [Role.OWNER, Role.ADMIN, Role.MEMBER, Role.FINANCE, Role.VIEWER]


def groups_of(*, organization_id: UUID, user_id: UUID) -> set[str]:
    """The names of a person's groups."""
    groups = DirectoryGroup.objects.filter(organization_id=organization_id)
    own = groups.filter(is_scim=False, people__user_id=user_id)
    names = set(own.values_list("display_name", flat=True))
    directory = groups.filter(is_scim=True)
    if directory.exists():
        theirs = directory.filter(members__user_id=user_id, members__is_active=True)
        return names | set(theirs.values_list("display_name", flat=True))
    identities = Identity.objects.filter(
        connection__organization_id=organization_id, user_id=user_id
    )
    return names | {name for identity in identities for name in identity.groups}


@transaction.atomic
def groups_apply(*, organization_id: UUID, user_id: UUID) -> None:
    """Give a member what their groups give now, and take back what they gave before. Nothing for
    who is no member."""
    rules = list(GroupRule.objects.filter(organization_id=organization_id))
    grants = GroupGrant.objects.filter(organization_id=organization_id, user_id=user_id)
    if not rules and not grants.exists():
        return
    locked_organization(organization_id)
    membership = people_of(organization_id).filter(user_id=user_id).first()
    if membership is None:
        return
    grant = grants.first() or GroupGrant(organization_id=organization_id, user_id=user_id)
    groups = groups_of(organization_id=organization_id, user_id=user_id)
    mine = [rule for rule in rules if rule.group in groups]
    grant.role = _role_apply(membership, _role_of(mine), grant.role)
    grant.projects = _places_apply(membership, _places_of(mine), set(map(UUID, grant.projects)))
    grant.save()


def groups_apply_to_all(*, organization_id: UUID) -> int:
    """The same for everybody whom a group may concern, one transaction each. Returns how many."""
    concerned = [
        GroupGrant.objects.filter(organization_id=organization_id),
        DirectoryUser.objects.filter(organization_id=organization_id, groups__isnull=False),
        people_of(organization_id).filter(own_groups__isnull=False),
        Identity.objects.filter(connection__organization_id=organization_id).exclude(groups=[]),
    ]
    users = {user_id for rows in concerned for user_id in rows.values_list("user_id", flat=True)}
    for user_id in users:
        groups_apply(organization_id=organization_id, user_id=user_id)
    return len(users)


def _role_of(rules: list[GroupRule]) -> str:
    given = {rule.role for rule in rules}
    return next((str(role) for role in _RANK if role in given), "")


def _places_of(rules: list[GroupRule]) -> dict[UUID, str]:
    """The projects that rules give, with the role there; an owner's place outranks."""
    places: dict[UUID, str] = {}
    for rule in rules:
        if rule.project_id and places.get(rule.project_id) != ProjectRole.OWNER:
            places[rule.project_id] = rule.project_role
    return places


def _role_apply(membership: Membership, wanted: str, earlier: str) -> str:
    """Returns what the grant holds from now on.

    Args:
        wanted, earlier: what groups give now, and gave before; empty for nothing.
    """
    if not wanted and membership.role != earlier:
        return ""  # theirs by hand
    role = wanted or _default_role(membership.organization_id)
    if role != membership.role:
        if membership.role == Role.OWNER and (earlier != Role.OWNER or _is_last_owner(membership)):
            return earlier if earlier == Role.OWNER else ""
        member_role_give(membership=membership, role=role, actor=PROVIDER)
    return wanted


def _places_apply(membership: Membership, wanted: dict[UUID, str], earlier: set[UUID]) -> list[str]:
    """Returns the ids of the projects that the grant holds from now on."""
    found = ProjectMember.objects.filter(membership=membership).select_related("project")
    places = {place.project_id: place for place in found}
    for project_id in earlier - wanted.keys():
        if project_id in places:
            project_place_end(place=places[project_id], actor=PROVIDER)
    given = []
    open_ones = Project.objects.filter(pk__in=wanted, archived_at=None)
    for project in open_ones.filter(organization_id=membership.organization_id):
        place, role = places.get(project.pk), wanted[project.pk]
        if place is None:
            project_place_give(project=project, membership=membership, role=role, actor=PROVIDER)
        elif project.pk not in earlier:
            continue  # given by hand
        elif place.role != role:
            project_place_set(place=place, role=role, actor=PROVIDER)
        given.append(str(project.pk))
    return given


def _default_role(organization_id: UUID) -> str:
    connection = Connection.objects.filter(organization_id=organization_id).first()
    return connection.default_role if connection else str(Role.MEMBER)


def _is_last_owner(membership: Membership) -> bool:
    owners = Membership.objects.filter(organization_id=membership.organization_id, role=Role.OWNER)
    return not owners.exclude(pk=membership.pk).exists()
