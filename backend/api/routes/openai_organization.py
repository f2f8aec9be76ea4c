"""`/v1/organization/users`, `/invites` and `/admin_api_keys`, in OpenAI's shapes.

For keys with the scope `administration`, whose maker has to be an owner or admin still.
Source: OpenAI API reference, "Administration".
"""

from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from django.utils import timezone
from ninja import Router
from pydantic import Field

from backend.accounts.invitations import ProjectPlace, invitation_create, invitation_revoke
from backend.accounts.members import member_role_set
from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.project_selectors import admin_key_get, admin_keys_page
from backend.accounts.roles import require_manager
from backend.accounts.scopes import Scope
from backend.accounts.services import api_key_create, api_key_end
from backend.accounts.team_selectors import (
    invitation_get,
    invitations_page,
    member_get,
    members_page,
)
from backend.api import throttling
from backend.api.member_removal import member_leave
from backend.api.schemas.openai_organization import (
    AdminKeyCreate,
    InviteCreate,
    ListOut,
    UserUpdate,
    admin_key_object,
    deleted,
    invite_object,
    page_of,
    role_given,
    user_object,
)
from backend.platform.database import in_database

router = Router(tags=["organization"])

After = Annotated[str, Field(max_length=100, description="`last_id` of the page before.")]
Limit = Annotated[int, Field(ge=1, le=100)]

_OF_ADMIN_KEYS = (Scope.ADMINISTRATION, Scope.AUDIT, Scope.USAGE)


@router.get("/users", response=ListOut)
async def list_organization_users(
    request: AuthenticatedRequest, after: After | None = None, limit: Limit = 20
) -> ListOut:
    """The people of the organization. Filter: `emails[]`."""
    page = await in_database(
        members_page,
        principal=request.auth,
        after=after,
        limit=limit,
        emails=request.GET.getlist("emails[]")[:100],
    )
    return page_of(page, [user_object(each) for each in page.items])


@router.get("/users/{uuid:user_id}", response=dict[str, Any])
async def retrieve_organization_user(
    request: AuthenticatedRequest, user_id: UUID
) -> dict[str, Any]:
    """One person."""
    return user_object(await in_database(member_get, principal=request.auth, user_id=user_id))


@router.post("/users/{uuid:user_id}", response=dict[str, Any])
async def modify_organization_user(
    request: AuthenticatedRequest, user_id: UUID, body: UserUpdate
) -> dict[str, Any]:
    """Another role."""
    role = role_given(body.role)
    await in_database(member_role_set, principal=request.auth, user_id=user_id, role=role)
    return user_object(await in_database(member_get, principal=request.auth, user_id=user_id))


@router.delete("/users/{uuid:user_id}", response=dict[str, Any])
async def delete_organization_user(request: AuthenticatedRequest, user_id: UUID) -> dict[str, Any]:
    """Remove a person: their keys stop, their chats stay theirs."""
    await in_database(
        member_leave,
        principal=request.auth,
        user_id=user_id,
        chats="keep",
        chats_to=None,
        keys="revoke",
    )
    return deleted("user", user_id)


@router.get("/invites", response=ListOut)
async def list_invites(
    request: AuthenticatedRequest, after: After | None = None, limit: Limit = 20
) -> ListOut:
    """Invitations, newest first; those by link have an empty `email`."""
    page = await in_database(invitations_page, principal=request.auth, after=after, limit=limit)
    return page_of(page, [invite_object(each) for each in page.items])


@router.post("/invites", response=dict[str, Any])
async def create_invite(request: AuthenticatedRequest, body: InviteCreate) -> dict[str, Any]:
    """Mail an invitation."""
    invitation, _ = await in_database(
        invitation_create,
        principal=request.auth,
        role=role_given(body.role),
        email=body.email,
        projects=[ProjectPlace(place.id, place.role) for place in body.projects],
        may_mail=await throttling.may_mail_invitation(
            request, request.auth.organization_id, body.email
        ),
    )
    return invite_object(invitation)


@router.get("/invites/{uuid:invitation_id}", response=dict[str, Any])
async def retrieve_invite(request: AuthenticatedRequest, invitation_id: UUID) -> dict[str, Any]:
    """One invitation."""
    return invite_object(
        await in_database(invitation_get, principal=request.auth, invitation_id=invitation_id)
    )


@router.delete("/invites/{uuid:invitation_id}", response=dict[str, Any])
async def delete_invite(request: AuthenticatedRequest, invitation_id: UUID) -> dict[str, Any]:
    """Its link stops working."""
    await in_database(invitation_revoke, principal=request.auth, invitation_id=invitation_id)
    return deleted("invite", invitation_id)


@router.get("/admin_api_keys", response=ListOut)
async def list_admin_keys(
    request: AuthenticatedRequest, after: After | None = None, limit: Limit = 20
) -> ListOut:
    """The keys that administer the organization."""
    require_manager(request.auth)
    page = await in_database(admin_keys_page, principal=request.auth, after=after, limit=limit)
    return page_of(page, [admin_key_object(each) for each in page.items])


@router.post("/admin_api_keys", response=dict[str, Any])
async def create_admin_key(request: AuthenticatedRequest, body: AdminKeyCreate) -> dict[str, Any]:
    """A key that administers, and does no more than the one that makes it; `value`, its secret, is
    in this answer and nowhere else."""
    seconds = body.expires_in_seconds
    key, secret = await in_database(
        api_key_create,
        principal=request.auth,
        name=body.name,
        scopes=[scope.value for scope in _OF_ADMIN_KEYS if scope in request.auth.scopes],
        expires_at=None if seconds is None else timezone.now() + timedelta(seconds=seconds),
    )
    made = await in_database(admin_key_get, principal=request.auth, key_id=key.pk)
    return admin_key_object(made, secret)


@router.get("/admin_api_keys/{uuid:key_id}", response=dict[str, Any])
async def retrieve_admin_key(request: AuthenticatedRequest, key_id: UUID) -> dict[str, Any]:
    """One such key."""
    require_manager(request.auth)
    return admin_key_object(await in_database(admin_key_get, principal=request.auth, key_id=key_id))


@router.delete("/admin_api_keys/{uuid:key_id}", response=dict[str, Any])
async def delete_admin_key(request: AuthenticatedRequest, key_id: UUID) -> dict[str, Any]:
    """It stops at once."""
    require_manager(request.auth)
    key = await in_database(admin_key_get, principal=request.auth, key_id=key_id)
    await in_database(api_key_end, key=key, actor=request.auth)
    return deleted("admin_api_key", key_id)
