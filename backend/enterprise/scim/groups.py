"""A directory's groups. What they give (`GroupRule`) follows each change."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from scim2_models import Group, InvalidValueException, NotFoundException, UniquenessException

from backend.enterprise.group_grants import groups_apply
from backend.enterprise.models import DirectoryGroup, DirectoryUser
from backend.enterprise.scim.resources import text_of
from backend.enterprise.tasks import group_rules_changed

MAX_MEMBERS = 10_000
MAX_APPLIED_AT_ONCE = 50


def groups_of(organization_id: UUID) -> QuerySet[DirectoryGroup]:
    rows = DirectoryGroup.objects.filter(organization_id=organization_id, is_scim=True)
    return rows.prefetch_related("members")


def group_get(*, organization_id: UUID, group_id: str) -> DirectoryGroup:
    """Raises NotFoundException, also for another organization's."""
    try:
        found = groups_of(organization_id).filter(pk=UUID(group_id)).first()
    except ValueError:
        found = None
    if found is None:
        raise NotFoundException(detail=f"There is no group {group_id[:100]}.")
    return found


@transaction.atomic
def group_create(*, organization_id: UUID, resource: Group) -> DirectoryGroup:
    """Raises UniquenessException, InvalidValueException: no name, or an unknown member."""
    row = DirectoryGroup(organization_id=organization_id)
    _save(row, resource)
    return group_get(organization_id=organization_id, group_id=str(row.pk))


@transaction.atomic
def group_replace(*, organization_id: UUID, group_id: str, resource: Group) -> DirectoryGroup:
    """Raises as `group_create`, and NotFoundException."""
    _save(group_get(organization_id=organization_id, group_id=group_id), resource)
    return group_get(organization_id=organization_id, group_id=group_id)


@transaction.atomic
def group_delete(*, organization_id: UUID, group_id: str) -> None:
    """Raises NotFoundException."""
    row = group_get(organization_id=organization_id, group_id=group_id)
    users = _users_of(row)
    row.delete()
    _apply(organization_id, users)


def _save(row: DirectoryGroup, resource: Group) -> None:
    earlier = (row.display_name, _users_of(row)) if not row._state.adding else ("", set())
    row.display_name = text_of(resource.display_name, name="displayName", limit=200).strip()
    row.external_id = text_of(resource.external_id, name="externalId", limit=200)
    if not row.display_name:
        raise InvalidValueException(detail="displayName is missing.")
    members = _members(row.organization_id, resource)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as error:
        raise UniquenessException(detail="There is a group of this name already.") from error
    row.members.set(members)
    users = {member.user_id for member in members}
    is_same = earlier[0] == row.display_name
    _apply(row.organization_id, users ^ earlier[1] if is_same else users | earlier[1])


def _users_of(row: DirectoryGroup) -> set[UUID]:
    return set(row.members.values_list("user_id", flat=True))


def _apply(organization_id: UUID, users: set[UUID]) -> None:
    """For many people in the background: a directory waits seconds for an answer."""
    if len(users) > MAX_APPLIED_AT_ONCE:
        group_rules_changed(organization_id)
        return
    for user_id in users:
        groups_apply(organization_id=organization_id, user_id=user_id)


def _members(organization_id: UUID, resource: Group) -> list[DirectoryUser]:
    wanted = {str(one.value) for one in resource.members or []}
    if len(wanted) > MAX_MEMBERS:
        raise InvalidValueException(detail=f"A group has at most {MAX_MEMBERS} members.")
    try:
        ids = {UUID(value) for value in wanted}
    except ValueError:
        raise InvalidValueException(detail="members hold the ids of users.") from None
    found = list(DirectoryUser.objects.filter(organization_id=organization_id, pk__in=ids))
    if len(found) != len(ids):
        raise InvalidValueException(detail="members name a user that the directory has not sent.")
    return found
