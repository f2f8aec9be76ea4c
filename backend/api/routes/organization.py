"""`/api/organization`: the organization that the caller works in, its people and invitations."""

from typing import Annotated
from uuid import UUID

from ninja import Router, Status
from pydantic import Field

from backend.accounts.invitations import (
    ProjectPlace,
    invitation_create,
    invitation_revoke,
)
from backend.accounts.members import member_role_set, ownership_transfer
from backend.accounts.organizations import organization_rename
from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.team_selectors import (
    invitations_page,
    member_get,
    members_page,
    organization_get,
)
from backend.api import throttling
from backend.api.member_removal import member_leave
from backend.api.schemas.teams import (
    InvitationCreate,
    InvitationOut,
    InvitationPageOut,
    MemberOut,
    MemberPageOut,
    MemberRemove,
    MemberUpdate,
    NewInvitationOut,
    OrganizationDetailOut,
    OrganizationUpdate,
    OwnershipTransfer,
)
from backend.platform.database import in_database

router = Router(tags=["organization"])

After = Annotated[str, Field(max_length=100, description="`next_cursor` of the page before.")]
Limit = Annotated[int, Field(ge=1, le=100)]


@router.get("", response=OrganizationDetailOut)
async def get_organization(request: AuthenticatedRequest) -> OrganizationDetailOut:
    """Name, plan and seats."""
    view = await in_database(organization_get, principal=request.auth)
    return OrganizationDetailOut.model_validate(view)


@router.patch("", response=OrganizationDetailOut)
async def update_organization(
    request: AuthenticatedRequest, body: OrganizationUpdate
) -> OrganizationDetailOut:
    """Rename it, as owner or admin."""
    await in_database(organization_rename, principal=request.auth, name=body.name)
    view = await in_database(organization_get, principal=request.auth)
    return OrganizationDetailOut.model_validate(view)


@router.post("/owner", response={204: None})
async def transfer_ownership(request: AuthenticatedRequest, body: OwnershipTransfer) -> Status:
    """Make another member an owner, and oneself an admin."""
    await in_database(ownership_transfer, principal=request.auth, user_id=body.user_id)
    return Status(204, None)


@router.get("/members", response=MemberPageOut)
async def list_members(
    request: AuthenticatedRequest, cursor: After | None = None, limit: Limit = 50
) -> MemberPageOut:
    """The people of the organization; each member sees them."""
    page = await in_database(members_page, principal=request.auth, after=cursor, limit=limit)
    return MemberPageOut(
        data=[MemberOut.of(each) for each in page.items], next_cursor=page.next_cursor
    )


@router.patch("/members/{uuid:user_id}", response=MemberOut)
async def update_member(
    request: AuthenticatedRequest, user_id: UUID, body: MemberUpdate
) -> MemberOut:
    """Give a member another role. Only owners make owners, and there is always one."""
    await in_database(member_role_set, principal=request.auth, user_id=user_id, role=body.role)
    return MemberOut.of(await in_database(member_get, principal=request.auth, user_id=user_id))


@router.post("/members/{uuid:user_id}/remove", response={204: None})
async def remove_member(request: AuthenticatedRequest, user_id: UUID, body: MemberRemove) -> Status:
    """Remove a member, or leave; what becomes of their chats and keys has to be said."""
    await in_database(
        member_leave,
        principal=request.auth,
        user_id=user_id,
        chats=body.chats,
        chats_to=body.chats_to,
        keys=body.keys,
    )
    return Status(204, None)


@router.get("/invitations", response=InvitationPageOut)
async def list_invitations(
    request: AuthenticatedRequest, cursor: After | None = None, limit: Limit = 50
) -> InvitationPageOut:
    """All invitations, newest first, without their links, which nothing keeps."""
    page = await in_database(invitations_page, principal=request.auth, after=cursor, limit=limit)
    return InvitationPageOut(
        data=[InvitationOut.of(each) for each in page.items], next_cursor=page.next_cursor
    )


@router.post("/invitations", response={201: NewInvitationOut})
async def create_invitation(request: AuthenticatedRequest, body: InvitationCreate) -> Status:
    """Mail an invitation, or make a link to be handed on. The answer to an address is the same
    whether or not it has an account."""
    may_mail = True
    if body.email is not None:
        may_mail = await throttling.may_mail_invitation(
            request, request.auth.organization_id, body.email
        )
    invitation, url = await in_database(
        invitation_create,
        principal=request.auth,
        role=body.role,
        email=body.email,
        days=body.expires_in_days,
        max_uses=body.max_uses,
        projects=[ProjectPlace(place.id, place.role) for place in body.projects],
        may_mail=may_mail,
    )
    shown = InvitationOut.of(invitation).model_dump()
    return Status(201, NewInvitationOut(**shown, url=None if body.email else url))


@router.delete("/invitations/{uuid:invitation_id}", response={204: None})
async def revoke_invitation(request: AuthenticatedRequest, invitation_id: UUID) -> Status:
    """The link stops working."""
    await in_database(invitation_revoke, principal=request.auth, invitation_id=invitation_id)
    return Status(204, None)
