"""`/v1/organization/groups` and `/roles`, in OpenAI's shapes: read only.

Groups are the directory's, which sends them by SCIM; roles are the five there are. For keys with
the scope `administration`, whose maker has to be an owner or admin still.
Source: OpenAI API reference, "Administration".
"""

from typing import Annotated, Any
from uuid import UUID

from ninja import Router
from pydantic import Field

from backend.accounts.models import Role
from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.roles import ABILITIES, require_manager
from backend.accounts.team_selectors import member_get
from backend.api.schemas.base import ResponseModel
from backend.api.schemas.openai_organization import role_given, role_shown
from backend.enterprise.models import DirectoryGroup
from backend.enterprise.selectors import group_get, group_users_page, groups_page
from backend.platform.database import in_database
from backend.platform.errors import NotFound

router = Router(tags=["organization"])

After = Annotated[str, Field(max_length=100, description="`next` of the page before.")]
Limit = Annotated[int, Field(ge=1, le=100)]


class NextListOut(ResponseModel):
    """A page; `next` is `after` of the following one."""

    object: str = "list"
    data: list[dict[str, Any]]
    has_more: bool
    next: str | None


@router.get("/groups", response=NextListOut)
async def list_groups(
    request: AuthenticatedRequest, after: After | None = None, limit: Limit = 20
) -> NextListOut:
    """The groups of the organization's directory."""
    page = await in_database(groups_page, principal=request.auth, after=after, limit=limit)
    return _page([_group(each) for each in page.items], page.next_cursor)


@router.get("/groups/{uuid:group_id}", response=dict[str, Any])
async def retrieve_group(request: AuthenticatedRequest, group_id: UUID) -> dict[str, Any]:
    """One group."""
    return _group(await in_database(group_get, principal=request.auth, group_id=group_id))


@router.get("/groups/{uuid:group_id}/users", response=NextListOut)
async def list_group_users(
    request: AuthenticatedRequest, group_id: UUID, after: After | None = None, limit: Limit = 100
) -> NextListOut:
    """The people of a group."""
    page = await in_database(
        group_users_page, principal=request.auth, group_id=group_id, after=after, limit=limit
    )
    people = [each.user for each in page.items]
    return _page(
        [{"id": str(user.pk), "name": user.name, "email": user.email} for user in people],
        page.next_cursor,
    )


@router.get("/roles", response=NextListOut)
async def list_roles(request: AuthenticatedRequest) -> NextListOut:
    """The roles that there are, and what each may do."""
    require_manager(request.auth)
    return _page([_role(role) for role in Role.values], None)


@router.get("/roles/{role_id}", response=dict[str, Any])
async def retrieve_role(request: AuthenticatedRequest, role_id: str) -> dict[str, Any]:
    """One role."""
    require_manager(request.auth)
    role = role_given(role_id)
    if role not in Role.values:
        raise NotFound(f"There is no role {role_id[:100]!r}.")
    return _role(role)


@router.get("/users/{uuid:user_id}/roles", response=NextListOut)
async def list_user_roles(request: AuthenticatedRequest, user_id: UUID) -> NextListOut:
    """The one role of a person."""
    require_manager(request.auth)
    membership = await in_database(member_get, principal=request.auth, user_id=user_id)
    return _page([_role(membership.role)], None)


def _page(rows: list[dict[str, Any]], following: str | None) -> NextListOut:
    return NextListOut(data=rows, has_more=following is not None, next=following)


def _group(group: DirectoryGroup) -> dict[str, Any]:
    return {
        "object": "group",
        "id": str(group.pk),
        "name": group.display_name,
        "created_at": int(group.created_at.timestamp()),
        "group_type": "group",
        "is_scim_managed": True,
    }


def _role(role: str) -> dict[str, Any]:
    return {
        "object": "role",
        "id": role_shown(role),
        "name": role_shown(role),
        "description": Role(role).label,
        "permissions": [name for name, roles in ABILITIES.items() if role in roles],
        "predefined_role": True,
        "resource_type": "api.organization",
    }
