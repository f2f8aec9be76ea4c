"""`Idempotency-Key`: a retried request gets the first one's answer, and is billed once.

The protocol, for one key of one organization, kept for 24 hours:

1. The request takes a lease in Redis; who does not get it is told 409. It is renewed while the
   answer is under way, and lapses soon after its process dies.
2. A row is made, with the id of the generation that will run. A row that exists was made for
   the same body, else the request is refused.
3. A complete answer in the row is replayed, byte for byte. Else, if its generation exists, the
   request attaches to that one, from its first event. Else the generation is started.
4. When the last byte has been produced, the answer is stored in the row.

So a process may die between any two steps: the retry finds the generation or starts it, and two
of one id cannot exist. A request that was refused (4xx, 5xx before anything ran) leaves no row,
and the same key may be used again. Source of the habit: Stripe, "Idempotent requests".
"""

import asyncio
import hashlib
import re
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.api import generations
from backend.api.authentication import Request
from backend.api.models import IdempotencyRecord
from backend.api.sse import CONTENT_TYPE, EventStreamResponse, encode_event
from backend.generation.models import Generation
from backend.generation.request import DONE, Event, GenerationRequest
from backend.platform.database import in_database
from backend.platform.errors import Conflict, InvalidRequest, NotFound, ParleyError

logger = structlog.get_logger(__name__)

HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
KEPT = timedelta(hours=24)

_WELL_FORMED = re.compile(r"[\x21-\x7e]{1,255}")
_LEASE_S = 15
_RENEW_S = 5.0


@dataclass(frozen=True, slots=True)
class Claim:
    """What is known of a key. `body` is the complete answer, None until there is one."""

    record_id: int
    generation_id: UUID
    generation_exists: bool
    content_type: str
    body: bytes | None


async def answer_once(
    request: Request, wanted: GenerationRequest, *, streamed: bool
) -> HttpResponseBase:
    """`generations.answer`, at most once for each `Idempotency-Key`; without one, always."""
    key = request.headers.get(HEADER)
    if key is None:
        return await generations.answer(wanted, streamed=streamed)
    if not _WELL_FORMED.fullmatch(key):
        raise InvalidRequest(
            f"{HEADER} must be 1 to 255 printable ASCII characters without spaces.", param=HEADER
        )
    organization_id = request.auth.organization_id
    lease = Lease(f"idempotency:{organization_id}:{hashlib.sha256(key.encode()).hexdigest()}")
    fingerprint = _fingerprint(request)
    await lease.take()
    try:
        async with lease.renewed():
            claim = await in_database(
                claim_key, organization_id=organization_id, key=key, fingerprint=fingerprint
            )
            response = await _answer(claim, wanted, lease, streamed=streamed)
    except BaseException:
        await lease.give_back()
        raise
    if not response.streaming:  # a stream gives it back at its end
        await lease.give_back()
    return response


async def _answer(
    claim: Claim, wanted: GenerationRequest, lease: "Lease", *, streamed: bool
) -> HttpResponseBase:
    if claim.body is not None:
        return HttpResponse(
            zlib.decompress(claim.body),
            content_type=claim.content_type,
            headers={REPLAYED_HEADER: "true", **generations.id_header(claim.generation_id)},
        )
    # A retry must find the generation still running: leaving is not a wish to stop it.
    wanted = replace(wanted, generation_id=claim.generation_id, on_disconnect="grace")
    headers = {REPLAYED_HEADER: "true"} if claim.generation_exists else await _begin(claim, wanted)
    try:
        if streamed:
            events = await generations.follow(claim.generation_id, principal=wanted.principal)
            return EventStreamResponse(
                _stored_at_end(events, claim, lease),
                headers={**headers, **generations.id_header(claim.generation_id)},
            )
        response = await generations.collect(
            claim.generation_id, principal=wanted.principal, headers=headers
        )
    except NotFound:
        raise Conflict(
            f"The request with this {HEADER} was carried out, but its answer is no longer kept."
            " Use a new key to ask again.",
            code="idempotency_answer_lost",
        ) from None
    except ParleyError:
        await in_database(_forget, claim.record_id)  # it failed before any text: nothing to replay
        raise
    await in_database(_store, claim.record_id, "application/json", response.content)
    return response


async def _begin(claim: Claim, wanted: GenerationRequest) -> dict[str, str]:
    """Start the generation of `claim`; the headers for its answer."""
    try:
        return (await generations.start(wanted)).ratelimit_headers
    except IntegrityError as error:
        # A process that lost its lease while it was stuck has begun it in this moment.
        raise in_use() from error
    except ParleyError:
        await in_database(_forget, claim.record_id)
        raise


def in_use() -> Conflict:
    return Conflict(
        f"A request with this {HEADER} is being carried out. Try again when it is done.",
        code="idempotency_key_in_use",
        retry_after=1,
    )


async def _stored_at_end(
    events: AsyncGenerator[Event], claim: Claim, lease: "Lease"
) -> AsyncIterator[Event]:
    """`events`, with the lease held meanwhile and the whole stored after the last."""
    body = bytearray()
    try:
        async with lease.renewed(), aclosing(events):
            async for event in events:
                body += encode_event(event)
                if event.data == DONE:
                    # Before the client sees the end: its next request may come at once.
                    await in_database(_store, claim.record_id, CONTENT_TYPE, bytes(body))
                    await lease.give_back()
                yield event
    finally:
        # Shielded: this runs when the reader was cancelled.
        await asyncio.shield(lease.give_back())


def claim_key(*, organization_id: UUID, key: str, fingerprint: str) -> Claim:
    """Find or make the row of a key.

    Raises:
        InvalidRequest: it was used for another request within 24 hours.
    """
    with transaction.atomic():
        IdempotencyRecord.objects.filter(
            organization_id=organization_id, key=key, created_at__lt=timezone.now() - KEPT
        ).delete()
        record, _ = IdempotencyRecord.objects.get_or_create(
            organization_id=organization_id, key=key, defaults={"fingerprint": fingerprint}
        )
    if record.fingerprint != fingerprint:
        raise InvalidRequest(
            f"This {HEADER} was used for a different request. Use a new key for a new request.",
            param=HEADER,
            code="idempotency_key_reused",
        )
    return Claim(
        record_id=record.pk,
        generation_id=record.generation_id,
        generation_exists=Generation.objects.filter(pk=record.generation_id).exists(),
        content_type=record.content_type,
        body=bytes(record.body) if record.body is not None else None,
    )


def purge_expired() -> int:
    """Delete rows older than 24 hours, which hold answers; how many there were."""
    expired = IdempotencyRecord.objects.filter(created_at__lt=timezone.now() - KEPT)
    return expired.delete()[0]


def _store(record_id: int, content_type: str, body: bytes) -> None:
    IdempotencyRecord.objects.filter(pk=record_id).update(
        content_type=content_type, body=zlib.compress(body)
    )


def _forget(record_id: int) -> None:
    IdempotencyRecord.objects.filter(pk=record_id).delete()


def _fingerprint(request: Request) -> str:
    digest = hashlib.sha256(f"{request.method} {request.path}\n".encode())
    digest.update(request.body)
    return digest.hexdigest()


class Lease:
    """Who carries a key's request out. Lapses `_LEASE_S` after its process stops renewing it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._held = False

    async def take(self) -> None:
        """Raises Conflict while another request holds it."""
        async with _redis() as client:
            taken = await client.set(self._name, "1", nx=True, ex=_LEASE_S)
        if not taken:
            raise in_use()
        self._held = True

    async def give_back(self) -> None:
        """Let the next request have it; a second call does nothing."""
        if not self._held:
            return
        self._held = False
        async with _redis() as client:
            await client.delete(self._name)

    @asynccontextmanager
    async def renewed(self) -> AsyncIterator[None]:
        """Keeps it from lapsing while the body runs."""
        renewal = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            renewal.cancel()

    async def _renew(self) -> None:
        while True:
            try:
                async with _redis() as client:
                    await client.expire(self._name, _LEASE_S)
            except RedisError as error:
                logger.warning("idempotency_lease_not_renewed", error=type(error).__name__)
            await asyncio.sleep(_RENEW_S)


@asynccontextmanager
async def _redis() -> AsyncIterator[Redis]:
    async with Redis.from_url(settings.REDIS_URL) as client:
        yield client
