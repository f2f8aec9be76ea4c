"""Turns of a conversation: ask, edit, regenerate; and a thumb on an answer."""

from functools import partial
from uuid import UUID

from django.http.response import HttpResponseBase
from ninja import Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.schemas.conversations import (
    FeedbackIn,
    FeedbackOut,
    TurnCreate,
    TurnRegenerate,
)
from backend.api.schemas.openai_responses import EVENT_STREAM_RESPONSE
from backend.api.turns import answer_turn, room_for_history
from backend.conversations.feedback import feedback_set
from backend.conversations.selectors import conversation_get
from backend.conversations.turns import ACTIVE_LEAF, turn_create, turn_regenerate
from backend.generation.pools.config import load_pools
from backend.generation.request import SamplingParams
from backend.platform.database import in_database

router = Router(tags=["messages"])


@router.post("/conversations/{uuid:conversation_id}/messages", **EVENT_STREAM_RESPONSE)
async def ask(
    request: AuthenticatedRequest, conversation_id: UUID, body: TurnCreate
) -> HttpResponseBase:
    """Ask, and stream the answer. An edit is a prompt with the edited one's `parent_id`.

    The first event has `parley`: the ids of the conversation, of both messages and of the
    generation.
    """
    conversation = await in_database(
        conversation_get, principal=request.auth, conversation_id=conversation_id
    )
    store = partial(
        in_database,
        turn_create,
        principal=request.auth,
        conversation_id=conversation_id,
        parent_id=ACTIVE_LEAF if body.follows_active_leaf else body.parent_id,
        parts=body.parts,
        model=load_pools().find(body.model or conversation.model).id,
        room_for=room_for_history(body.max_tokens),
    )
    params = SamplingParams(temperature=body.temperature, max_tokens=body.max_tokens)
    return await answer_turn(request, store, params)


@router.post("/messages/{uuid:message_id}/regenerate", **EVENT_STREAM_RESPONSE)
async def regenerate(
    request: AuthenticatedRequest, message_id: UUID, body: TurnRegenerate | None = None
) -> HttpResponseBase:
    """Another answer to the same prompt, as a sibling of this one."""
    model = load_pools().find(body.model).id if body is not None and body.model else None
    store = partial(
        in_database,
        turn_regenerate,
        principal=request.auth,
        message_id=message_id,
        model=model,
        room_for=room_for_history(),
    )
    return await answer_turn(request, store)


@router.put("/messages/{uuid:message_id}/feedback", response=FeedbackOut | None)
async def give_feedback(
    request: AuthenticatedRequest, message_id: UUID, body: FeedbackIn
) -> FeedbackOut | None:
    """A thumb up or down, with a comment; null takes it back."""
    feedback = await in_database(
        feedback_set,
        principal=request.auth,
        message_id=message_id,
        rating=body.rating,
        comment=body.comment,
    )
    return FeedbackOut.model_validate(feedback) if feedback is not None else None
