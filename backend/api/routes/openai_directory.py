"""`/v1/organization/groups` and `/roles`, in OpenAI's shapes.

Groups are the organization's own, or the directory's, which sends them by SCIM: those are read only
here. Roles are the five there are; a person has one, a group gives one. For keys with the scope
`administration`, whose maker has to be an owner or admin still.
Source: OpenAI API reference, "Administration".
"""

from typing import Annotated, Any
from uuid import UUID

from ninja import Router
from pydantic import Field, StringConstraints

from backend.accounts.members import member_role_set
from backend.accounts.models import Role
from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.roles import ABILITIES, require_manager
from backend.accounts.team_selectors import member_get
from backend.api.schemas.base import RequestModel, ResponseModel
from backend.api.schemas.openai_organization import role_given, role_shown, user_object
from backend.enterprise.models import DirectoryGroup
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
from backend.enterprise.selectors import group_get, group_user_get, group_users_page, groups_page
from backend.platform.database import in_database
from backend.platform.errors import Conflict, NotFound

router = Router(tags=["organization"])

After = Annotated[str, Field(max_length=100, description="`next` of the page before.")]
Limit = Annotated[int, Field(ge=1, le=100)]


RoleId = Annotated[str, StringConstraints(max_length=100)]


class GroupBody(RequestModel):
    name: Annotated[str, StringConstraints(max_length=200)]


class GroupUserBody(RequestModel):
    user_id: Annotated[UUID, Field(strict=False)]


class RoleBody(RequestModel):
    role_id: RoleId


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
    """The organization's groups, its own and its directory's."""
    page = await in_database(groups_page, principal=request.auth, after=after, limit=limit)
    return _page([_group(each) for each in page.items], page.next_cursor)


@router.post("/groups", response=dict[str, Any])
async def create_group(request: AuthenticatedRequest, body: GroupBody) -> dict[str, Any]:
    """A group of the organization's own, without people."""
    return _group(await in_database(group_create, principal=request.auth, name=body.name))


@router.get("/groups/{uuid:group_id}", response=dict[str, Any])
async def retrieve_group(request: AuthenticatedRequest, group_id: UUID) -> dict[str, Any]:
    """One group."""
    return _group(await in_database(group_get, principal=request.auth, group_id=group_id))


@router.post("/groups/{uuid:group_id}", response=dict[str, Any])
async def update_group(
    request: AuthenticatedRequest, group_id: UUID, body: GroupBody
) -> dict[str, Any]:
    """Another name. 409 `scim_managed` for the directory's."""
    group = await in_database(
        group_rename, principal=request.auth, group_id=group_id, name=body.name
    )
    return _group(group)


@router.delete("/groups/{uuid:group_id}", response=dict[str, Any])
async def delete_group(request: AuthenticatedRequest, group_id: UUID) -> dict[str, Any]:
    """The group, and what it gives. 409 `scim_managed` for the directory's."""
    await in_database(group_delete, principal=request.auth, group_id=group_id)
    return {"object": "group.deleted", "id": str(group_id), "deleted": True}


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


@router.post("/groups/{uuid:group_id}/users", response=dict[str, Any])
async def add_group_user(
    request: AuthenticatedRequest, group_id: UUID, body: GroupUserBody
) -> dict[str, Any]:
    """A member into a group. 409 `scim_managed` for the directory's."""
    await in_database(
        group_user_add, principal=request.auth, group_id=group_id, user_id=body.user_id
    )
    return {"object": "group.user", "group_id": str(group_id), "user_id": str(body.user_id)}


@router.get("/groups/{uuid:group_id}/users/{uuid:user_id}", response=dict[str, Any])
async def retrieve_group_user(
    request: AuthenticatedRequest, group_id: UUID, user_id: UUID
) -> dict[str, Any]:
    """One of a group's people."""
    user = await in_database(
        group_user_get, principal=request.auth, group_id=group_id, user_id=user_id
    )
    return {"id": str(user.pk), "name": user.name, "email": user.email, "user_type": "user"}


@router.delete("/groups/{uuid:group_id}/users/{uuid:user_id}", response=dict[str, Any])
async def remove_group_user(
    request: AuthenticatedRequest, group_id: UUID, user_id: UUID
) -> dict[str, Any]:
    """Out of a group; what it gave them is taken back."""
    await in_database(group_user_remove, principal=request.auth, group_id=group_id, user_id=user_id)
    return {"object": "group.user.deleted", "deleted": True}


@router.get("/groups/{uuid:group_id}/roles", response=NextListOut)
async def list_group_roles(request: AuthenticatedRequest, group_id: UUID) -> NextListOut:
    """The role that a group gives, if it gives one."""
    group = await in_database(group_get, principal=request.auth, group_id=group_id)
    role = await in_database(group_role, group)
    return _page([_role(role)] if role else [], None)


@router.post("/groups/{uuid:group_id}/roles", response=dict[str, Any])
async def assign_group_role(
    request: AuthenticatedRequest, group_id: UUID, body: RoleBody
) -> dict[str, Any]:
    """Its people have the role from then on. 409 `role_assigned` where it gives another."""
    role = role_given(body.role_id)
    group = await in_database(group_role_give, principal=request.auth, group_id=group_id, role=role)
    shown = {
        "object": "group",
        "id": str(group.pk),
        "name": group.display_name,
        "created_at": int(group.created_at.timestamp()),
        "scim_managed": group.is_scim,
    }
    return {"object": "group.role", "group": shown, "role": _role(role)}


@router.get("/groups/{uuid:group_id}/roles/{role_id}", response=dict[str, Any])
async def retrieve_group_role(
    request: AuthenticatedRequest, group_id: UUID, role_id: RoleId
) -> dict[str, Any]:
    """The role, where the group gives it."""
    group = await in_database(group_get, principal=request.auth, group_id=group_id)
    return _role_held(await in_database(group_role, group), role_id)


@router.delete("/groups/{uuid:group_id}/roles/{role_id}", response=dict[str, Any])
async def unassign_group_role(
    request: AuthenticatedRequest, group_id: UUID, role_id: RoleId
) -> dict[str, Any]:
    """Its people lose the role, where nothing else gives it."""
    role = role_given(role_id)
    await in_database(group_role_take, principal=request.auth, group_id=group_id, role=role)
    return {"object": "group.role.deleted", "deleted": True}


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


@router.post("/users/{uuid:user_id}/roles", response=dict[str, Any])
async def assign_user_role(
    request: AuthenticatedRequest, user_id: UUID, body: RoleBody
) -> dict[str, Any]:
    """In the place of the one that they have: a person has one role."""
    role = role_given(body.role_id)
    await in_database(member_role_set, principal=request.auth, user_id=user_id, role=role)
    membership = await in_database(member_get, principal=request.auth, user_id=user_id)
    return {"object": "user.role", "role": _role(role), "user": user_object(membership)}


@router.get("/users/{uuid:user_id}/roles/{role_id}", response=dict[str, Any])
async def retrieve_user_role(
    request: AuthenticatedRequest, user_id: UUID, role_id: RoleId
) -> dict[str, Any]:
    """The role, where they have it."""
    require_manager(request.auth)
    membership = await in_database(member_get, principal=request.auth, user_id=user_id)
    return _role_held(membership.role, role_id)


@router.delete("/users/{uuid:user_id}/roles/{role_id}", response=dict[str, Any])
async def unassign_user_role(
    request: AuthenticatedRequest, user_id: UUID, role_id: RoleId
) -> dict[str, Any]:
    """They are `reader` again, which is the least and cannot be taken."""
    require_manager(request.auth)
    membership = await in_database(member_get, principal=request.auth, user_id=user_id)
    _role_held(membership.role, role_id)
    if membership.role == Role.MEMBER:
        raise Conflict("A member has a role; reader is the least.", code="role_assigned")
    await in_database(
        member_role_set, principal=request.auth, user_id=user_id, role=str(Role.MEMBER)
    )
    return {"object": "user.role.deleted", "deleted": True}


def _role_held(held: str, asked: str) -> dict[str, Any]:
    """Raises NotFound."""
    if not held or role_given(asked) != held:
        raise NotFound(f"The role {asked!r} is not assigned here.")
    return _role(held)


def _page(rows: list[dict[str, Any]], following: str | None) -> NextListOut:
    return NextListOut(data=rows, has_more=following is not None, next=following)


def _group(group: DirectoryGroup) -> dict[str, Any]:
    return {
        "object": "group",
        "id": str(group.pk),
        "name": group.display_name,
        "created_at": int(group.created_at.timestamp()),
        "group_type": "group",
        "is_scim_managed": group.is_scim,
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
