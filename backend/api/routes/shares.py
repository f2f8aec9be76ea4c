"""Public links to a snapshot of a conversation's active branch."""

from typing import Literal
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from ninja import Query, Router, Status

from backend.accounts.principal import AuthenticatedRequest
from backend.api.schemas.conversations import SummaryOut
from backend.api.schemas.resources import (
    ListedShareOut,
    NewShareOut,
    ShareCreate,
    SharedMessageOut,
    SharedOut,
    ShareListOut,
    ShareOut,
    SharePageOut,
    SharingOut,
    SharingUpdate,
)
from backend.conversations import copies, shares
from backend.conversations.models import Share
from backend.conversations.selectors import summary_of
from backend.generation.pools.config import load_pools
from backend.platform.database import in_database

router = Router(tags=["shares"])


@router.get("/conversations/{uuid:conversation_id}/shares", response=ShareListOut)
async def list_shares(
    request: AuthenticatedRequest,
    conversation_id: UUID,
    cursor: str | None = Query(None, max_length=500),
    limit: int = Query(100, ge=1, le=100),
) -> ShareListOut:
    """The links that work, newest first; without their tokens, which nothing keeps."""
    page = await in_database(
        shares.shares_list,
        principal=request.auth,
        conversation_id=conversation_id,
        cursor=cursor,
        limit=limit,
    )
    return ShareListOut(
        data=[ShareOut.model_validate(share) for share in page.items],
        next_cursor=page.next_cursor,
    )


@router.post("/conversations/{uuid:conversation_id}/shares", response={201: NewShareOut})
async def create_share(
    request: AuthenticatedRequest, conversation_id: UUID, body: ShareCreate | None = None
) -> Status:
    """A link that shows what the active branch is now, until it expires; later turns stay
    private."""
    share, token = await in_database(
        shares.share_create,
        principal=request.auth,
        conversation_id=conversation_id,
        days=(body or ShareCreate()).expires_in_days,
    )
    shown = ShareOut.model_validate(share).model_dump()
    url = f"{settings.PUBLIC_URL}/share/{token}"
    return Status(201, NewShareOut(**shown, token=token, url=url))


@router.get("/shares", response=SharePageOut)
async def list_all_shares(
    request: AuthenticatedRequest,
    scope: Literal["mine", "organization"] = "mine",
    cursor: str | None = Query(None, max_length=500),
    limit: int = Query(30, ge=1, le=100),
) -> SharePageOut:
    """The caller's links that work, or for owners and admins all of the organization's, newest
    first."""
    page = await in_database(
        shares.shares_page,
        principal=request.auth,
        whole_organization=scope == "organization",
        cursor=cursor,
        limit=limit,
    )
    return SharePageOut(
        data=[_listed(share, reader=request.auth.user_id) for share in page.items],
        next_cursor=page.next_cursor,
    )


@router.get("/sharing", response=SharingOut)
async def get_sharing(request: AuthenticatedRequest) -> SharingOut:
    """Whether the organization allows links, and how long they may work."""
    return await _sharing(request)


@router.put("/sharing", response=SharingOut)
async def set_sharing(request: AuthenticatedRequest, body: SharingUpdate) -> SharingOut:
    """Allow or forbid links, as owner or admin. Forbidden, all of them stop at once."""
    await in_database(shares.sharing_set, principal=request.auth, is_allowed=body.is_allowed)
    return await _sharing(request)


@router.delete("/shares/{uuid:share_id}", response={204: None})
async def revoke_share(request: AuthenticatedRequest, share_id: UUID) -> Status:
    """The link stops working: one's own, or for owners and admins any of the organization."""
    await in_database(shares.share_revoke, principal=request.auth, share_id=share_id)
    return Status(204, None)


@router.get("/shared/{token}", auth=None, response=SharedOut)
async def read_shared(request: HttpRequest, token: str) -> SharedOut:
    """What a link shows, to anyone who has it."""
    share = await in_database(shares.shared_get, token=token)
    return SharedOut(
        title=share.title,
        model=share.model,
        created_at=share.created_at,
        expires_at=share.expires_at,
        messages=[
            SharedMessageOut(id=str(position), **message)
            for position, message in enumerate(share.snapshot)
        ],
    )


@router.post("/shared/{token}/copy", response={201: SummaryOut})
async def copy_shared(request: AuthenticatedRequest, token: str) -> Status:
    """What a link shows as a conversation of your own, to go on with."""
    conversation = await in_database(
        copies.share_copy,
        principal=request.auth,
        token=token,
        model=load_pools().models[0].id,
    )
    summary = await in_database(summary_of, conversation, generating=False)
    return Status(201, SummaryOut.model_validate(summary))


async def _sharing(request: AuthenticatedRequest) -> SharingOut:
    allowed = await in_database(
        shares.sharing_is_allowed, organization_id=request.auth.organization_id
    )
    return SharingOut(
        is_allowed=allowed, default_days=shares.DEFAULT_DAYS, max_days=shares.MAX_DAYS
    )


def _listed(share: Share, *, reader: UUID) -> ListedShareOut:
    """A colleague's conversations are private from owners too, and their titles."""
    own = share.created_by_id == reader
    return ListedShareOut(
        id=share.id,
        conversation_id=share.conversation_id if own else None,
        title=share.title if own else None,
        created_by=share.created_by.get_full_name(),
        created_at=share.created_at,
        expires_at=share.expires_at,
    )
