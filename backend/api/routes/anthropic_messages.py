"""`/v1/messages`: Anthropic's Messages API, and counting a prompt's tokens."""

from typing import Any

from django.http.response import HttpResponseBase
from ninja import Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.anthropic.messages import chat_body
from backend.api.anthropic.shape import MessageShape
from backend.api.client_address import client_hash
from backend.api.idempotency import answer_once
from backend.api.observe import note_end_user
from backend.api.openai_requests import from_chat
from backend.api.schemas.anthropic import CountTokens, MessagesCreate, PromptIn
from backend.api.schemas.openai_responses import GENERATION_RESPONSES
from backend.generation.lifespan import gateway_of
from backend.generation.request import GenerationRequest
from backend.generation.service import prompt_tokens_count
from backend.platform.database import release_connection

router = Router(tags=["generation"])


@router.post("/messages", **GENERATION_RESPONSES)
async def create_message(request: AuthenticatedRequest, body: MessagesCreate) -> HttpResponseBase:
    """Anthropic's message. With `stream` true: its events, `message_stop` last."""
    note_end_user(body.metadata.user_id if body.metadata else None)
    wanted = _generation(request, body)
    return await answer_once(
        request, wanted, streamed=bool(body.stream), shape=MessageShape(body.model)
    )


@router.post("/messages/count_tokens")
async def count_message_tokens(request: AuthenticatedRequest, body: CountTokens) -> dict[str, Any]:
    """How many input tokens the message would have. Nothing is generated or billed."""
    wanted = _generation(request, body)
    await release_connection()
    count = await prompt_tokens_count(gateway_of(request.scope), wanted)
    return {"input_tokens": count}


def _generation(request: AuthenticatedRequest, body: PromptIn) -> GenerationRequest:
    return from_chat(
        chat_body(body),
        principal=request.auth,
        request_id=request.request_id,
        client_hash=client_hash(request),
    )
