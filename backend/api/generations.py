"""A generation as an HTTP answer: streamed, or collected whole. Every route that generates
ends here."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from backend.accounts.principal import AuthenticatedRequest
from backend.api.asgi import pending_request_of
from backend.api.context import header_of
from backend.api.sse import EventStreamResponse, Wire
from backend.generation.admission.prompt_check import Fence
from backend.generation.completion import Completion
from backend.generation.lifespan import gateway_of
from backend.generation.request import Event, GenerationRequest, Reuse, StartedGeneration
from backend.generation.service import (
    generation_check,
    generation_events,
    generation_result,
    generation_start,
)
from backend.generation.stations import SERVER_TIMING, server_timing
from backend.platform.database import release_connection
from backend.platform.errors import ParleyError
from backend.platform.ids import time_ordered_id
from backend.platform.json import encode_json

CACHE_CONTROL = "Cache-Control"
GENERATION_HEADER = "X-Parley-Generation-Id"

# Longer than the gateway takes to find out that no event will come.
_FIRST_EVENT_S = 3.0


class Shape:
    """How a route tells of a generation. This one: OpenAI's chat and text completions.

    Attributes:
        wire: how its events are written; None: as chunks.
    """

    wire: Wire | None = None

    def events(
        self, generation_id: UUID, created: datetime, source: AsyncGenerator[Event]
    ) -> AsyncGenerator[Event]:
        """The events that its client gets, from those of the generation."""
        return source

    def begun(self, generation_id: UUID, created: datetime) -> dict[str, Any] | None:
        """The answer of a client that does not wait; None: it does."""
        return None

    def whole(self, generation_id: UUID, completion: Completion) -> dict[str, Any]:
        """The answer of a client that waits and does not stream."""
        return completion.as_openai()


COMPLETIONS = Shape()

Stores = Callable[[UUID], None]
"""Called with the id of a generation, in the transaction that stores it: writes what belongs to
it, or raises."""


async def start(
    request: AuthenticatedRequest, wanted: GenerationRequest, *, fence: Fence | None = None
) -> StartedGeneration:
    """Admit `wanted`; the database connection is back in the pool when this returns.

    Args:
        fence: whether it may still be started, asked in the transaction that stores it.
    """
    gateway = gateway_of(request.scope)
    if (cache_control := header_of(request, CACHE_CONTROL)) is not None:
        wanted = replace(wanted, reuse=_reuse_of(cache_control))
    started = await generation_start(
        gateway, wanted, pending=pending_request_of(request.scope), fence=fence
    )
    if request.auth.key_id is None:
        await release_connection()
    return started


def _reuse_of(cache_control: str) -> Reuse:
    """What a caller's `Cache-Control` allows. Source: RFC 9111, 5.2.1."""
    directives = {word.strip().lower() for word in cache_control.split(",")}
    if "no-store" in directives:
        return "never"
    return "refresh" if "no-cache" in directives else "allowed"


def stream(
    request: AuthenticatedRequest, generation_id: UUID, headers: dict[str, str]
) -> EventStreamResponse:
    """The events of a generation that was just admitted; `[DONE]` last."""
    return EventStreamResponse(
        generation_events(gateway_of(request.scope), generation_id, principal=request.auth),
        headers={**headers, **id_header(generation_id)},
        request=request,
    )


async def follow(
    request: AuthenticatedRequest, generation_id: UUID, after: int = 0
) -> AsyncGenerator[Event]:
    """The events of an older generation after `after`, then live ones.

    Returns when there is a first event, or none for a while: so a generation whose events are
    gone still is a 404, and no stream that fails.

    Raises:
        NotFound: it is not the caller's, or its events are not kept any more.
    """
    gateway, principal = gateway_of(request.scope), request.auth
    await generation_check(gateway, generation_id, principal=principal)
    await release_connection()

    def read() -> AsyncGenerator[Event]:
        return generation_events(
            gateway, generation_id, principal=principal, after=after, is_checked=True
        )

    events = read()
    first = asyncio.ensure_future(anext(events, None))
    try:
        await asyncio.wait({first}, timeout=_FIRST_EVENT_S)
        if first.done():
            return _continued(first.result(), events)
    finally:
        first.cancel()
    # Queued or silent. Read anew: nothing may be under way when the client leaves before the
    # response has begun, or the generation would never be without a reader.
    await asyncio.gather(first, return_exceptions=True)
    await events.aclose()
    return read()


async def _continued(first: Event | None, rest: AsyncGenerator[Event]) -> AsyncGenerator[Event]:
    async with aclosing(rest):
        if first is not None:
            yield first
        async for event in rest:
            yield event


async def collect(
    request: AuthenticatedRequest,
    generation_id: UUID,
    headers: dict[str, str],
    *,
    shape: Shape = COMPLETIONS,
    created: datetime,
) -> HttpResponse:
    """The whole answer, when the generation has ended.

    Raises:
        ParleyError: it ended before there was any text.
    """
    timing: dict[str, str] = {}
    body = shape.begun(generation_id, created)
    if body is None:
        completion = await generation_result(
            gateway_of(request.scope), generation_id, principal=request.auth
        )
        body = shape.whole(generation_id, completion)
        if completion.stations:
            timing = {SERVER_TIMING: server_timing(completion.stations)}
    return HttpResponse(
        encode_json(body),
        content_type="application/json",
        headers={**headers, **timing, **id_header(generation_id)},
    )


def id_header(generation_id: UUID) -> dict[str, str]:
    return {GENERATION_HEADER: str(generation_id)}


async def answer(
    request: AuthenticatedRequest,
    wanted: GenerationRequest,
    *,
    streamed: bool,
    shape: Shape = COMPLETIONS,
    stores: Stores | None = None,
) -> HttpResponseBase:
    """Admit `wanted` and answer with it; refusals are raised as ParleyError."""
    if wanted.generation_id is None:
        wanted = replace(wanted, generation_id=time_ordered_id())
    assert wanted.generation_id is not None
    fence = None if stores is None else partial(stores, wanted.generation_id)
    started = await start(request, wanted, fence=fence)
    headers, created = started.headers, created_at(started)
    if streamed:
        source = generation_events(gateway_of(request.scope), started.id, principal=request.auth)
        return EventStreamResponse(
            shape.events(started.id, created, source),
            headers={**headers, **id_header(started.id)},
            request=request,
            wire=shape.wire,
            whole=partial(shape.whole, started.id),
        )
    try:
        return await collect(request, started.id, headers, shape=shape, created=created)
    except ParleyError as error:
        error.headers = {**headers, **error.headers}
        raise


def created_at(started: StartedGeneration) -> datetime:
    return datetime.fromtimestamp(started.created, UTC)
