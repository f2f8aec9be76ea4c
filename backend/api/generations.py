"""A generation as an HTTP answer: streamed, or collected whole. Every route that generates
ends here."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from backend.accounts.principal import Principal
from backend.api.database import release
from backend.api.encoding import encode_json
from backend.api.sse import EventStreamResponse
from backend.errors import ParleyError
from backend.gateway.services import (
    generation_events,
    generation_result,
    generation_start,
)
from backend.gateway.types import Completion, GenerationRequest, StartedGeneration

GENERATION_HEADER = "X-Parley-Generation-Id"


async def start(request: GenerationRequest) -> StartedGeneration:
    """Admit `request`; the database connection is back in the pool when this returns."""
    try:
        return await generation_start(request)
    finally:
        await release()


def stream(
    generation_id: UUID, *, principal: Principal, after: int = 0, headers: dict[str, str]
) -> EventStreamResponse:
    """The events after `after`, then live ones; `[DONE]` last."""
    return EventStreamResponse(
        generation_events(generation_id, principal=principal, after=after),
        headers={**headers, GENERATION_HEADER: str(generation_id)},
    )


async def collect(
    generation_id: UUID, *, principal: Principal, headers: dict[str, str]
) -> HttpResponse:
    """The whole answer, when the generation has ended.

    Raises:
        ParleyError: it ended before there was any text.
    """
    completion = await generation_result(generation_id, principal=principal)
    return completion_response(completion, headers={**headers, **id_header(generation_id)})


def completion_response(completion: Completion, headers: dict[str, str]) -> HttpResponse:
    return json_response(completion.as_openai(), headers)


def json_response(body: Any, headers: dict[str, str]) -> HttpResponse:
    return HttpResponse(encode_json(body), content_type="application/json", headers=headers)


def id_header(generation_id: UUID) -> dict[str, str]:
    return {GENERATION_HEADER: str(generation_id)}


async def answer(request: GenerationRequest, *, streamed: bool) -> HttpResponseBase:
    """Admit `request` and answer with it; refusals are raised as ParleyError."""
    started = await start(request)
    if streamed:
        return stream(started.id, principal=request.principal, headers=started.ratelimit_headers)
    try:
        return await collect(
            started.id, principal=request.principal, headers=started.ratelimit_headers
        )
    except ParleyError as error:
        error.headers = {**started.ratelimit_headers, **error.headers}
        raise
