"""`/v1/messages`: Anthropic's Messages API, and counting a prompt's tokens."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.http.response import HttpResponseBase
from ninja import Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.anthropic.messages import begins_answer, chat_body
from backend.api.anthropic.shape import MessageShape
from backend.api.client_address import client_hash
from backend.api.idempotency import answer_once
from backend.api.observe import note_end_user
from backend.api.openai_requests import from_chat
from backend.api.schemas.anthropic import CountTokens, MessagesCreate, PromptIn
from backend.api.schemas.openai_responses import GENERATION_RESPONSES
from backend.generation.lifespan import gateway_of
from backend.generation.pools.access import require_capability
from backend.generation.pools.config import load_pools
from backend.generation.pools.continuation import can_continue
from backend.generation.request import GenerationRequest
from backend.generation.service import prompt_tokens_count
from backend.platform.database import release_connection
from backend.platform.errors import InvalidRequest

router = Router(tags=["generation"])


@router.post("/messages", **GENERATION_RESPONSES)
async def create_message(request: AuthenticatedRequest, body: MessagesCreate) -> HttpResponseBase:
    """Anthropic's message. With `stream` true: its events, `message_stop` last."""
    note_end_user(body.metadata.user_id if body.metadata else None)
    wanted = _generation(request, body)
    shape = MessageShape(body.model, body.stop_sequences or ())
    with _effort_named_thinking():
        return await answer_once(request, wanted, streamed=bool(body.stream), shape=shape)


@router.post("/messages/count_tokens")
async def count_message_tokens(request: AuthenticatedRequest, body: CountTokens) -> dict[str, Any]:
    """How many input tokens the message would have. Nothing is generated or billed."""
    wanted = _generation(request, body)
    await release_connection()
    with _effort_named_thinking():
        count = await prompt_tokens_count(gateway_of(request.scope), wanted)
    return {"input_tokens": count}


@contextmanager
def _effort_named_thinking() -> Iterator[None]:
    """A model that cannot think as it is asked to refuses its effort, which is `thinking` here."""
    try:
        yield
    except InvalidRequest as error:
        if error.param == "reasoning_effort":
            error.param = "thinking"
            error.message = f"This model cannot think as it is asked to: {error.message}"
        raise


def _generation(request: AuthenticatedRequest, body: PromptIn) -> GenerationRequest:
    """Raises ModelNotFound, and InvalidRequest for what the model cannot do."""
    pool = load_pools().find(body.model)
    if body.thinking is not None and body.thinking.type != "disabled":
        require_capability(pool, "reasoning", "thinking")
    wanted = from_chat(
        chat_body(body),
        principal=request.auth,
        request_id=request.request_id,
        client_hash=client_hash(request),
    )
    if not begins_answer(body):
        return wanted
    if not can_continue(wanted, pool):
        raise InvalidRequest(
            f"The last message is the assistant's, and the model '{pool.id}' cannot go on in it.",
            param="messages",
            code="unsupported_by_model",
        )
    return replace(wanted, continues_answer=True)
