"""Reads of groups, in pages, for who manages the organization."""

from uuid import UUID

from backend.accounts.models import Membership, User
from backend.accounts.paging import Page, page_after
from backend.accounts.principal import Principal
from backend.accounts.roles import require_manager
from backend.enterprise.models import DirectoryGroup, DirectoryUser
from backend.platform.errors import NotFound


def groups_page(*, principal: Principal, after: str | None, limit: int) -> Page[DirectoryGroup]:
    """Those of the organization's directory and its own, oldest first."""
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
) -> Page[DirectoryUser] | Page[Membership]:
    """The people of one group, rows with a `user`; `after` is the id of one.

    Raises NotFound.
    """
    group = group_get(principal=principal, group_id=group_id)
    if group.is_scim:
        sent = group.members.select_related("user")
        return page_after(sent, after=after, limit=limit, key="user_id")
    people = group.people.select_related("user")
    return page_after(people, after=after, limit=limit, key="user_id")


def group_user_get(*, principal: Principal, group_id: UUID, user_id: UUID) -> User:
    """One of its people. Raises NotFound."""
    group = group_get(principal=principal, group_id=group_id)
    rows = group.members if group.is_scim else group.people
    found = rows.filter(user_id=user_id).select_related("user").first()
    if found is None:
        raise NotFound(f"{user_id} is not in this group.")
    return found.user
