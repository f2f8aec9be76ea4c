"""`Idempotency-Key`: a retried request gets the first one's answer, and is billed once.

The protocol, for one key of one user in one organization, kept for 24 hours:

1. The request takes a lock in Redis; who does not get it is answered 409. It is renewed while the
   answer is under way, and lapses soon after its process dies.
2. A row is made, with the id of the generation that will run. A row that exists was made for
   the same body, else the request is refused. The lock's token is noted as the row's holder.
3. A complete answer in the row is replayed, byte for byte. Else, if its generation exists, the
   request attaches to that one, from its first event. Else the generation is started.
4. When the last byte has been produced, the answer is stored in the row; not with `store: false`,
   nor where the organization stores nothing: a later retry is then told 409.

So a process may die between any two steps: the retry finds the generation or starts it, and two
of one id cannot exist. Where the generation's stream has gone too, the retry is told that its
answer is lost; it is never given another one in its place. A process may also stall until its lock
has lapsed, and come back beside its successor. Only the row's newest holder starts its generation
or deletes it, and both are decided in PostgreSQL: the generation is stored in a transaction that
locks the row and finds the holder's token in it. Who was succeeded attaches to the successor's
generation, or is told 409. A request that was refused (4xx, 5xx before anything ran) leaves no
row, and the same key may be used again.
Source of the habit: Stripe, "Idempotent requests".
"""

import asyncio
import hashlib
import re
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Literal
from uuid import UUID

from django.db import OperationalError, transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from backend.accounts.data_policy import calls_are_stored, retention_ends
from backend.accounts.legal_hold import without_held
from backend.accounts.principal import AuthenticatedRequest
from backend.api import generations
from backend.api.context import header_of
from backend.api.generations import COMPLETIONS, Shape, Stores
from backend.api.models import IdempotencyRecord
from backend.api.sse import CONTENT_TYPE, EventStreamResponse, Wire, chunks_for
from backend.generation.models import LOST, Generation
from backend.generation.request import Event, GenerationRequest
from backend.platform.database import in_database
from backend.platform.errors import Conflict, InvalidRequest, NotFound, ParleyError
from backend.platform.ids import time_ordered_id
from backend.platform.lock import RenewedLock
from backend.platform.pages import delete_in_pages

HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
KEPT = timedelta(hours=24)

_WELL_FORMED = re.compile(r"[\x21-\x7e]{1,255}")
_LOCK_TTL_S = 15.0


@dataclass(frozen=True, slots=True)
class Claim:
    """What is known of a key. `body` is the complete answer, None until there is one; `holder`
    is the token of the request that claimed it; `created_at` is its generation's."""

    record_id: int
    holder: str
    generation_id: UUID
    created_at: datetime | None
    content_type: str
    body: bytes | None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be answered, and how; see `generations.answer`."""

    generation: GenerationRequest
    streamed: bool
    shape: Shape
    stores: Stores | None


async def answer_once(
    request: AuthenticatedRequest,
    wanted: GenerationRequest,
    *,
    streamed: bool,
    shape: Shape = COMPLETIONS,
    stores: Stores | None = None,
) -> HttpResponseBase:
    """`generations.answer`, at most once for each `Idempotency-Key`; without one, always."""
    if header_of(request, HEADER) is None:
        return await generations.answer(
            request, wanted, streamed=streamed, shape=shape, stores=stores
        )
    lock = await _taken_lock(request)
    try:
        async with lock.renewed():
            claim = await _claim(request, lock)
            response = await _answer(request, claim, _Wanted(wanted, streamed, shape, stores), lock)
    except BaseException:
        await asyncio.shield(lock.give_back())
        raise
    if not response.streaming:  # a stream gives it back at its end
        await lock.give_back()
    return response


@asynccontextmanager
async def claimed(
    request: AuthenticatedRequest, content: bytes | None = None
) -> AsyncIterator[Claim]:
    """The key of `request`, held until this ends: for what is begun, or carried out, within.

    Args:
        content: what tells the request from others, where its body cannot be read again.

    Raises:
        InvalidRequest: it is not well formed, or was used for another request.
        Conflict: another request holds it.
    """
    lock = await _taken_lock(request)
    try:
        async with lock.renewed():
            yield await _claim(request, lock, content)
    finally:
        await asyncio.shield(lock.give_back())


async def _taken_lock(request: AuthenticatedRequest) -> RenewedLock:
    key = request.headers[HEADER]
    if not _WELL_FORMED.fullmatch(key):
        raise InvalidRequest(
            f"{HEADER} must be 1 to 255 printable ASCII characters without spaces.", param=HEADER
        )
    caller = request.auth
    owner = f"{caller.organization_id}:{caller.user_id}"
    name = f"idempotency:{owner}:{hashlib.sha256(key.encode()).hexdigest()}"
    lock = RenewedLock(name, ttl_s=_LOCK_TTL_S)
    if not await lock.take():
        raise in_use()
    return lock


async def _claim(
    request: AuthenticatedRequest, lock: RenewedLock, content: bytes | None = None
) -> Claim:
    return await in_database(
        claim_key,
        organization_id=request.auth.organization_id,
        user_id=request.auth.user_id,
        key=request.headers[HEADER],
        fingerprint=_fingerprint(request, content),
        holder=lock.token,
    )


async def _answer(
    request: AuthenticatedRequest, claim: Claim, wanted: _Wanted, lock: RenewedLock
) -> HttpResponseBase:
    if claim.body is not None:
        return replayed(claim)
    keeps = wanted.generation.outlives_delivery and await calls_are_stored(request.auth)
    headers, created = {REPLAYED_HEADER: "true"}, claim.created_at
    if created is None:
        headers, created = await _begin(request, claim, wanted)
    shape = wanted.shape
    try:
        if wanted.streamed:
            source = await generations.follow(request, claim.generation_id)
            events = shape.events(claim.generation_id, created, source)
            wire = shape.wire or chunks_for(request)
            return EventStreamResponse(
                _stored_at_end(events, claim, lock, wire, keeps=keeps),
                headers={**headers, **generations.id_header(claim.generation_id)},
                request=request,
                wire=wire,
                whole=partial(shape.whole, claim.generation_id),
            )
        response = await generations.collect(
            request, claim.generation_id, headers, shape=shape, created=created
        )
    except NotFound:
        raise answer_lost() from None
    except ParleyError:
        await in_database(forget, claim)  # it failed before any text: nothing to replay
        raise
    if keeps:
        await in_database(store_answer, claim, "application/json", response.content)
    return response


async def _begin(
    request: AuthenticatedRequest, claim: Claim, wanted: _Wanted
) -> tuple[dict[str, str], datetime]:
    """Start the generation of `claim`; the headers for its answer, and when it was created.

    Raises:
        ParleyError: it was refused. The key is free again.
        Conflict: our lock lapsed and another request holds the key, but has begun nothing.
    """
    # A retry must find the generation still running: leaving is not a wish to stop it.
    kept: Literal["grace", "go_on"] = (
        "go_on" if wanted.generation.on_disconnect == "go_on" else "grace"
    )
    generation = replace(wanted.generation, generation_id=claim.generation_id, on_disconnect=kept)

    def fence() -> None:
        refuse_if_succeeded(claim)
        if wanted.stores is not None:
            wanted.stores(claim.generation_id)

    try:
        started = await generations.start(request, generation, fence=fence)
        return started.headers, generations.created_at(started)
    except Conflict:
        # Another holder has it by now. What it has begun, both requests read.
        begun = await in_database(_begun_at, claim)
        if begun is None:
            await in_database(forget, claim)
            raise
        return {REPLAYED_HEADER: "true"}, begun
    except ParleyError:
        await in_database(forget, claim)
        raise


def replayed(claim: Claim) -> HttpResponse:
    """The answer that is stored of it."""
    assert claim.body is not None
    return HttpResponse(
        zlib.decompress(claim.body),
        content_type=claim.content_type,
        headers={REPLAYED_HEADER: "true", **generations.id_header(claim.generation_id)},
    )


def answer_lost() -> Conflict:
    return Conflict(
        f"The request with this {HEADER} was carried out, but its answer is no longer kept."
        " Use a new key to ask again.",
        code="idempotency_answer_lost",
    )


def in_use() -> Conflict:
    return Conflict(
        f"A request with this {HEADER} is being carried out. Try again when it is done.",
        code="idempotency_key_in_use",
        retry_after=1,
    )


async def _stored_at_end(
    events: AsyncGenerator[Event], claim: Claim, lock: RenewedLock, wire: Wire, *, keeps: bool
) -> AsyncIterator[Event]:
    """`events`, with the lock held meanwhile and the whole stored after the last, if `keeps`."""
    body = bytearray()
    try:
        async with lock.renewed(), aclosing(events):
            async for event in events:
                if keeps:
                    body += wire.event(event)
                if wire.is_last(event):
                    # Before the client sees the end: its next request may come at once.
                    if keeps:
                        await in_database(store_answer, claim, CONTENT_TYPE, bytes(body))
                    await lock.give_back()
                yield event
    except NotFound:
        raise answer_lost() from None
    finally:
        # Shielded: this runs when the reader was cancelled.
        await asyncio.shield(lock.give_back())


def claim_key(
    *, organization_id: UUID, user_id: UUID, key: str, fingerprint: str, holder: str
) -> Claim:
    """Find or make the row of a key, and note who holds it from now on.

    Raises:
        InvalidRequest: it was used for another request within 24 hours.
        Conflict: another holder is starting its generation at this moment.
    """
    with _locking():
        own = IdempotencyRecord.objects.filter(organization_id=organization_id, user_id=user_id)
        _expire(own, key)
        record, _ = IdempotencyRecord.objects.select_for_update(nowait=True).get_or_create(
            organization_id=organization_id,
            user_id=user_id,
            key=key,
            defaults={"fingerprint": fingerprint, "generation_id": time_ordered_id()},
        )
        generation = Generation.objects.filter(pk=record.generation_id).first()
        if record.fingerprint == fingerprint:
            record.holder = holder
            if generation is not None and _never_ran(generation):
                record.generation_id, record.body, generation = time_ordered_id(), None, None
            record.save(update_fields=["holder", "generation_id", "body"])
    if record.fingerprint != fingerprint:
        raise InvalidRequest(
            f"This {HEADER} was used for a different request. Use a new key for a new request.",
            param=HEADER,
            code="idempotency_key_reused",
        )
    return Claim(
        record_id=record.pk,
        holder=holder,
        generation_id=record.generation_id,
        created_at=generation.created_at if generation is not None else None,
        content_type=record.content_type,
        body=bytes(record.body) if record.body is not None else None,
    )


def _never_ran(generation: Generation) -> bool:
    """It was admitted and ended before an engine saw it, so there is nothing to replay: its
    client left before the refusal could free the key. Of one that is lost nobody knows what was
    read of it, so another answer must not take its place."""
    known = generation.error_code != LOST
    return known and not generation.is_open and not generation.pool


def purge_expired() -> int:
    """Delete rows older than 24 hours, which hold answers; how many there were. Answers go earlier
    where nothing is kept any more. What a legal hold keeps stays."""
    rows = without_held(
        IdempotencyRecord.objects.all(), organization="organization_id", user="user_id"
    )
    now = timezone.now()
    for owner, kept_since in retention_ends(now=now):
        if "project_id" in owner:
            own = rows.filter(generation_id__in=Generation.objects.filter(**owner).values("pk"))
        else:
            own = rows.filter(**owner)
        own.filter(created_at__lte=kept_since).exclude(body=None).update(body=None)
    return delete_in_pages(rows.filter(created_at__lt=now - KEPT), by="created_at")


def _expire(own: QuerySet[IdempotencyRecord], key: str) -> None:
    """Free a key that was used more than 24 hours ago. A row that is held stays, under a name that
    no request can have."""
    expired = own.filter(key=key, created_at__lt=timezone.now() - KEPT)
    without_held(expired, organization="organization_id", user="user_id").delete()
    for row in expired:
        IdempotencyRecord.objects.filter(pk=row.pk).update(key=f"held {row.pk}")


def store_answer(claim: Claim, content_type: str, body: bytes) -> None:
    """Every reader of the generation's end stores the same answer."""
    IdempotencyRecord.objects.filter(pk=claim.record_id, generation_id=claim.generation_id).update(
        content_type=content_type, body=zlib.compress(body)
    )


def refuse_if_succeeded(claim: Claim) -> None:
    """The fence of the generation's transaction: until it ends, nobody else claims or frees the
    key.

    Raises:
        Conflict: somebody has, since `claim`.
    """
    own = IdempotencyRecord.objects.filter(pk=claim.record_id, holder=claim.holder)
    with _locking():
        if not own.select_for_update(nowait=True).values_list("pk"):
            raise in_use()


@contextmanager
def _locking() -> Iterator[None]:
    """A transaction that locks the key's row. Nobody waits for it: whoever has it may be stalled.

    Raises:
        Conflict: another request has it.
    """
    try:
        with transaction.atomic():
            yield
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            raise in_use() from error
        raise


def _begun_at(claim: Claim) -> datetime | None:
    row = Generation.objects.filter(pk=claim.generation_id).values_list("created_at").first()
    return row[0] if row else None


def forget(claim: Claim) -> None:
    """Free the key, unless another request holds it by now."""
    IdempotencyRecord.objects.filter(pk=claim.record_id, holder=claim.holder).delete()


def _fingerprint(request: AuthenticatedRequest, content: bytes | None = None) -> str:
    digest = hashlib.sha256(f"{request.method} {request.path}\n".encode())
    digest.update(request.body if content is None else content)
    return digest.hexdigest()
