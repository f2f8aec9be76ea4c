"""`/v1/conversations`: OpenAI's conversations, which are the page's own."""

from typing import Any
from uuid import UUID

from ninja import Query, Router

from backend.accounts.principal import AuthenticatedRequest, Principal
from backend.api.responses import conversations as shown
from backend.api.responses.paging import Order, page_of
from backend.api.schemas.base import Included, PageToken
from backend.api.schemas.responses import ConversationChange, ConversationNew, ItemsNew
from backend.conversations import items as rows
from backend.conversations.models import Conversation
from backend.conversations.selectors import conversation_get
from backend.conversations.services import conversation_create, conversation_delete
from backend.generation.pools.config import load_pools
from backend.platform.database import in_database
from backend.platform.errors import NotFound

router = Router(tags=["conversations"])


@router.post("/conversations")
async def create_openai_conversation(
    request: AuthenticatedRequest, body: ConversationNew
) -> dict[str, Any]:
    """A conversation, with its first items. The page shows it too."""
    model = load_pools().models[0].id
    made = await in_database(_create, request.auth, model, body)
    return shown.conversation_object(made)


@router.get("/conversations/{openai_conversation_id}")
async def get_openai_conversation(
    request: AuthenticatedRequest, openai_conversation_id: str
) -> dict[str, Any]:
    """One conversation; those that were begun on the page too."""
    found = await in_database(
        conversation_get, principal=request.auth, conversation_id=_id(openai_conversation_id)
    )
    return shown.conversation_object(found)


@router.post("/conversations/{openai_conversation_id}")
async def update_openai_conversation(
    request: AuthenticatedRequest, openai_conversation_id: str, body: ConversationChange
) -> dict[str, Any]:
    """Replace its metadata."""
    changed = await in_database(
        rows.metadata_set,
        principal=request.auth,
        conversation_id=_id(openai_conversation_id),
        metadata=body.metadata or {},
    )
    return shown.conversation_object(changed)


@router.delete("/conversations/{openai_conversation_id}")
async def delete_openai_conversation(
    request: AuthenticatedRequest, openai_conversation_id: str
) -> dict[str, Any]:
    """Deleted for the user at once, and for good after 30 days."""
    await in_database(
        conversation_delete, principal=request.auth, conversation_id=_id(openai_conversation_id)
    )
    return {"id": openai_conversation_id, "object": "conversation.deleted", "deleted": True}


@router.get("/conversations/{openai_conversation_id}/items")
async def list_openai_conversation_items(
    request: AuthenticatedRequest,
    openai_conversation_id: str,
    limit: int = Query(20, ge=1, le=100),
    order: Order = "desc",
    after: PageToken | None = None,
    include: list[Included] = Query([], max_length=16),  # noqa: B008
) -> dict[str, Any]:
    """The items of its active branch, the newest 1,000 messages of it."""
    items = await _items(request, openai_conversation_id)
    return page_of(items, limit=limit, order=order, after=after)


@router.post("/conversations/{openai_conversation_id}/items")
async def create_openai_conversation_items(
    request: AuthenticatedRequest,
    openai_conversation_id: str,
    body: ItemsNew,
    include: list[Included] = Query([], max_length=16),  # noqa: B008
) -> dict[str, Any]:
    """Add items at its end; 409 while an answer is being added."""
    known = {item["id"] for item in await _items(request, openai_conversation_id)}
    await in_database(
        rows.items_append,
        principal=request.auth,
        conversation_id=_id(openai_conversation_id),
        spoken=shown.spoken_of(body.items),
    )
    items = await _items(request, openai_conversation_id)
    added = [item for item in items if item["id"] not in known]
    return page_of(added, limit=100, order="asc", after=None)


@router.get("/conversations/{openai_conversation_id}/items/{item_id}")
async def get_openai_conversation_item(
    request: AuthenticatedRequest,
    openai_conversation_id: str,
    item_id: str,
    include: list[Included] = Query([], max_length=16),  # noqa: B008
) -> dict[str, Any]:
    """One item."""
    for item in await _items(request, openai_conversation_id):
        if item["id"] == item_id:
            return item
    raise NotFound(f"Item with id '{item_id[:100]}' not found.")


@router.delete("/conversations/{openai_conversation_id}/items/{item_id}")
async def delete_openai_conversation_item(
    request: AuthenticatedRequest, openai_conversation_id: str, item_id: str
) -> dict[str, Any]:
    """Take one item away; the conversation without it."""
    changed = await in_database(_remove, request.auth, _id(openai_conversation_id), item_id)
    return shown.conversation_object(changed)


async def _items(
    request: AuthenticatedRequest, openai_conversation_id: str
) -> list[dict[str, Any]]:
    _, branch = await in_database(
        rows.branch_read, principal=request.auth, conversation_id=_id(openai_conversation_id)
    )
    return shown.items_of(branch)


def _create(principal: Principal, model: str, body: ConversationNew) -> Conversation:
    spoken = shown.spoken_of(body.items or [])
    made = conversation_create(principal=principal, model=model)
    if body.metadata:
        made = rows.metadata_set(
            principal=principal, conversation_id=made.pk, metadata=body.metadata
        )
    if spoken:
        rows.items_append(principal=principal, conversation_id=made.pk, spoken=spoken)
    return made


def _remove(principal: Principal, conversation_id: UUID, item_id: str) -> Conversation:
    _, branch = rows.branch_read(principal=principal, conversation_id=conversation_id)
    message_id, place = shown.place_of(branch, item_id)
    return rows.item_remove(
        principal=principal, conversation_id=conversation_id, message_id=message_id, place=place
    )


def _id(openai_conversation_id: str) -> UUID:
    return shown.conversation_id_of(openai_conversation_id)
