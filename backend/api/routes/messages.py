"""Turns of a conversation: ask, edit, regenerate; and a thumb on an answer."""

from functools import partial
from uuid import UUID

from django.http.response import HttpResponseBase
from ninja import Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.kept_text_check import instructions_check
from backend.api.schemas.conversations import (
    ChatDefaultsBody,
    ChatDefaultsOut,
    ChatParameters,
    FeedbackIn,
    FeedbackOut,
    SentMessageOut,
    SentPromptOut,
    SourceOut,
    SourcesOut,
    WithheldOut,
    WithheldTextOut,
)
from backend.api.schemas.openai_responses import EVENT_STREAM_RESPONSE
from backend.api.schemas.turns import TurnCreate, TurnRegenerate
from backend.api.turns import GOES_ON, answer_turn, room_for_history, room_for_turn
from backend.conversations.feedback import feedback_set
from backend.conversations.instructions import (
    chat_defaults_get,
    chat_defaults_set,
    sent_prompt_get,
)
from backend.conversations.models import ChatDefaults
from backend.conversations.selectors import conversation_get, message_get
from backend.conversations.sources import sources_get
from backend.conversations.turns import ACTIVE_LEAF, turn_continue, turn_create, turn_regenerate
from backend.conversations.types import UntrustedPart
from backend.conversations.withheld import as_read, text_withheld, withheld_parts_get
from backend.generation.admission.image_text import image_text
from backend.generation.lifespan import gateway_of
from backend.generation.pools.config import load_pools
from backend.generation.request import SamplingParams
from backend.generation.selectors import generation_way
from backend.generation.stations import in_order
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest
from backend.platform.stored_files import in_storage
from billing.prices.loading import DEFAULT_CURRENCY
from billing.selectors import generation_cost

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
    model = load_pools().find(body.model or conversation.model).id
    max_tokens = body.max_tokens or conversation.parameters.get("max_tokens")
    store = partial(
        in_database,
        turn_create,
        principal=request.auth,
        conversation_id=conversation_id,
        parent_id=ACTIVE_LEAF if body.follows_active_leaf else body.parent_id,
        parts=body.parts,
        model=model,
        room_for=await room_for_turn(gateway_of(request.scope), request.auth, model, max_tokens),
    )
    params = SamplingParams(temperature=body.temperature, max_tokens=body.max_tokens)
    return await answer_turn(
        request,
        store,
        params,
        offers_tools=body.tool_choice == "auto",
        runs_python="python" in body.page_tools,
    )


@router.post("/messages/{uuid:message_id}/regenerate", **EVENT_STREAM_RESPONSE)
async def regenerate(
    request: AuthenticatedRequest, message_id: UUID, body: TurnRegenerate | None = None
) -> HttpResponseBase:
    """Another answer to the same prompt, as a sibling of this one. `message_id` may name the
    prompt, also while other answers to it are generated."""
    body = body or TurnRegenerate()
    model = load_pools().find(body.model).id if body.model else None
    message = await in_database(message_get, principal=request.auth, message_id=message_id)
    chat = message.conversation
    store = partial(
        in_database,
        turn_regenerate,
        principal=request.auth,
        message_id=message_id,
        model=model,
        beside=body.beside,
        room_for=await room_for_turn(
            gateway_of(request.scope),
            request.auth,
            model or chat.model,
            chat.parameters.get("max_tokens"),
        ),
    )
    return await answer_turn(
        request,
        store,
        reuse="refresh",
        offers_tools=body.tool_choice == "auto",
        runs_python="python" in body.page_tools,
    )


@router.post("/messages/{uuid:message_id}/continue", **EVENT_STREAM_RESPONSE)
async def continue_answer(request: AuthenticatedRequest, message_id: UUID) -> HttpResponseBase:
    """Go on with an answer that was cut short. The stream has what is new; the stored answer,
    a sibling of the old one, has all of it."""
    message = await in_database(message_get, principal=request.auth, message_id=message_id)
    if message.model and load_pools().find(message.model).dialect != "vllm":
        raise InvalidRequest("This model cannot go on with an answer.", param="message_id")
    store = partial(
        in_database,
        turn_continue,
        principal=request.auth,
        message_id=message_id,
        room_for=room_for_history(message.conversation.parameters.get("max_tokens")),
    )
    return await answer_turn(request, store, GOES_ON, reuse="never", offers_tools=False)


@router.get("/messages/{uuid:message_id}/sent", response=SentPromptOut)
async def get_sent_prompt(request: AuthenticatedRequest, message_id: UUID) -> SentPromptOut:
    """What the model was sent for an answer: instructions, parameters, messages."""
    sent = await in_storage(sent_prompt_get, principal=request.auth, message_id=message_id)
    cost = stations = None
    source = ""
    if sent.answer.generation_id is not None:
        cost = await in_database(
            generation_cost,
            organization_id=request.auth.organization_id,
            generation_id=sent.answer.generation_id,
        )
        stations, source = await in_database(
            generation_way,
            organization_id=request.auth.organization_id,
            generation_id=sent.answer.generation_id,
        )
    return SentPromptOut(
        model=sent.model or None,
        input_tokens=sent.answer.input_tokens,
        output_tokens=sent.answer.output_tokens,
        cost=cost,
        currency=DEFAULT_CURRENCY,
        stations=in_order(stations),
        answer_source=source,
        instructions=sent.instructions,
        parameters=ChatParameters.model_validate(sent.parameters),
        messages=[
            SentMessageOut(role=one.role, text=one.text, images=len(one.images))
            for one in as_read(sent.messages, sent.answer)
        ],
    )


@router.get("/messages/{uuid:message_id}/sources", response=SourcesOut)
async def get_sources(request: AuthenticatedRequest, message_id: UUID) -> SourcesOut:
    """The places in attached files that an answer was written from: those that it cites, in the
    order in which it does, then the others, the best first."""
    found = await in_database(sources_get, principal=request.auth, message_id=message_id)
    return SourcesOut(data=[SourceOut.model_validate(one) for one in found])


@router.get("/messages/{uuid:message_id}/withheld", response=WithheldOut)
async def get_withheld(request: AuthenticatedRequest, message_id: UUID) -> WithheldOut:
    """The text that was kept from the model of an answer, because it reads like orders: in the
    files that are still there."""
    found = await in_storage(withheld_parts_get, principal=request.auth, message_id=message_id)
    return WithheldOut(
        data=[
            WithheldTextOut(
                attachment_id=UUID(file.attachment_id),
                filename=file.filename,
                in_part=file.is_in_part,
                text=text_withheld(
                    part.text
                    if isinstance(part, UntrustedPart)
                    else await image_text(part, request.auth.organization_id),
                    file.spans,
                ),
            )
            for file, part in found
        ]
    )


@router.get("/me/chat-defaults", response=ChatDefaultsOut)
async def get_chat_defaults(request: AuthenticatedRequest) -> ChatDefaultsOut:
    """Your instructions for every chat, and what a new one begins with."""
    row = await in_database(chat_defaults_get, principal=request.auth)
    return _defaults_out(row)


@router.put("/me/chat-defaults", response=ChatDefaultsOut)
async def set_chat_defaults(
    request: AuthenticatedRequest, body: ChatDefaultsBody
) -> ChatDefaultsOut:
    """Set all of them; they hold from the next answer on."""
    await instructions_check(request, body.about, body.style)
    row = await in_database(
        chat_defaults_set,
        principal=request.auth,
        about=body.about,
        style=body.style,
        parameters=body.parameters.stored,
        summarises=body.summarises,
    )
    return _defaults_out(row)


def _defaults_out(row: ChatDefaults) -> ChatDefaultsOut:
    parameters = ChatParameters.model_validate(row.parameters)
    return ChatDefaultsOut(
        about=row.about, style=row.style, parameters=parameters, summarises=row.summarises
    )


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
