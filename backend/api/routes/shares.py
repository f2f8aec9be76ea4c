"""Public links to a snapshot of a conversation's active branch."""

from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from ninja import Router, Status

from backend.api.authentication import Request
from backend.api.schemas.resources import (
    NewShareOut,
    SharedMessageOut,
    SharedOut,
    ShareListOut,
    ShareOut,
)
from backend.conversations import shares
from backend.platform.database import in_database

router = Router(tags=["shares"])


@router.get("/conversations/{uuid:conversation_id}/shares", response=ShareListOut)
async def list_shares(request: Request, conversation_id: UUID) -> ShareListOut:
    """The links that work, newest first; without their tokens, which nothing keeps."""
    found = await in_database(
        shares.shares_list, principal=request.auth, conversation_id=conversation_id
    )
    return ShareListOut(data=[ShareOut.model_validate(share) for share in found])


@router.post("/conversations/{uuid:conversation_id}/shares", response={201: NewShareOut})
async def create_share(request: Request, conversation_id: UUID) -> Status:
    """A link that shows what the active branch is now; later turns stay private."""
    share, token = await in_database(
        shares.share_create, principal=request.auth, conversation_id=conversation_id
    )
    shown = ShareOut.model_validate(share).model_dump()
    url = f"{settings.PUBLIC_URL}/share/{token}"
    return Status(201, NewShareOut(**shown, token=token, url=url))


@router.delete("/shares/{uuid:share_id}", response={204: None})
async def revoke_share(request: Request, share_id: UUID) -> Status:
    """The link stops working."""
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
        messages=[
            SharedMessageOut(id=str(position), **message)
            for position, message in enumerate(share.snapshot)
        ],
    )
