"""The end of a generation, in an order that no failure can turn into a wrong bill.

1. What was delivered is in Redis (or, with Redis gone for too long, what readers have seen).
2. One transaction stores and bills exactly that (records.py). Where its organization wants that,
   the answer is stored for later requests.
3. The last events are appended, the lease is given back.
4. Budget and limits are set right. They are counters; the ledger is the truth.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec
import structlog
from django.db import DataError, IntegrityError
from redis.exceptions import RedisError

from backend.generation import metrics
from backend.generation.admission.estimate import input_estimate
from backend.generation.finish.answer_cache import answer_keep
from backend.generation.finish.result import completion_in_memory
from backend.generation.finish.settle import Settlement, quietly
from backend.generation.finish.waiting import when_database_is_back
from backend.generation.models import Generation, GenerationState
from backend.generation.pools.rollouts import Rollouts
from backend.generation.records import (
    Checked,
    FinalState,
    Finished,
    Superseded,
    generation_finish,
)
from backend.generation.reuse.finder import Finder
from backend.generation.run.active import ActiveGeneration
from backend.generation.run.events import EventAppender
from backend.generation.run.outcome import Outcome
from backend.generation.run.replay import EventMeta, replay
from backend.generation.stream.leases import Leases
from backend.generation.tools import readable
from backend.generation.usage import Usage, usage_of_answer
from backend.platform.database import in_database
from backend.platform.errors import SUPPORT_CODE, Overloaded, ParleyError, UpstreamFailed
from backend.platform.metrics import series
from safety.audit.services import RetainedText
from safety.judge.review_pass import review_pass, wants_review_pass
from safety.judge.support import offers_support
from safety.types import Action, newest_of

log = structlog.get_logger(__name__)

# How long an end waits for a Redis that is gone, before it settles for what was delivered: longer
# than a frozen one takes to be seen, killed and started again. It costs nobody a place.
STORE_TIMEOUT_S = 30.0
# How long its last events wait, once it is stored and billed.
BUFFER_TIMEOUT_S = 10.0
BUFFER_LOST = "buffer_lost"
"""The error code of a generation whose last text was withdrawn: Redis was silent about it."""
_REDIS_RETRY_S = 0.5


@dataclass(frozen=True, slots=True)
class Delivered:
    """What readers got: its tokens, and the first choice's text, the message's."""

    usage: Usage
    text: str


class Finisher:
    """Ends the generations of this process."""

    def __init__(
        self, leases: Leases, settlement: Settlement, rollouts: Rollouts, finder: Finder
    ) -> None:
        self._leases = leases
        self._settlement = settlement
        self._rollouts = rollouts
        self._finder = finder

    async def finish(
        self, active: ActiveGeneration, events: EventAppender, outcome: Outcome, *, replica: str
    ) -> None:
        """End `active` as `outcome` says. Returns without effect when another process has it.

        Args:
            replica: the name of the last one that served it.
        """
        if not await _stored(active):
            return
        active.clock.stored()
        delivered = _delivered(active)
        buffered = active.log.shown == active.log.last
        if not buffered:
            outcome = Outcome(GenerationState.FAILED, "error", _buffer_gone())
            delivered = _shown(active)
        checked = await _checked(active)
        final = _final_state(active, events, outcome, delivered, checked, replica)
        try:
            finished = await self._commit(active, final)
        except (DataError, IntegrityError) as error:
            log.error("generation_record_rejected", error=str(error), usage=str(delivered.usage))
            outcome = Outcome(GenerationState.FAILED, "error", _record_rejected())
            delivered = Delivered(_possible(active, delivered.usage), delivered.text)
            final = _final_state(active, events, outcome, delivered, checked, replica)
            finished = await self._commit(active, final)
        if finished is None:
            return
        await answer_keep(self._finder, active, outcome, checked)
        await self._settlement.limits(active.admitted, delivered.usage)
        events.end(delivered.usage, outcome.error)
        active.note_began(outcome.error)
        if active.log.withdrawn:
            await self._announce_withdrawn(active)
        else:
            await self._announce(active)
        # After a failover, or without the buffer's end, only the events tell what was delivered.
        if buffered and not active.failed_over:
            active.note_completion(completion_in_memory(active, delivered.usage, outcome.error))
        await self._settlement.budget(active.admitted, finished.facts)
        _observe(active, events, finished)
        await self._count(active, finished.generation)

    async def _count(self, active: ActiveGeneration, row: Generation) -> None:
        """For the trial that it is a part of. Who cancels says nothing of the model, nor does an
        answer that it did not compute; one that another process went on with says nothing of its
        latency."""
        mark = active.admitted.mark
        if mark and row.state != GenerationState.CANCELLED and not row.answer_source:
            failed = row.state == GenerationState.FAILED
            await quietly(self._rollouts.note(mark, failed=failed, ttft_ms=row.ttft_ms))

    async def _commit(self, active: ActiveGeneration, final: FinalState) -> Finished | None:
        """The terminal transaction, until it is done; None when it is not ours to do.

        While PostgreSQL is away the generation waits: its lease is renewed meanwhile, and should
        this process die too, another one comes to the same end from the buffer.

        Raises:
            DataError, IntegrityError: PostgreSQL does not take these values, now or later.
        """

        async def finish(_: int) -> Finished:
            return await in_database(
                generation_finish,
                generation_id=active.id,
                row=active.row,
                epoch=active.epoch,
                final=final,
            )

        try:
            return await when_database_is_back(finish, is_ours=lambda: not active.log.lost)
        except Superseded:
            log.warning("generation_superseded", epoch=active.epoch)
            active.log.lose()  # its readers go on where the other process writes
        except Generation.DoesNotExist:
            log.warning("generation_gone")
            active.log.lose()
            await quietly(self._leases.release(active.id, active.log.lease, "ended"))
        return None

    async def _announce(self, active: ActiveGeneration) -> None:
        """Readers see the last events; no process fails the generation over any more.

        A log that was lost keeps its lease, if it has one: who takes it up writes the last events.
        """
        try:
            async with asyncio.timeout(BUFFER_TIMEOUT_S):
                await active.log.wait_stored(active.log.last)
                if active.log.lost:
                    return
                await self._leases.release(
                    active.id,
                    active.log.lease,
                    "ended",
                    outlives_delivery=active.request.outlives_delivery,
                )
        except (TimeoutError, RedisError, OSError) as error:
            # It has ended in PostgreSQL, so no other process can end it differently.
            log.error("generation_end_not_buffered", error=str(error))
            active.log.show_all()

    async def _announce_withdrawn(self, active: ActiveGeneration) -> None:
        """The same, where Redis may hold text that was withdrawn: the log takes its place.

        Readers in other processes may have seen that text. They get the end all the same, and
        the text is not billed (stream/reader.py).
        """
        ours = True
        try:
            async with asyncio.timeout(BUFFER_TIMEOUT_S):
                ours = await self._replace_stream(active)
        except TimeoutError:
            log.error("generation_end_not_buffered", error="Redis is away")
        if ours:
            active.log.show_all()
        else:
            active.log.lose()  # another process ends the stream, by the row

    async def _replace_stream(self, active: ActiveGeneration) -> bool:
        while True:
            try:
                return await self._leases.end_with(active.id, active.log.lease, active.log.entries)
            except (RedisError, OSError) as error:
                log.warning("stream_not_replaced", error=str(error))
                await asyncio.sleep(_REDIS_RETRY_S)


async def _stored(active: ActiveGeneration) -> bool:
    """Wait until Redis has everything; False when the generation is not ours any more."""
    try:
        async with asyncio.timeout(STORE_TIMEOUT_S):
            await active.log.wait_stored(active.log.last)
    except TimeoutError:
        log.error("generation_buffer_gone", shown=active.log.shown, written=active.log.last)
    return not active.log.lost


def _delivered(active: ActiveGeneration) -> Delivered:
    """By the choices that delivered it."""
    output = sum(choice.tokens for choice in active.choices)
    prompt = active.prompt
    if not prompt.input_tokens and output:
        # The upstream never said: only with upstreams that tell at the very end, and then died.
        prompt = msgspec.structs.replace(prompt, input_tokens=input_estimate(active.request))
    thought = sum(choice.reasoning_tokens for choice in active.choices)
    usage = usage_of_answer(prompt, output_tokens=output, thought_tokens=thought)
    return Delivered(usage, active.choices[0].text)


def _shown(active: ActiveGeneration) -> Delivered:
    """The same, of what readers have seen; the rest is dropped and never delivered."""
    active.log.withdraw()
    events = [(entry.data, EventMeta.decoded(entry.meta)) for entry in active.log.entries]
    seen = replay(events, choices=active.request.n, groups=active.request.groups)
    return Delivered(seen.usage, seen.choices[0].text)


def _possible(active: ActiveGeneration, usage: Usage) -> Usage:
    """`usage`, with no more than the pool's model can have read and written."""
    return usage.at_most(
        input_tokens=active.request.groups * active.pool.context_window,
        output_tokens=active.request.n * active.pool.max_output_tokens,
    )


async def _checked(active: ActiveGeneration) -> list[Checked]:
    """What was found in each choice, while it streamed and, where the policy reviews, since."""
    if not active.served:
        return []
    days = active.request.retained(active.policy.store_text_days)
    found = [(choice.decision(), readable(choice.generated)) for choice in active.choices]
    if wants_review_pass(active.policy):
        found = await asyncio.to_thread(
            lambda: [(review_pass(one, text, active.policy), text) for one, text in found]
        )
    return [Checked(decision, RetainedText(text, days)) for decision, text in found]


def _prompt_to_keep(active: ActiveGeneration, checked: list[Checked]) -> RetainedText | None:
    """The prompt's newest message, where something was found in an answer to it."""
    if all(answer.decision.action is Action.ALLOW for answer in checked):
        return None
    days = active.request.retained(active.policy.store_text_days)
    return RetainedText(newest_of(active.request.safety_messages), days)


def _final_state(
    active: ActiveGeneration,
    events: EventAppender,
    outcome: Outcome,
    delivered: Delivered,
    checked: list[Checked],
    replica: str,
) -> FinalState:
    ttft = None
    started_at = None
    if events.first_text_at is not None and not active.failed_over:
        seconds = max(0.0, events.first_text_at - active.created_at)
        ttft = round(seconds * 1000)
        started_at = active.admitted.created_at + timedelta(seconds=seconds)
    thought_ms = None
    if events.thought_until is not None and events.first_text_at is not None:
        thought_ms = round((events.thought_until - events.first_text_at) * 1000)
    return FinalState(
        thought_ms=thought_ms,
        state=outcome.state,
        finish_reason=outcome.finish_reason,
        text=delivered.text,
        usage=delivered.usage,
        pool=active.pool.id if active.served else "",
        replica=replica,
        error_code=_error_code(outcome, checked),
        ttft_ms=ttft,
        started_at=started_at or datetime.now(UTC),
        checked=checked,
        prompt=_prompt_to_keep(active, checked),
        stations=active.clock.milliseconds(),
        answer_source=active.answer_source,
    )


def _error_code(outcome: Outcome, checked: Sequence[Checked]) -> str:
    """An answer that was stopped for self-harm has the code of a prompt that was."""
    if outcome.error is not None:
        return outcome.error.code or ""
    is_stopped = outcome.state == GenerationState.BLOCKED
    if is_stopped and any(offers_support(answer.decision) for answer in checked):
        return SUPPORT_CODE
    return ""


def _observe(active: ActiveGeneration, events: EventAppender, finished: Finished) -> None:
    model, plan = active.pool.id, active.request.principal.plan.slug
    row = finished.generation
    series(metrics.DURATION, model, plan, row.state).observe((row.duration_ms or 0) / 1000)
    series(metrics.TOKENS, model, plan, "input").inc(row.input_tokens)
    series(metrics.TOKENS, model, plan, "output").inc(row.output_tokens)
    if row.ttft_ms is not None:
        series(metrics.TTFT, model, plan).observe(row.ttft_ms / 1000)
    for station, took in (row.stations or {}).items():
        series(metrics.STATION, station, model).observe(took / 1000)
    first, last = events.first_text_at, events.last_text_at
    if first is not None and last is not None and row.output_tokens > 1 and not active.failed_over:
        pace = (last - first) / (row.output_tokens - 1)
        series(metrics.INTER_TOKEN, model, plan).observe(pace)
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
        lifetime_s=round(time.monotonic() - active.created_at, 3),
    )


def _buffer_gone() -> ParleyError:
    return Overloaded("The stream buffer is gone, so this answer ends here.", code=BUFFER_LOST)


def _record_rejected() -> ParleyError:
    return UpstreamFailed(
        "The model reported a usage that cannot be right, so this answer ends as failed.",
        code="record_rejected",
    )
