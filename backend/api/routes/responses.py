"""`/v1/responses`: create, read, follow, cancel, delete; what it was asked."""

import asyncio
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from ninja import Query, Router

from backend.accounts.data_policy import calls_are_stored
from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.scopes import Scope
from backend.api import generations
from backend.api.client_address import client_hash
from backend.api.idempotency import answer_once
from backend.api.observe import note_end_user
from backend.api.responses import rows
from backend.api.responses.conversations import Joined, join
from backend.api.responses.objects import parameters
from backend.api.responses.paging import Order, page_of
from backend.api.responses.request import for_who_answers
from backend.api.responses.shape import ResponseShape
from backend.api.schemas.base import Included, PageToken
from backend.api.schemas.openai_responses import RESPONSE_CREATED, RESPONSE_READ
from backend.api.schemas.responses import ResponseCreate
from backend.api.sse import EventStreamResponse
from backend.generation.lifespan import gateway_of
from backend.generation.pools.config import load_pools
from backend.generation.service import generation_cancel, generation_events
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest
from backend.platform.json import encode_json

router = Router(tags=["responses"])

LEFT_OUT_HEADER = "x-parley-history-left-out"
"""At least so many messages of what the response follows were not read: `truncation` `auto` allows
it."""
_CANCEL_WAIT_S = 5.0
_CANCEL_STEP_S = 0.1


@router.post("/responses", **RESPONSE_CREATED)
async def create_response(request: AuthenticatedRequest, body: ResponseCreate) -> HttpResponseBase:
    """OpenAI's response. With `stream` true: its events, `response.completed` last."""
    note_end_user(body.safety_identifier or body.user)
    if body.is_stored and not await calls_are_stored(request.auth):
        if body.background:
            raise InvalidRequest(
                "Your organization stores no API calls, and a response in the background is"
                " stored.",
                param="background",
            )
        body = body.model_copy(update={"store": False})
    joined: Joined | None = None
    history = rows.History([])
    if body.previous_response_id is not None:
        history = await in_database(rows.history_of, body=body, principal=request.auth)
    if body.conversation_id is not None:
        request.auth.require(Scope.CONVERSATIONS)
        model = load_pools().find(body.model).id
        joined = await in_database(join, principal=request.auth, body=body, model=model)
        history = rows.History(joined.history)
    made = await for_who_answers(
        gateway_of(request.scope),
        body,
        history.messages,
        principal=request.auth,
        request_id=request.request_id,
        client_hash=client_hash(request),
    )
    wanted = made.wanted
    if joined is not None:
        wanted = replace(
            wanted, conversation_id=joined.conversation_id, message_id=joined.message_id
        )

    def stores(generation_id: UUID) -> None:
        if joined is not None:
            joined.stores(generation_id)
        if body.is_stored:
            rows.response_store(generation_id=generation_id, principal=request.auth, body=body)

    answer = await answer_once(
        request,
        wanted,
        streamed=bool(body.stream),
        shape=ResponseShape(parameters(body), at_once=bool(body.background)),
        stores=stores,
    )
    if left_out := made.left_out + history.left_out:
        answer.headers[LEFT_OUT_HEADER] = str(left_out)
    return answer


@router.get("/responses/{response_id}", **RESPONSE_READ)
async def get_response(
    request: AuthenticatedRequest,
    response_id: str,
    stream: bool = False,
    starting_after: int | None = None,
    include_obfuscation: bool | None = None,
    include: list[Included] = Query([], max_length=16),  # noqa: B008
) -> HttpResponseBase:
    """The response as it stands, or its events, from the first or after a number."""
    found = await in_database(rows.response_get, text_id=response_id, principal=request.auth)
    if not stream:
        return _json(found.as_object())
    shape = ResponseShape(found.asked, after=-1 if starting_after is None else starting_after)
    source = generation_events(gateway_of(request.scope), found.row.pk, principal=request.auth)
    return EventStreamResponse(
        shape.events(found.row.pk, found.generation.created_at, cast(Any, source)),
        headers=generations.id_header(found.row.pk),
        request=request,
        wire=shape.wire,
    )


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
    order: Order = "desc",
    after: PageToken | None = None,
    include: list[Included] = Query([], max_length=16),  # noqa: B008
) -> dict[str, Any]:
    """Its own input items, the last first unless `order` is `asc`."""
    found = await in_database(rows.response_get, text_id=response_id, principal=request.auth)
    return page_of(rows.input_list(found), limit=limit, order=order, after=after)


def _json(body: dict[str, Any]) -> HttpResponse:
    return HttpResponse(encode_json(body), content_type="application/json")
