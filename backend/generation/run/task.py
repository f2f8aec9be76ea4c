"""One generation's task: ask replicas, be stopped or run out of time, finish."""

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any, Protocol

import structlog

from backend.generation.admission.late_place import Place
from backend.generation.completion import finish_word
from backend.generation.models import GenerationState
from backend.generation.pools.client import UpstreamClient
from backend.generation.reuse.finder import Finder
from backend.generation.run.active import ActiveGeneration, ActiveGenerations
from backend.generation.run.attempts import Attempts
from backend.generation.run.events import EventAppender
from backend.generation.run.marks import RunningMarks
from backend.generation.run.outcome import CANCELLED, Outcome
from backend.generation.run.reused import ReusedRun
from backend.generation.stream.writer import BufferWriter
from backend.generation.trace import Attributes
from backend.platform.cancellation import first_done
from backend.platform.errors import GenerationTimeout, ParleyError

log = structlog.get_logger(__name__)


class Finish(Protocol):
    """What ends a generation: finish/finalize.py."""

    async def __call__(
        self, active: ActiveGeneration, events: EventAppender, outcome: Outcome, *, replica: str
    ) -> None: ...


class GenerationTasks:
    """Runs the generations of this process, each in a task of its own."""

    def __init__(
        self,
        registry: ActiveGenerations,
        client: UpstreamClient,
        writer: BufferWriter,
        finish: Finish,
        finder: Finder,
    ) -> None:
        self._registry = registry
        self._client = client
        self._writer = writer
        self._finish = finish
        self._finder = finder
        self._marks = RunningMarks()

    def start(self, active: ActiveGeneration, ticket: Place) -> None:
        """Start the task of `active`; it ends by itself, in every case."""
        self._registry.add(active)
        active.task = asyncio.create_task(
            self._run(active, ticket),
            name=f"generation {active.id}",
            # Not the request's context: its thread for database work ends with the request, and
            # a connection that a generation took there would never go back to the pool.
            context=contextvars.Context(),
        )

    async def _run(self, active: ActiveGeneration, ticket: Place) -> None:
        structlog.contextvars.bind_contextvars(
            request_id=active.request.request_id, generation_id=str(active.id)
        )
        events = EventAppender(active, self._writer)
        replica = ""
        try:
            if active.request.turn is not None:
                events.begin(active.choices[0])
            outcome = await self._produce(active, ticket, events)
            if ticket.replica is not None:
                replica = ticket.replica.config.name
            ticket.release()
            if outcome is not None:
                _close_choices(active, events, outcome)
                active.clock.generated(active.check_s)
                await self._finish(active, events, outcome, replica=replica)
                failed = outcome.state == GenerationState.FAILED
                active.trace.end(active.clock, _facts(active, outcome), failed=failed)
        except Exception as error:
            # A bug: the row stays open, and the lease is left to lapse, so that the generation
            # fails over and is ended from its buffer rather than forgotten.
            log.exception("generation_task_failed", error=str(error))
            active.log.lose()
        finally:
            ticket.release()
            active.trace.end(None, {}, failed=True)  # what has not ended here
            await self._leave(active)
            active.close()
            self._registry.remove(active)

    async def _leave(self, active: ActiveGeneration) -> None:
        if active.reuse is not None and active.reuse.computes:
            await self._finder.leave(active.reuse, active.id)

    def _work(
        self, active: ActiveGeneration, ticket: Place, events: EventAppender
    ) -> Coroutine[Any, Any, None]:
        attempts = self._attempts(active, ticket, events)
        plan = active.reuse
        if plan is None or plan.computes:
            return attempts.run()
        return ReusedRun(active, plan, events, self._finder, attempts).run()

    def _attempts(self, active: ActiveGeneration, ticket: Place, events: EventAppender) -> Attempts:
        return Attempts(active, ticket, events, self._client, self._marks)

    async def _produce(
        self, active: ActiveGeneration, ticket: Place, events: EventAppender
    ) -> Outcome | None:
        """Generate until the end, the deadline or a stop; None when it is not ours to end."""
        work = asyncio.create_task(self._work(active, ticket, events))
        outcome: Outcome | None = None
        try:
            await first_done(work, active.stop, timeout_s=max(0.0, active.seconds_left))
        finally:
            outcome = await _outcome(work, active)
        return outcome


def _facts(active: ActiveGeneration, outcome: Outcome) -> Attributes:
    """What its span says: ids, names of models and states, counts."""
    request = active.request
    return {
        "parley.generation_id": str(active.id),
        "parley.organization_id": str(request.principal.organization_id),
        "parley.plan": request.principal.plan.slug,
        "parley.endpoint": request.endpoint,
        "parley.state": outcome.state.value,
        "gen_ai.request.model": active.pool.id,
        "gen_ai.usage.input_tokens": active.prompt.input_tokens,
        "gen_ai.usage.output_tokens": sum(choice.tokens for choice in active.choices),
        "gen_ai.operation.name": "chat" if request.endpoint == "chat" else "text_completion",
        "gen_ai.provider.name": "parley",
        "gen_ai.response.finish_reasons": [outcome.finish_reason] if outcome.finish_reason else [],
        **({"error.type": outcome.error.code or ""} if outcome.error else {}),
    }


async def _outcome(work: asyncio.Task[None], active: ActiveGeneration) -> Outcome | None:
    """What has become of the attempts; None when the generation is not ours to end.

    They have stopped when this returns: nothing is generated after the outcome.
    """
    finished = work.done()
    if not finished:
        work.cancel()
        await asyncio.wait({work})
    else:
        error = None if work.cancelled() else work.exception()
        if error is None:
            return _regular_outcome(active)
        if isinstance(error, ParleyError):
            return Outcome(GenerationState.FAILED, "error", error)
        raise error
    if not active.stop.done():
        return Outcome(GenerationState.FAILED, "timeout", _timeout())
    return CANCELLED if active.stop.result() == "cancelled" else None


def _regular_outcome(active: ActiveGeneration) -> Outcome:
    """Every choice has its finish reason. Halted ones make it `blocked` when all are halted."""
    reason = active.choices[0].finish_reason or "stop"
    if all(choice.halted is not None for choice in active.choices):
        return Outcome(GenerationState.BLOCKED, "content_filter")
    if reason == CANCELLED.finish_reason:
        # Its process died between the last event of a cancelled answer and the transaction.
        return CANCELLED
    return Outcome(GenerationState.COMPLETED, finish_word(reason))


def _close_choices(active: ActiveGeneration, events: EventAppender, outcome: Outcome) -> None:
    """What is held back of choices cut short is checked a last time, and delivered if it
    passes. After an error there is no finish event for them: the error says how it ended."""
    for choice in active.choices:
        cut_short = choice.finish_reason is None
        delivery = choice.end(outcome.finish_reason)
        if delivery is not None:
            events.text(choice, delivery)
        if not (cut_short and outcome.error is not None):
            events.finish(choice)


def _timeout() -> GenerationTimeout:
    return GenerationTimeout("The time for this answer is over. What there is of it is kept.")
