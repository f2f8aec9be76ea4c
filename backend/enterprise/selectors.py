"""Reads of a directory's groups, in pages, for who manages the organization."""

from uuid import UUID

from backend.accounts.paging import Page, page_after
from backend.accounts.principal import Principal
from backend.accounts.roles import require_manager
from backend.enterprise.models import DirectoryGroup, DirectoryUser
from backend.platform.errors import NotFound


def groups_page(*, principal: Principal, after: str | None, limit: int) -> Page[DirectoryGroup]:
    """The groups that the organization's directory has sent, oldest first."""
    require_manager(principal)
    rows = DirectoryGroup.objects.filter(organization_id=principal.organization_id)
    return page_after(rows, after=after, limit=limit)


def group_get(*, principal: Principal, group_id: UUID) -> DirectoryGroup:
    """Raises NotFound, also for another organization's."""
    require_manager(principal)
    rows = DirectoryGroup.objects.filter(organization_id=principal.organization_id, pk=group_id)
    found = rows.first()
    if found is None:
        raise NotFound(f"There is no group {group_id}.")
    return found


def group_users_page(
    *, principal: Principal, group_id: UUID, after: str | None, limit: int
) -> Page[DirectoryUser]:
    """The people of one group; `after` is the id of a user.

    Raises NotFound.
    """
    group = group_get(principal=principal, group_id=group_id)
    return page_after(group.members.select_related("user"), after=after, limit=limit, key="user_id")
