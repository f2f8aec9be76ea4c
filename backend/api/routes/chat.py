"""`/v1/chat/completions`, and the same handler under `/api` for signed-in sessions."""

from uuid import UUID

from django.http.response import HttpResponseBase
from ninja import Router

from backend.accounts.data_policy import calls_are_stored
from backend.accounts.principal import AuthenticatedRequest
from backend.api.client_address import client_hash
from backend.api.idempotency import answer_once
from backend.api.observe import note_end_user
from backend.api.openai_requests import from_chat
from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.schemas.openai_responses import GENERATION_RESPONSES
from backend.api.stored_chats.rows import chat_store
from backend.generation.pools.config import load_pools

openai_router = Router(tags=["generation"])
product_router = Router(tags=["generation"])


@openai_router.post("/chat/completions", **GENERATION_RESPONSES)
@product_router.post(
    "/chat/completions", operation_id="create_product_chat_completion", **GENERATION_RESPONSES
)
async def create_chat_completion(
    request: AuthenticatedRequest, body: ChatCompletionRequest
) -> HttpResponseBase:
    """OpenAI's chat completion. With `stream` true: server-sent events, `[DONE]` last."""
    note_end_user(body.safety_identifier or body.user)
    if body.store and not await calls_are_stored(request.auth):
        body = body.model_copy(update={"store": False})
    wanted = from_chat(
        body,
        principal=request.auth,
        request_id=request.request_id,
        client_hash=client_hash(request),
    )

    def stores(generation_id: UUID) -> None:
        chat_store(
            generation_id=generation_id,
            principal=request.auth,
            body=body,
            model=load_pools().find(body.model).id,
        )

    return await answer_once(
        request, wanted, streamed=bool(body.stream), stores=stores if body.store else None
    )
