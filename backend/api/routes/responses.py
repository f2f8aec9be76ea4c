"""`/v1/responses`: create, read, follow, cancel, delete; what it was asked."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal
from uuid import UUID, uuid4

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from ninja import Query, Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api import generations
from backend.api.client_address import client_hash
from backend.api.idempotency import HEADER as IDEMPOTENCY_HEADER
from backend.api.observe import note_end_user
from backend.api.openai_requests import from_chat
from backend.api.responses import rows
from backend.api.responses.events import RESPONSE_EVENTS, Respond, ResponseEvents
from backend.api.responses.items import chat_body, output_items
from backend.api.responses.objects import parameters, response_object, status_of
from backend.api.schemas.openai_responses import RESPONSE_CREATED, RESPONSE_READ
from backend.api.schemas.responses import ResponseCreate
from backend.api.sse import EventStreamResponse
from backend.generation.admission.estimate import input_estimate
from backend.generation.lifespan import gateway_of
from backend.generation.models import GenerationState
from backend.generation.pools.config import load_pools
from backend.generation.request import Completion, Event, GenerationRequest
from backend.generation.service import generation_cancel, generation_events, generation_result
from backend.generation.tools import begun_call
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest
from backend.platform.json import encode_json

router = Router(tags=["responses"])

_CANCEL_WAIT_S = 5.0
_CANCEL_STEP_S = 0.1
_ROOM_FOR_ANSWER = 256


@router.post("/responses", **RESPONSE_CREATED)
async def create_response(request: AuthenticatedRequest, body: ResponseCreate) -> HttpResponseBase:
    """OpenAI's response. With `stream` true: its events, `response.completed` last."""
    note_end_user(body.safety_identifier or body.user)
    if request.headers.get(IDEMPOTENCY_HEADER) is not None:
        raise InvalidRequest(
            f"'{IDEMPOTENCY_HEADER}' is not supported for responses.", param=IDEMPOTENCY_HEADER
        )
    history: list[dict[str, Any]] = []
    if body.previous_response_id is not None:
        history = await in_database(
            rows.history_of, text_id=body.previous_response_id, principal=request.auth
        )
    wanted = _generation(request, body, history)
    started = await generations.start(request, wanted)
    created = datetime.fromtimestamp(started.created, UTC)
    if body.is_stored:
        await in_database(
            rows.response_store,
            generation_id=started.id,
            created_at=created,
            principal=request.auth,
            body=body,
        )
    respond = partial(response_object, started.id, created, parameters(body))
    if body.stream:
        return _stream(request, started.id, respond, headers=started.ratelimit_headers)
    if body.background:
        return _json(respond(status="queued"), started.ratelimit_headers)
    completion = await generation_result(
        gateway_of(request.scope), started.id, principal=request.auth
    )
    return _json(_whole(started.id, completion, respond), started.ratelimit_headers)


@router.get("/responses/{response_id}", **RESPONSE_READ)
async def get_response(
    request: AuthenticatedRequest,
    response_id: str,
    stream: bool = False,
    starting_after: int | None = None,
    include_obfuscation: bool | None = None,
    include: list[str] = Query([]),  # noqa: B008
) -> HttpResponseBase:
    """The response as it stands, or its events, from the first or after a number."""
    found = await in_database(rows.response_get, text_id=response_id, principal=request.auth)
    if not stream:
        return _json(found.as_object())
    respond = partial(response_object, found.row.pk, found.row.created_at, found.asked)
    return _stream(request, found.row.pk, respond, after=starting_after)


@router.delete("/responses/{response_id}")
async def delete_response(request: AuthenticatedRequest, response_id: str) -> dict[str, Any]:
    """Its content is gone at once."""
    await in_database(rows.response_delete, text_id=response_id, principal=request.auth)
    return {"id": response_id, "object": "response", "deleted": True}


@router.post("/responses/{response_id}/cancel", **RESPONSE_READ)
async def cancel_response(request: AuthenticatedRequest, response_id: str) -> HttpResponseBase:
    """Stop one that runs in the background. Stopping twice is fine."""
    found = await in_database(rows.response_get, text_id=response_id, principal=request.auth)
    if not found.asked.get("background"):
        raise InvalidRequest("Only a response in the background can be cancelled.")
    gateway = gateway_of(request.scope)
    await generation_cancel(gateway, found.row.pk, principal=request.auth)
    deadline = asyncio.get_running_loop().time() + _CANCEL_WAIT_S
    while found.generation.is_open and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(_CANCEL_STEP_S)
        found = await in_database(rows.response_get, text_id=response_id, principal=request.auth)
    return _json(found.as_object())


@router.get("/responses/{response_id}/input_items")
async def list_response_input_items(
    request: AuthenticatedRequest,
    response_id: str,
    limit: int = Query(20, ge=1, le=100),
    order: Literal["asc", "desc"] = "desc",
    after: str | None = None,
    include: list[str] = Query([]),  # noqa: B008
) -> dict[str, Any]:
    """Its own input items, the last first unless `order` is `asc`."""
    found = await in_database(rows.response_get, text_id=response_id, principal=request.auth)
    items = rows.input_list(found)
    if order == "desc":
        items.reverse()
    if after is not None:
        places = [at for at, item in enumerate(items) if item["id"] == after]
        if not places:
            raise InvalidRequest(f"There is no item '{after[:64]}'.", param="after")
        items = items[places[0] + 1 :]
    shown = items[:limit]
    return {
        "object": "list",
        "data": shown,
        "first_id": shown[0]["id"] if shown else None,
        "last_id": shown[-1]["id"] if shown else None,
        "has_more": len(items) > limit,
    }


def _generation(
    request: AuthenticatedRequest, body: ResponseCreate, history: list[dict[str, Any]]
) -> GenerationRequest:
    """The generation of a response. With `truncation` `auto` the oldest turns are left out until
    the rest is likely to fit."""
    while True:
        chat = from_chat(
            chat_body(body, history),
            principal=request.auth,
            request_id=request.request_id,
            client_hash=client_hash(request),
        )
        pool = load_pools().find(body.model)
        too_long = input_estimate(chat) + _ROOM_FOR_ANSWER > pool.context_window
        if body.truncation != "auto" or not too_long or not history:
            break
        history = _without_first_turn(history)
    return replace(
        chat,
        generation_id=uuid4(),
        stream_usage=True,
        stores_answer=body.is_stored,
        on_disconnect="go_on" if body.background else "grace" if body.is_stored else "cancel",
    )


def _without_first_turn(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls go with their results: a turn lasts until the next message of a user."""
    later = [at for at, message in enumerate(history) if at and message["role"] == "user"]
    return history[later[0] :] if later else []


def _stream(
    request: AuthenticatedRequest,
    generation_id: UUID,
    respond: Respond,
    *,
    after: int | None = None,
    headers: dict[str, str] | None = None,
) -> EventStreamResponse:
    return EventStreamResponse(
        _events(request, generation_id, respond, -1 if after is None else after),
        headers={**(headers or {}), **generations.id_header(generation_id)},
        principal=request.auth,
        wire=RESPONSE_EVENTS,
    )


async def _events(
    request: AuthenticatedRequest, generation_id: UUID, respond: Respond, after: int
) -> AsyncGenerator[Event]:
    made = ResponseEvents(generation_id, respond)
    source = generation_events(gateway_of(request.scope), generation_id, principal=request.auth)
    async with aclosing(source) as chunks:  # type: ignore[type-var]
        for event in made.begin():
            if event.seq > after:
                yield event
        async for chunk in chunks:
            for event in made.feed(chunk):
                if event.seq > after:
                    yield event


def _whole(generation_id: UUID, completion: Completion, respond: Respond) -> dict[str, Any]:
    [choice] = completion.choices
    text = choice.text + "".join(
        begun_call(call.name) + call.arguments for call in choice.tool_calls
    )
    state = {"cancelled": GenerationState.CANCELLED}.get(
        choice.finish_reason, GenerationState.COMPLETED
    )
    status, incomplete = status_of(state, choice.finish_reason)
    if completion.error is not None:
        status, incomplete = "failed", None
    logprobs = (choice.logprobs or {}).get("content")
    ended = "completed" if status == "completed" else "incomplete"
    return respond(
        status=status,
        output=output_items(generation_id, text, status=ended, logprobs=logprobs) if text else [],
        usage=completion.usage,
        error=completion.error,
        incomplete=incomplete,
    )


def _json(body: dict[str, Any], headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(encode_json(body), content_type="application/json", headers=headers or {})
