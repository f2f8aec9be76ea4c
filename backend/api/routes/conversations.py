"""`/api/conversations`: the list, and one conversation's active branch."""

from typing import Annotated
from uuid import UUID

from ninja import Query, Router, Status
from pydantic import Field

from backend.accounts.principal import AuthenticatedRequest
from backend.api.schemas.conversations import (
    ConversationCreate,
    ConversationListOut,
    ConversationOut,
    ConversationUpdate,
    SummaryOut,
    conversation_out,
)
from backend.api.throttling import count_use
from backend.conversations import selectors, services
from backend.conversations.models import Conversation
from backend.generation.pools.config import load_pools
from backend.platform.database import in_database

router = Router(tags=["conversations"])


@router.get("", response=ConversationListOut)
async def list_conversations(
    request: AuthenticatedRequest,
    search: str = Query("", max_length=200),
    archived: bool = False,
    cursor: str | None = Query(None, max_length=500),
    limit: int = Query(30, ge=1, le=100),
) -> ConversationListOut:
    """Pinned ones first, then by the last turn. `search` looks into titles and messages."""
    if search:
        await count_use(request, request.auth, "searches")
    page = await in_database(
        selectors.conversations_list,
        principal=request.auth,
        search=search,
        archived=archived,
        cursor=cursor,
        limit=limit,
    )
    return ConversationListOut(
        data=[SummaryOut.model_validate(item) for item in page.items],
        next_cursor=page.next_cursor,
    )


@router.post("", response={201: SummaryOut})
async def create_conversation(request: AuthenticatedRequest, body: ConversationCreate) -> Status:
    """An empty conversation."""
    model = load_pools().find(body.model).id if body.model else load_pools().models[0].id
    conversation = await in_database(
        services.conversation_create,
        principal=request.auth,
        title=body.title,
        model=model,
        project_id=body.project_id,
    )
    return Status(201, await _summary(conversation))


@router.get("/{uuid:conversation_id}", response=ConversationOut)
async def get_conversation(
    request: AuthenticatedRequest,
    conversation_id: UUID,
    limit: Annotated[int, Query(), Field(ge=1, le=500)] = 50,
    before: UUID | None = None,
) -> ConversationOut:
    """The newest messages of the active branch, oldest first; `before` pages upwards."""
    branch = await in_database(
        selectors.branch_get,
        principal=request.auth,
        conversation_id=conversation_id,
        limit=limit,
        before=before,
    )
    return conversation_out(branch)


@router.patch("/{uuid:conversation_id}", response=SummaryOut)
async def update_conversation(
    request: AuthenticatedRequest, conversation_id: UUID, body: ConversationUpdate
) -> SummaryOut:
    """Rename, pin, archive, choose the model or the project, or switch to another branch."""
    conversation = await in_database(
        services.conversation_update,
        principal=request.auth,
        conversation_id=conversation_id,
        title=body.title,
        pinned=body.pinned,
        archived=body.archived,
        model=load_pools().find(body.model).id if body.model else None,
        active_message_id=body.active_message_id,
        project_id=body.project_id,
    )
    return await _summary(conversation)


@router.delete("/{uuid:conversation_id}", response={204: None})
async def delete_conversation(request: AuthenticatedRequest, conversation_id: UUID) -> Status:
    """Deleted for the user at once, and for good after 30 days."""
    await in_database(
        services.conversation_delete, principal=request.auth, conversation_id=conversation_id
    )
    return Status(204, None)


@router.post("/{uuid:conversation_id}/restore", response=SummaryOut)
async def restore_conversation(request: AuthenticatedRequest, conversation_id: UUID) -> SummaryOut:
    """Undo a deletion."""
    conversation = await in_database(
        services.conversation_restore, principal=request.auth, conversation_id=conversation_id
    )
    return await _summary(conversation)


async def _summary(conversation: Conversation) -> SummaryOut:
    return SummaryOut.model_validate(await in_database(selectors.summary_of, conversation))
