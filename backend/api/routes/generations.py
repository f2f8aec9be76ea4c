"""`/api/generations`: follow a running answer again, and stop it."""

from uuid import UUID

from django.http.response import HttpResponseBase
from ninja import Router, Status

from backend.accounts.principal import AuthenticatedRequest
from backend.api import generations
from backend.api.schemas.base import PageToken
from backend.api.schemas.openai_responses import EVENT_STREAM_RESPONSE
from backend.api.schemas.resources import QueuePlaceOut
from backend.api.sse import EventStreamResponse
from backend.generation.lifespan import gateway_of
from backend.generation.service import generation_cancel, generation_queue_place
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest
from backend.tools.stopping import round_stop_of_generation

router = Router(tags=["generation"])

_MAX_DIGITS = 15


@router.get("/{uuid:generation_id}/events", **EVENT_STREAM_RESPONSE)
async def follow_generation(
    request: AuthenticatedRequest, generation_id: UUID, after: PageToken | None = None
) -> HttpResponseBase:
    """The events after `Last-Event-ID` (or `after`), then live ones, from any web process."""
    seq = resume_point(request.headers.get("Last-Event-ID"), after)
    events = await generations.follow(request, generation_id, after=seq)
    return EventStreamResponse(
        events, headers=generations.id_header(generation_id), request=request
    )


@router.post("/{uuid:generation_id}/cancel", response={202: None})
async def cancel_generation(request: AuthenticatedRequest, generation_id: UUID) -> Status:
    """Stop it, and the tools that it has called. What was delivered stays, and is billed. Stopping
    twice is fine."""
    gateway = gateway_of(request.scope)
    await generation_cancel(gateway, generation_id, principal=request.auth)
    await in_database(round_stop_of_generation, principal=request.auth, generation_id=generation_id)
    return Status(202, None)


@router.get("/{uuid:generation_id}/queue", response=QueuePlaceOut)
async def queue_place_of_generation(
    request: AuthenticatedRequest, generation_id: UUID
) -> QueuePlaceOut:
    """Where an answer that has not begun waits, and for about how long."""
    gateway = gateway_of(request.scope)
    place = await generation_queue_place(gateway, generation_id, principal=request.auth)
    return QueuePlaceOut(position=place.position, wait_s=place.wait_s)


def resume_point(header: str | None, query: str | None) -> int:
    """The number of the last event that the client has; 0 from the start.

    The header wins: a browser that reconnects by itself sends the old URL with a new header.
    """
    text, param = (header, "Last-Event-ID") if header else (query, "after")
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise InvalidRequest(
            f"'{param}' must be the id of an event, got {text[:40]!r}.", param=param
        )
    return int(text)
