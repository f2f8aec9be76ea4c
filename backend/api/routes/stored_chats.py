"""`/v1/chat/completions` that were stored: list, read, relabel, delete; what they were asked."""

from typing import Any

from ninja import Query

from backend.accounts.principal import AuthenticatedRequest
from backend.api.files.paging import Order
from backend.api.routes.chat import openai_router
from backend.api.schemas.base import PageToken
from backend.api.schemas.openai_chat import ChatCompletionUpdate
from backend.api.stored_chats import rows
from backend.generation.pools.config import load_pools
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest, ModelNotFound

router = openai_router
"""The one that creates them: a path belongs to one router."""

_MAX_FILTERS = 16


@router.get("/chat/completions")
async def list_chat_completions(
    request: AuthenticatedRequest,
    limit: int = Query(20, ge=1, le=100),
    order: Order = "asc",
    after: PageToken | None = None,
    model: str | None = Query(None, max_length=100),
) -> dict[str, Any]:
    """The user's own, the oldest first unless `order` is `desc`; by `model`, and by
    `metadata[key]=value`."""
    return await in_database(
        rows.chats_list,
        principal=request.auth,
        limit=limit,
        order=order,
        after=after,
        model=None if model is None else _model(model),
        metadata=_metadata(request),
    )


@router.get("/chat/completions/{completion_id}")
async def get_chat_completion(request: AuthenticatedRequest, completion_id: str) -> dict[str, Any]:
    """The completion, with what it was asked and its metadata."""
    return await in_database(rows.chat_shown, text_id=completion_id, principal=request.auth)


@router.post("/chat/completions/{completion_id}")
async def update_chat_completion(
    request: AuthenticatedRequest, completion_id: str, body: ChatCompletionUpdate
) -> dict[str, Any]:
    """Replace its metadata."""
    return await in_database(
        rows.chat_update,
        text_id=completion_id,
        principal=request.auth,
        metadata=body.metadata or {},
    )


@router.delete("/chat/completions/{completion_id}")
async def delete_chat_completion(
    request: AuthenticatedRequest, completion_id: str
) -> dict[str, Any]:
    """Its content is gone at once."""
    await in_database(rows.chat_delete, text_id=completion_id, principal=request.auth)
    return {"id": completion_id, "object": "chat.completion.deleted", "deleted": True}


@router.get("/chat/completions/{completion_id}/messages")
async def list_chat_completion_messages(
    request: AuthenticatedRequest,
    completion_id: str,
    limit: int = Query(20, ge=1, le=100),
    order: Order = "asc",
    after: PageToken | None = None,
) -> dict[str, Any]:
    """The messages that it was asked with."""
    return await in_database(
        rows.messages_list,
        text_id=completion_id,
        principal=request.auth,
        limit=limit,
        order=order,
        after=after,
    )


def _model(name: str) -> str:
    """Of an alias, the model that it stands for; of an unknown name, one that nothing has."""
    try:
        return load_pools().find(name).id
    except ModelNotFound:
        return name


def _metadata(request: AuthenticatedRequest) -> dict[str, str]:
    named = {
        name.removeprefix("metadata[").removesuffix("]"): str(value)
        for name, value in request.GET.items()
        if name.startswith("metadata[") and name.endswith("]")
    }
    if len(named) > _MAX_FILTERS:
        raise InvalidRequest(f"At most {_MAX_FILTERS} pairs can be asked for.", param="metadata")
    return named
