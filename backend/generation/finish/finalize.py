"""The end of a generation, in an order that no failure can turn into a wrong bill.

1. What was delivered is in Redis (or, with Redis gone for too long, what readers have seen).
2. One transaction stores and bills exactly that (terminal.py).
3. The last events are appended, the lease is given back.
4. Budget and limits are set right. They are counters; the ledger is the truth.
"""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec
import structlog
from django.db import DatabaseError, DataError, IntegrityError
from redis.exceptions import RedisError

from backend.generation import metrics
from backend.generation.admission.estimate import input_estimate
from backend.generation.admission.opening import safety_messages
from backend.generation.models import Generation, GenerationState
from backend.generation.process import Process
from backend.generation.records import (
    Checked,
    Ended,
    Ending,
    Superseded,
    generation_finish,
)
from backend.generation.request import Usage
from backend.generation.run.active import LiveGeneration
from backend.generation.run.emitter import Emitter
from backend.generation.stream.leases import OpenGeneration
from backend.generation.stream.replay import EventMeta, replay
from backend.platform.database import in_database
from backend.platform.errors import Overloaded, ParleyError, UpstreamFailed
from billing.budgets import settle
from billing.services import UsageFacts
from safety.audit.services import RetainedText
from safety.judge.review_pass import review_pass, wants_review_pass
from safety.types import Action, newest_of

log = structlog.get_logger(__name__)

# How long an ending waits for a Redis that is gone, before it settles for what was delivered.
BUFFER_PATIENCE_S = 10.0
_REDIS_RETRY_S = 0.5
_DATABASE_RETRY_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a generation ends: its state, and the error where there is one."""

    state: GenerationState
    finish_reason: str
    error: ParleyError | None = None


async def generation_end(
    process: Process, live: LiveGeneration, emitter: Emitter, verdict: Verdict, *, replica: str
) -> None:
    """End `live` as `verdict` says. Returns without effect when another process has it.

    Args:
        replica: the name of the last one that served it.
    """
    if not await _delivered(live):
        return
    usage, text = _counted(live)
    if live.log.shown < live.log.last:
        verdict = Verdict(GenerationState.FAILED, "error", _buffer_gone())
        usage, text = _shown(live)
    checked = await _checked(live)
    ending = _ending(live, emitter, verdict, usage, text, checked, replica)
    try:
        ended = await _commit(process, live, ending)
    except (DataError, IntegrityError) as error:
        log.error("generation_record_rejected", error=str(error), usage=str(usage))
        verdict = Verdict(GenerationState.FAILED, "error", _record_rejected())
        usage = _possible(live, usage)
        ending = _ending(live, emitter, verdict, usage, text, checked, replica)
        ended = await _commit(process, live, ending)
    if ended is None:
        return
    await settle_limits(process, live.opened, usage)
    emitter.end(usage, verdict.error)
    live.note_began(verdict.error)
    await (_tell_withdrawn if live.log.withdrawn else _tell)(process, live)
    await settle_budget(live.opened, ended.facts)
    _observe(live, emitter, ended)


async def settle_limits(process: Process, opened: OpenGeneration, usage: Usage) -> None:
    """What was used takes the place of what the rate limits had charged beforehand."""
    await _quietly(
        process.limiter.settle(
            opened.request.principal,
            opened.id,
            estimated=opened.token_estimate,
            used=usage.input_tokens + usage.output_tokens,
        )
    )


async def settle_budget(opened: OpenGeneration, facts: UsageFacts | None) -> None:
    """What it cost takes the place of what the budgets had reserved; None: it never ran."""
    await _quietly(settle(generation_id=opened.id, facts=facts))


async def _delivered(live: LiveGeneration) -> bool:
    """Wait until Redis has everything; False when the generation is not ours any more."""
    try:
        async with asyncio.timeout(BUFFER_PATIENCE_S):
            await live.log.wait_stored(live.log.last)
    except TimeoutError:
        log.error("generation_buffer_gone", shown=live.log.shown, written=live.log.last)
    return not live.log.lost


def _counted(live: LiveGeneration) -> tuple[Usage, str]:
    """What was delivered, by the choices that delivered it, and the first one's text."""
    output = sum(choice.tokens for choice in live.choices)
    input_tokens = live.input_tokens
    if not input_tokens and output:
        # The upstream never said: only with upstreams that tell at the very end, and then died.
        input_tokens = input_estimate(live.request)
    return Usage(input_tokens, live.cached_input_tokens, output), live.choices[0].text


def _shown(live: LiveGeneration) -> tuple[Usage, str]:
    """The same, of what readers have seen; the rest is dropped and never delivered."""
    live.log.withdraw()
    decoder = msgspec.msgpack.Decoder(EventMeta)
    events = [(entry.data, decoder.decode(entry.meta)) for entry in live.log.entries]
    seen = replay(events, choices=live.request.n)
    return seen.usage, seen.choices[0].text


def _possible(live: LiveGeneration, usage: Usage) -> Usage:
    """`usage`, with no more than the pool's model can have read and written."""
    pool = live.pool
    input_tokens = min(usage.input_tokens, pool.context_window)
    return Usage(
        input_tokens,
        min(usage.cached_input_tokens, input_tokens),
        min(usage.output_tokens, live.request.n * pool.max_output_tokens),
    )


async def _checked(live: LiveGeneration) -> list[Checked]:
    """What was found in each choice, while it streamed and, where the policy reviews, since."""
    if not live.served:
        return []
    days = live.policy.store_text_days
    found = [(choice.decision(), choice.generated) for choice in live.choices]
    if wants_review_pass(live.policy):
        found = await asyncio.to_thread(
            lambda: [(review_pass(one, text, live.policy), text) for one, text in found]
        )
    return [Checked(decision, RetainedText(text, days)) for decision, text in found]


def _question(live: LiveGeneration, checked: list[Checked]) -> RetainedText | None:
    """The prompt's newest message, where something was found in an answer to it."""
    if all(answer.decision.action is Action.ALLOW for answer in checked):
        return None
    return RetainedText(newest_of(safety_messages(live.request)), live.policy.store_text_days)


def _ending(
    live: LiveGeneration,
    emitter: Emitter,
    verdict: Verdict,
    usage: Usage,
    text: str,
    checked: list[Checked],
    replica: str,
) -> Ending:
    ttft = None
    started_at = None
    if emitter.first_text_at is not None and not live.taken_up:
        seconds = max(0.0, emitter.first_text_at - live.created_at)
        ttft = round(seconds * 1000)
        started_at = live.opened.created_at + timedelta(seconds=seconds)
    return Ending(
        state=verdict.state,
        finish_reason=verdict.finish_reason,
        text=text,
        usage=usage,
        pool=live.pool.id if live.served else "",
        replica=replica,
        error_code=(verdict.error.code or "") if verdict.error else "",
        ttft_ms=ttft,
        started_at=started_at or datetime.now(UTC),
        checked=checked,
        question=_question(live, checked),
    )


async def _commit(process: Process, live: LiveGeneration, ending: Ending) -> Ended | None:
    """The terminal transaction, until it is done; None when it is not ours to do.

    While PostgreSQL is away the generation waits: its lease is renewed meanwhile, and should
    this process die too, another one comes to the same end from the buffer.

    Raises:
        DataError, IntegrityError: PostgreSQL does not take these values, now or later.
    """
    attempt = 0
    while True:
        try:
            return await in_database(
                generation_finish, generation_id=live.opened.id, epoch=live.epoch, ending=ending
            )
        except Superseded:
            log.warning("generation_superseded", epoch=live.epoch)
            live.log.lose()  # its readers go on where the other process writes
            return None
        except Generation.DoesNotExist:
            log.warning("generation_gone")
            live.log.lose()
            await _quietly(process.leases.release(live.opened.id, live.log.lease, "ended"))
            return None
        except (DataError, IntegrityError):
            raise
        except DatabaseError as error:
            # Of any other kind: the server is away, read-only (a failover), or its tables are
            # being migrated. All of these pass.
            log.error("generation_not_stored", error=str(error), attempt=attempt)
            await asyncio.sleep(_DATABASE_RETRY_S[min(attempt, len(_DATABASE_RETRY_S) - 1)])
            attempt += 1
            if live.log.lost:
                return None


async def _tell(process: Process, live: LiveGeneration) -> None:
    """Readers see the last events; nobody takes the generation up any more."""
    try:
        async with asyncio.timeout(BUFFER_PATIENCE_S):
            await live.log.wait_stored(live.log.last)
            await process.leases.release(live.opened.id, live.log.lease, "ended")
    except (TimeoutError, RedisError, OSError) as error:
        # It has ended in PostgreSQL, so no other process can end it differently.
        log.error("generation_end_not_buffered", error=str(error))
        live.log.show_all()


async def _tell_withdrawn(process: Process, live: LiveGeneration) -> None:
    """The same, where Redis may hold text that was withdrawn: the log takes its place.

    Readers in other processes may have seen that text. They get the end all the same, and the
    text is not billed (reader.py).
    """
    ours = True
    try:
        async with asyncio.timeout(BUFFER_PATIENCE_S):
            ours = await _ended_with_log(process, live)
    except TimeoutError:
        log.error("generation_end_not_buffered", error="Redis is away")
    if ours:
        live.log.show_all()
    else:
        live.log.lose()  # another process ends the stream, by the row


async def _ended_with_log(process: Process, live: LiveGeneration) -> bool:
    while True:
        try:
            return await process.leases.end_with(live.opened.id, live.log.lease, live.log.entries)
        except (RedisError, OSError) as error:
            log.warning("stream_not_replaced", error=str(error))
            await asyncio.sleep(_REDIS_RETRY_S)


async def _quietly(counting: Awaitable[None]) -> None:
    """Counters that could not be set right lapse by themselves; the end must not fail on them."""
    try:
        await counting
    except (RedisError, OSError, DatabaseError) as error:
        log.warning("counters_not_settled", error=str(error))


def _observe(live: LiveGeneration, emitter: Emitter, ended: Ended) -> None:
    model, plan = live.pool.id, live.request.principal.plan.slug
    row = ended.generation
    metrics.DURATION.labels(model, plan, row.state).observe((row.duration_ms or 0) / 1000)
    metrics.TOKENS.labels(model, plan, "input").inc(row.input_tokens)
    metrics.TOKENS.labels(model, plan, "output").inc(row.output_tokens)
    if row.ttft_ms is not None:
        metrics.TTFT.labels(model, plan).observe(row.ttft_ms / 1000)
    first, last = emitter.first_text_at, emitter.last_text_at
    if first is not None and last is not None and row.output_tokens > 1 and not live.taken_up:
        metrics.INTER_TOKEN.labels(model, plan).observe((last - first) / (row.output_tokens - 1))
    log.info(
        "generation_ended",
        state=row.state,
        finish_reason=row.finish_reason,
        error_code=row.error_code or None,
        model=model,
        replica=row.replica,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        ttft_ms=row.ttft_ms,
        duration_ms=row.duration_ms,
        lifetime_s=round(time.monotonic() - live.created_at, 3),
    )


def _buffer_gone() -> ParleyError:
    return Overloaded("The stream buffer is gone, so this answer ends here.", code="buffer_lost")


def _record_rejected() -> ParleyError:
    return UpstreamFailed(
        "The model reported a usage that cannot be right, so this answer ends as failed.",
        code="record_rejected",
    )
