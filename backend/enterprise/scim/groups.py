"""A directory's groups. They are kept for it; no right here depends on one."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from scim2_models import Group, InvalidValueException, NotFoundException, UniquenessException

from backend.enterprise.models import DirectoryGroup, DirectoryUser
from backend.enterprise.scim.resources import text_of

MAX_MEMBERS = 10_000


def groups_of(organization_id: UUID) -> QuerySet[DirectoryGroup]:
    rows = DirectoryGroup.objects.filter(organization_id=organization_id)
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
    group_get(organization_id=organization_id, group_id=group_id).delete()


def _save(row: DirectoryGroup, resource: Group) -> None:
    row.display_name = text_of(resource.display_name, name="displayName", limit=200).strip()
    row.external_id = text_of(resource.external_id, name="externalId", limit=200)
    if not row.display_name:
        raise InvalidValueException(detail="displayName is missing.")
    members = _members(row.organization_id, resource)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as error:
        raise UniquenessException(detail="The directory has a group of this name.") from error
    row.members.set(members)


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
