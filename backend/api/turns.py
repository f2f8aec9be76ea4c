"""A chat turn: the stored prompt and pending answer become a generation, and a stream.

The turn is stored before the generation is asked for, so a prompt is never lost. When the
generation is refused, nothing else will finish the pending answer: it is done here.

All of it happens in a task of its own: who sends a prompt and reloads the page at once finds
it being answered.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
import structlog
from asgiref.sync import ThreadSensitiveContext
from django.http.response import HttpResponseBase

from backend.accounts.authentication import principal_in_project
from backend.accounts.principal import AuthenticatedRequest, Principal
from backend.api import generations
from backend.api.client_address import client_hash
from backend.api.documents import Asker, history_with_passages
from backend.api.idempotency import (
    HEADER,
    REPLAYED_HEADER,
    Claim,
    answer_lost,
    claimed,
    forget,
    refuse_if_succeeded,
)
from backend.api.sse import EventStreamResponse
from backend.api.turn_claims import turn_claimed
from backend.conversations.models import MessageStatus
from backend.conversations.turns import RoomFor, message_finish
from backend.conversations.types import Turn
from backend.generation.admission.fallback import narrowed
from backend.generation.gateway import Gateway
from backend.generation.lifespan import gateway_of
from backend.generation.pools.config import PoolConfig, load_pools
from backend.generation.request import GenerationRequest, Reuse, SamplingParams, TurnIds
from backend.generation.service import generation_start
from backend.generation.tools import Tools
from backend.platform.database import in_database, release_connection
from backend.platform.errors import ContentBlocked, NotFound, ParleyError
from backend.tools.catalog import as_openai, tools_for
from backend.tools.models import Tool
from backend.tools.rounds import round_open

log = structlog.get_logger(__name__)

_beginning: set[asyncio.Task[Any]] = set()


GOES_ON = SamplingParams(extra={"continue_final_message": True, "add_generation_prompt": False})
"""The last message is an answer to go on with."""


async def answer_turn(
    request: AuthenticatedRequest,
    store: Callable[[], Awaitable[Turn]],
    params: SamplingParams | None = None,
    reuse: Reuse = "allowed",
    *,
    offers_tools: bool = True,
    runs_python: bool = False,
) -> HttpResponseBase:
    """Stream the answer to a turn, at most once for each `Idempotency-Key`. It survives the page:
    a reader may come back for it.

    Args:
        store: stores the turn; awaited here, so that a client who leaves cannot come between
            the turn and its generation.
        reuse: see GenerationRequest.
        offers_tools: whether the model may call the tools of the person and the web.
        runs_python: whether the page that asks can run programs: it is offered no more then.
    """

    async def begin(claim: Claim | None) -> HttpResponseBase:
        turn = await store()
        offer = partial(_offer, runs_python=runs_python) if offers_tools else None
        with turn_claimed(turn.assistant_message.id):
            return await _begin(request, turn, params, reuse, claim, offer)

    if HEADER not in request.headers:
        return await _in_own_task(partial(begin, None))
    # The key is held in there too: a retry must not come between the turn and its generation.
    return await _in_own_task(partial(_once, request, begin))


async def _once(
    request: AuthenticatedRequest, begin: Callable[[Claim], Awaitable[HttpResponseBase]]
) -> HttpResponseBase:
    async with claimed(request) as claim:
        if claim.created_at is None:
            try:
                return await begin(claim)
            except ParleyError:
                await in_database(forget, claim)
                raise
        try:
            events = await generations.follow(request, claim.generation_id)
        except NotFound:
            raise answer_lost() from None
        return EventStreamResponse(
            events,
            headers={REPLAYED_HEADER: "true", **generations.id_header(claim.generation_id)},
            request=request,
        )


async def _in_own_task(begin: Callable[[], Awaitable[HttpResponseBase]]) -> HttpResponseBase:
    async def alone() -> HttpResponseBase:
        async with ThreadSensitiveContext():  # the request's own ends when its client leaves
            return await begin()

    task = asyncio.create_task(alone())
    _beginning.add(task)  # the loop itself would let it be collected
    task.add_done_callback(_beginning.discard)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_log_unheard)
        raise


def _log_unheard(task: asyncio.Task[Any]) -> None:
    """Say why a turn was not answered whose client disconnected before the answer."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        log.warning("turn_not_begun", error=repr(error))


async def _begin(
    request: AuthenticatedRequest,
    turn: Turn,
    params: SamplingParams | None,
    reuse: Reuse,
    claim: Claim | None,
    offer: Callable[[Principal, Turn], Tools | None] | None,
) -> HttpResponseBase:
    ids = TurnIds(
        conversation_id=str(turn.assistant_message.conversation_id),
        user_message_id=str(turn.user_message.id),
        message_id=str(turn.assistant_message.id),
    )
    try:
        wanted = await _request(request, turn, ids, params, reuse, claim, offer)
        fence = None if claim is None else partial(refuse_if_succeeded, claim)
        started = await generation_start(gateway_of(request.scope), wanted, fence=fence)
    except ParleyError as error:
        await _refused(turn, ids, error)
        raise
    except BaseException:
        await finish_refused(turn.assistant_message.id, ParleyError("The answer was not begun."))
        raise
    # From here on the generation finishes the message, whoever disconnects.
    await release_connection()
    return generations.stream(request, started.id, started.headers)


async def _request(
    request: AuthenticatedRequest,
    turn: Turn,
    ids: TurnIds,
    params: SamplingParams | None,
    reuse: Reuse,
    claim: Claim | None,
    offer: Callable[[Principal, Turn], Tools | None] | None,
) -> GenerationRequest:
    principal = await _asking(request, turn)
    tools = await in_database(offer, principal, turn) if offer else None
    asker = Asker(gateway_of(request.scope), principal, request.request_id, client_hash(request))
    return GenerationRequest(
        principal=principal,
        request_id=request.request_id,
        client_hash=client_hash(request),
        endpoint="chat",
        model=turn.assistant_message.model,
        messages=await history_with_passages(asker, turn),
        params=merged_parameters(turn, params),
        tools=tools,
        stream_usage=True,
        on_disconnect="grace",
        conversation_id=turn.assistant_message.conversation_id,
        message_id=turn.assistant_message.id,
        turn=ids,
        generation_id=None if claim is None else claim.generation_id,
        reuse="never" if turn.is_temporary else reuse,
    )


def room_for_history(max_tokens: int | None = None) -> RoomFor:
    """What a model's window leaves for the history, beside an answer of `max_tokens`."""

    return lambda model: _room_in(load_pools().find(model), max_tokens)


async def room_for_turn(
    gateway: Gateway,
    principal: Principal,
    model: str,
    max_tokens: int | None = None,
    *,
    needs: Collection[str] = ("chat",),
) -> RoomFor:
    """The same for a turn that is about to be answered: while the model takes no requests, what
    the window of those leaves that stand in for it and have the capabilities `needs`."""
    pool = await narrowed(gateway.pools, gateway.queues, load_pools().find(model), principal, needs)
    return lambda _: _room_in(pool, max_tokens)


def _room_in(pool: PoolConfig, max_tokens: int | None) -> int:
    answer = min(max_tokens or pool.turn_limit, pool.context_window // 4)
    return pool.context_window - answer


def merged_parameters(turn: Turn, params: SamplingParams | None) -> SamplingParams:
    """The chat's parameters, and before them what this one request says."""
    asked = msgspec.to_builtins(params) if params is not None else {}
    return msgspec.convert({**turn.parameters, **asked}, SamplingParams)


def tools_of(tools: Sequence[Tool], model: str) -> Tools | None:
    """What a request for `model` says of `tools`; None where it says nothing."""
    if not tools or "tools" not in load_pools().find(model).capabilities:
        return None
    return Tools([as_openai(tool) for tool in tools], is_reviewed=True)


def _offer(principal: Principal, turn: Turn, *, runs_python: bool) -> Tools | None:
    """The tools of a person's turn, noted beside its pending answer."""
    conversation = turn.assistant_message.conversation
    tools = tools_for(principal, conversation, runs_python=runs_python)
    offered = tools_of(tools, turn.assistant_message.model)
    if offered is not None:
        round_open(message_id=turn.assistant_message.pk, tools=tools)
    return offered


async def _asking(request: AuthenticatedRequest, turn: Turn) -> Principal:
    """Who asks, in the conversation's project: its models, limits, budget and retention hold.

    A key has a project of its own, which it is for."""
    project_id = turn.assistant_message.conversation.project_id
    if request.auth.is_api_key or project_id in {None, request.auth.project_id}:
        return request.auth
    return await in_database(principal_in_project, request.auth, project_id)


async def _refused(turn: Turn, ids: TurnIds, error: ParleyError) -> None:
    await finish_refused(turn.assistant_message.id, error)
    error.details = {**error.details, "parley": msgspec.to_builtins(ids)}


async def finish_refused(message_id: UUID, error: ParleyError) -> None:
    """End a pending answer that has no generation to end it."""
    blocked = isinstance(error, ContentBlocked)
    await in_database(
        message_finish,
        message_id=message_id,
        text="",
        status=MessageStatus.BLOCKED if blocked else MessageStatus.FAILED,
        finish_reason="content_filter" if blocked else "error",
        input_tokens=0,
        output_tokens=0,
        only_unbegun=True,
    )
