"""`/api/conversations`: the list, and one conversation's active branch."""

from typing import Annotated
from uuid import UUID

from ninja import Query, Router, Status
from pydantic import Field

from backend.accounts.principal import AuthenticatedRequest
from backend.api.kept_text_check import instructions_check
from backend.api.schemas.conversations import (
    BulkChange,
    BulkOut,
    ContextOut,
    ContextSummaryOut,
    ConversationCreate,
    ConversationListOut,
    ConversationOut,
    ConversationUpdate,
    FoundListOut,
    FoundOut,
    SummaryOut,
    TagListOut,
    TagOut,
    TrashErase,
    TrashErasedOut,
    conversation_out,
)
from backend.api.throttling import count_use
from backend.api.turns import room_for_history
from backend.conversations import search as searching
from backend.conversations import selectors, services, tags
from backend.conversations.assistant_access import assistant_get
from backend.conversations.context import context_get
from backend.conversations.models import Conversation
from backend.conversations.purge import conversation_end, trash_erase
from backend.conversations.summary_requests import summary_request, summary_undo
from backend.generation.pools.config import load_pools
from backend.platform.database import in_database

router = Router(tags=["conversations"])


@router.get("", response=ConversationListOut)
async def list_conversations(
    request: AuthenticatedRequest,
    search: str = Query("", max_length=200),
    tag: str = Query("", max_length=100),
    project_id: UUID | None = None,
    archived: bool = False,
    deleted: bool = False,
    cursor: str | None = Query(None, max_length=500),
    limit: int = Query(30, ge=1, le=100),
) -> ConversationListOut:
    """Pinned ones first, then by the last turn. `search` looks into titles and
    messages; `project_id` lists those that are in it, `deleted` those that can be restored."""
    if search:
        await count_use(request, request.auth, "searches")
    page = await in_database(
        selectors.conversations_list,
        principal=request.auth,
        search=search,
        tag=tag,
        project_id=project_id,
        archived=archived,
        deleted=deleted,
        cursor=cursor,
        limit=limit,
    )
    return ConversationListOut(
        data=[SummaryOut.model_validate(item) for item in page.items],
        next_cursor=page.next_cursor,
    )


@router.get("/search", response=FoundListOut)
async def search_conversations(
    request: AuthenticatedRequest,
    query: str = Query(..., min_length=1, max_length=200),
    limit: int = Query(20, ge=1, le=50),
) -> FoundListOut:
    """Your conversations that have every word in their title or in one message, the best first,
    each with the place that was found."""
    await count_use(request, request.auth, "searches")
    found = await in_database(
        searching.conversations_search, principal=request.auth, query=query, limit=limit
    )
    return FoundListOut(data=[FoundOut.model_validate(one) for one in found])


@router.get("/tags", response=TagListOut)
async def list_tags(request: AuthenticatedRequest) -> TagListOut:
    """Your tags, the most used first."""
    found = await in_database(tags.tags_list, principal=request.auth)
    return TagListOut(data=[TagOut.model_validate(one) for one in found])


@router.post("", response={201: SummaryOut})
async def create_conversation(request: AuthenticatedRequest, body: ConversationCreate) -> Status:
    """An empty conversation."""
    model = load_pools().find(body.model).id if body.model else await _first_model(request, body)
    conversation = await in_database(
        services.conversation_create,
        principal=request.auth,
        title=body.title,
        model=model,
        project_id=body.project_id,
        temporary=body.temporary,
        assistant_id=body.assistant_id,
    )
    return Status(201, await _summary(conversation))


@router.post("/bulk", response=BulkOut)
async def change_conversations(request: AuthenticatedRequest, body: BulkChange) -> BulkOut:
    """Archive, unarchive, delete or restore several."""
    changed = await in_database(
        services.conversations_change,
        principal=request.auth,
        conversation_ids=body.ids,
        action=body.action,
    )
    return BulkOut(changed=changed)


@router.post("/trash/erase", response=TrashErasedOut)
async def erase_trash(request: AuthenticatedRequest, body: TrashErase) -> TrashErasedOut:
    """Erase conversations of your trash for good, before their 30 days are over. A few seconds'
    worth in each request. A legal hold refuses it (409 `legal_hold`)."""
    done = await in_database(
        trash_erase,
        principal=request.auth,
        conversation_ids=None if body.ids == "all" else body.ids,
    )
    return TrashErasedOut.model_validate(done)


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


@router.get("/{uuid:conversation_id}/context", response=ContextOut)
async def get_context(request: AuthenticatedRequest, conversation_id: UUID) -> ContextOut:
    """How full the active branch is for its model, and where what is read of it begins."""
    return await _context(request, conversation_id)


@router.post("/{uuid:conversation_id}/summary", response={202: ContextOut})
async def summarise_conversation(request: AuthenticatedRequest, conversation_id: UUID) -> Status:
    """Summarise the beginning of the active branch now, and by itself from then on. It is made
    after this answer, and is in the context when it is there."""
    await in_database(
        summary_request,
        principal=request.auth,
        conversation_id=conversation_id,
        room_of=_room_of,
    )
    return Status(202, await _context(request, conversation_id))


@router.delete("/{uuid:conversation_id}/summary", response=ContextOut)
async def undo_summary(request: AuthenticatedRequest, conversation_id: UUID) -> ContextOut:
    """Delete the chat's summaries: its oldest messages are left out again when it is full. No
    further one is made by itself."""
    await in_database(summary_undo, principal=request.auth, conversation_id=conversation_id)
    return await _context(request, conversation_id)


async def _context(request: AuthenticatedRequest, conversation_id: UUID) -> ContextOut:
    use = await in_database(
        context_get,
        principal=request.auth,
        conversation_id=conversation_id,
        room_of=_room_of,
    )
    return ContextOut(
        used=use.used,
        limit=use.limit,
        begins_with=use.begins_with,
        summary=None
        if use.summary is None
        else ContextSummaryOut(
            id=use.summary.pk,
            through_message_id=use.summary.through_id,
            text=use.summary.text,
            created_at=use.summary.created_at,
        ),
        summarises=use.summarises,
    )


def _room_of(conversation: Conversation) -> int:
    return room_for_history(conversation.parameters.get("max_tokens"))(conversation.model)


@router.patch("/{uuid:conversation_id}", response=SummaryOut)
async def update_conversation(
    request: AuthenticatedRequest, conversation_id: UUID, body: ConversationUpdate
) -> SummaryOut:
    """Rename, pin, archive, tag, choose the model or the project, or switch to another branch."""
    await instructions_check(request, body.instructions)
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
        instructions=body.instructions,
        parameters=body.parameters.stored if body.parameters is not None else None,
        tags=body.tags,
        web_search=body.web_search,
    )
    return await _summary(conversation)


@router.delete("/{uuid:conversation_id}", response={204: None})
async def delete_conversation(request: AuthenticatedRequest, conversation_id: UUID) -> Status:
    """Deleted for the user at once, and for good after 30 days; a temporary one at once."""
    await in_database(conversation_end, principal=request.auth, conversation_id=conversation_id)
    return Status(204, None)


@router.post("/{uuid:conversation_id}/restore", response=SummaryOut)
async def restore_conversation(request: AuthenticatedRequest, conversation_id: UUID) -> SummaryOut:
    """Undo a deletion."""
    conversation = await in_database(
        services.conversation_restore, principal=request.auth, conversation_id=conversation_id
    )
    return await _summary(conversation)


async def _first_model(request: AuthenticatedRequest, body: ConversationCreate) -> str:
    """Its assistant's as long as it is served, else the first."""
    pools = load_pools()
    if body.assistant_id is not None:
        assistant = await in_database(
            assistant_get, principal=request.auth, assistant_id=body.assistant_id
        )
        if pools.get(assistant.model) is not None:
            return assistant.model
    return pools.models[0].id


async def _summary(conversation: Conversation) -> SummaryOut:
    return SummaryOut.model_validate(await in_database(selectors.summary_of, conversation))
