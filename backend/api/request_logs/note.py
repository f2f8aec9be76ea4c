"""What is remembered of a request of an API key, from its end until the loop writes it.

Called for every request by the middleware that accounts for it; it only looks and appends, so
that no answer waits for its log. Of more than MAX_NOTED the oldest are forgotten.
"""

from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from backend.accounts.internal_calls import PREFIX as INTERNAL_PREFIX
from backend.accounts.principal import Principal
from backend.api.authentication import shown_key
from backend.api.context import header_of
from backend.api.generations import GENERATION_HEADER
from backend.api.sse import EventStreamResponse, Whole

MAX_NOTED = 10_000
MAX_BYTES = 256 * 1024
"""Of a body, and of an answer: what is longer is not logged."""

PATHS = frozenset(
    f"/v1/{name}"
    for name in ("chat/completions", "completions", "responses", "messages", "embeddings", "rerank")
)
WITHOUT_TEXT = frozenset({"/v1/embeddings", "/v1/rerank"})
"""Of these no text is ever kept."""


@dataclass(slots=True)
class Noted:
    """A request that has ended.

    Attributes:
        body, answer: as bytes; None where they were too long, or the answer was streamed.
        whole: how a streamed answer is told as one.
    """

    principal: Principal
    path: str
    status: int
    at: datetime
    duration_ms: int
    request_id: str
    generation_id: UUID | None
    body: bytes | None
    answer: bytes | None
    whole: Whole | None


noted: deque[Noted] = deque(maxlen=MAX_NOTED)


def request_note(
    request: HttpRequest, response: HttpResponseBase | None, *, status: int, seconds: float
) -> None:
    """Remember a request of an API key for a generation; any other is passed over.

    Args:
        response: None where the client left before there was one.
    """
    principal = getattr(request, "auth", None)
    if (
        request.path not in PATHS
        or not isinstance(principal, Principal)
        or principal.key_id is None
        or _is_internal(request)
    ):
        return
    generation_id = response.headers.get(GENERATION_HEADER) if response is not None else None
    noted.append(
        Noted(
            principal=principal,
            path=request.path,
            status=status,
            at=timezone.now() - timedelta(seconds=seconds),
            duration_ms=round(seconds * 1000),
            request_id=request.request_id,  # type: ignore[attr-defined]
            generation_id=UUID(generation_id) if generation_id else None,
            body=_short(getattr(request, "_body", None)),
            answer=_short(response.content) if isinstance(response, HttpResponse) else None,
            whole=response.whole if isinstance(response, EventStreamResponse) else None,
        )
    )


def _is_internal(request: HttpRequest) -> bool:
    """Our own worker's call, such as for the title of a chat."""
    shown = shown_key(partial(header_of, request)) or ""
    return shown.partition(" ")[2].startswith(INTERNAL_PREFIX)


def _short(body: bytes | None) -> bytes | None:
    return body if body is not None and len(body) <= MAX_BYTES else None
