"""The text of a generation: from replicas, through the post-classifier, into the log.

A replica that fails is replaced: before the first token by asking another one, after it by
having the answer continued from the text so far. Readers see a pause.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

import structlog

from backend.generation import metrics
from backend.generation.admission.late_place import Place
from backend.generation.admission.retry_after import spread
from backend.generation.pools.chunks import UpstreamChunk
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.continuation import can_continue, path_for, upstream_body
from backend.generation.pools.errors import ReplicaUnavailable, RequestRefused
from backend.generation.pools.replicas import Replica
from backend.generation.pools.slowness import AnswerPace
from backend.generation.request import active_choices
from backend.generation.run.active import ActiveGeneration
from backend.generation.run.events import EventAppender
from backend.generation.run.marks import RunningMarks
from backend.generation.run.output import ChoiceOutput, Delivery
from backend.generation.trace import Attributes
from backend.generation.usage import Usage
from backend.platform.errors import Overloaded, ParleyError, UpstreamFailed

log = structlog.get_logger(__name__)

# How long to look for a replica after one has failed: long enough for an engine to restart.
RECOVERY_S = 30.0
_RECOVERY_STEP_S = 0.2
# A request that breaks every engine it meets must not be carried through all of them.
MAX_FRUITLESS_ATTEMPTS = 4


@dataclass(slots=True)
class _Failures:
    """What has gone wrong for one choice since it last got text."""

    fruitless: int = 0
    avoid: list[Replica] = field(default_factory=list)


class Attempts:
    """Asks replicas for the choices of one generation, until each has its end."""

    def __init__(
        self,
        active: ActiveGeneration,
        ticket: Place,
        events: EventAppender,
        client: UpstreamClient,
        marks: RunningMarks,
    ) -> None:
        self._marks = marks
        self._active = active
        self._ticket = ticket
        self._events = events
        self._client = client

    async def run(self) -> None:
        """Wait for a place, then produce every choice to its end.

        Raises:
            ParleyError: it cannot go on. What was delivered is in the log.
        """
        unfinished = [choice for choice in self._active.choices if not choice.finish_reason]
        if not unfinished:
            return  # failed over between its last text and its terminal transaction
        replica = await self._ticket.granted()
        self._active.clock.granted()
        self._marks.add(self._active.id, replica=replica.config.name, pool=self._active.pool.id)
        at_once = asyncio.Semaphore(active_choices(self._active.request.n))
        await _all([self._produce(choice, at_once) for choice in unfinished])

    async def _produce(self, choice: ChoiceOutput, at_once: asyncio.Semaphore) -> None:
        async with at_once:
            await self._to_its_end(choice)
        self._events.finish(choice)

    async def _to_its_end(self, choice: ChoiceOutput) -> None:
        failures = _Failures()
        while choice.finish_reason is None:
            replica = self._ticket.replica
            assert replica is not None
            before = choice.generated_tokens
            try:
                with self._active.trace.attempt(_facts(choice, replica)) as traceparent:
                    await self._attempt(choice, replica, traceparent)
            except RequestRefused as refused:
                raise refused.error from refused
            except ReplicaUnavailable as error:
                if choice.generated_tokens > before:
                    failures = _Failures()
                failures.fruitless += 1
                failures.avoid.append(replica)
                await self._recover(choice, replica, failures, error)

    async def _attempt(self, choice: ChoiceOutput, replica: Replica, traceparent: str) -> None:
        """One upstream request, from the text so far to the end of the choice."""
        active = self._active
        choice.begin_attempt()
        limit = active.pool.answer_limit(active.request)
        if choice.generated_tokens >= limit:
            self._end(choice, "length", None)
            return
        text = choice.generated
        body = upstream_body(
            active.request,
            active.pool,
            choice=choice.index,
            text_so_far=text,
            tokens_so_far=choice.generated_tokens,
            tokens_of_text=await self._tokens(replica, choice.index, text),
        )
        known_before = choice.generated_tokens if text else 0
        request_id = f"{active.request.request_id}-{_number(active, choice.index)}"
        path = path_for(active.request)
        stream = await self._client.open(
            replica.config,
            path,
            body,
            request_id=request_id,
            usage_key=str(active.id),
            traceparent=traceparent,
        )
        active.served = True
        finish_reason: str | None = None
        final: int | None = None
        pace: AnswerPace | None = AnswerPace()
        try:
            self._events.begin(choice)
            has_begun = knows_prompt = False
            while choice.finish_reason is None and (chunks := await stream.chunks()):
                if not has_begun:
                    has_begun = True
                    self._ticket.answered()
                    active.clock.answered()
                if not knows_prompt:
                    knows_prompt = self._note_prompt(choice.index, chunks, known_before)
                delivery = choice.feed(chunks)
                if delivery is not None:
                    self._text(choice, delivery)
                if pace and (token_s := pace.token_s(choice.generated_tokens)) is not None:
                    self._ticket.paced(replica, token_s)
                    pace = None
                for chunk in chunks:
                    finish_reason = chunk.finish_reason or finish_reason
                    final = chunk.usage.output_tokens if chunk.usage is not None else final
                if finish_reason is None and choice.generated_tokens >= limit:
                    finish_reason = "length"
                    break
        finally:
            await stream.close()
        replica.breaker.succeeded()
        self._end(choice, finish_reason or "stop", final)

    def _end(self, choice: ChoiceOutput, reason: str, final: int | None) -> None:
        delivery = choice.end(reason, final)
        if delivery is not None:
            self._text(choice, delivery)

    def _text(self, choice: ChoiceOutput, delivery: Delivery) -> None:
        self._events.text(choice, delivery)
        if self._active.clock.first_text_at is None:
            self._active.clock.first_text(self._active.check_s)

    async def _tokens(self, replica: Replica, choice: int, text: str) -> list[int] | None:
        request = self._active.request
        prompts = request.prompts
        if text and prompts and isinstance(prompts[request.group_of(choice)], list):
            name = self._active.pool.upstream_model
            return await self._client.tokenize(replica.config, name, text)
        return None

    def _note_prompt(self, choice: int, chunks: list[UpstreamChunk], tokens_before: int) -> bool:
        """The tokens of the choice's prompt, from the first upstream that tells; the text so far,
        which a continuation sends as part of its prompt, is no input.

        Returns:
            Whether they are known now.
        """
        active = self._active
        group = active.request.group_of(choice)
        if active.prompts[group].input_tokens:
            return True
        for chunk in chunks:
            if chunk.usage is not None and chunk.usage.input_tokens:
                # Of a prompt that holds text so far, nothing tells what its parts are parts of.
                reported = Usage(chunk.usage.input_tokens) if tokens_before else chunk.usage
                input_tokens = max(1, reported.input_tokens - tokens_before)
                active.prompts[group] = reported.with_(input_tokens=input_tokens, output_tokens=0)
                return True
        return False

    async def _recover(
        self,
        choice: ChoiceOutput,
        replica: Replica,
        failures: _Failures,
        error: ReplicaUnavailable,
    ) -> None:
        """Have the ticket moved to a replica that works; return when it is.

        Raises:
            UpstreamFailed, Overloaded: there is none, or none would help.
        """
        active = self._active
        log.warning(
            "replica_failed",
            replica=replica.config.name,
            tokens=choice.generated_tokens,
            error=str(error),
        )
        metrics.REPLICA_RETRIES.labels(active.pool.id).inc()
        if not error.busy:
            replica.failed(str(error))
        if choice.generated and not can_continue(active.request, active.pool):
            raise UpstreamFailed("The model failed in the middle of its answer, which ends here.")
        if failures.fruitless >= MAX_FRUITLESS_ATTEMPTS:
            raise _no_replica(active, error)
        deadline = asyncio.get_running_loop().time() + RECOVERY_S
        pause = _RECOVERY_STEP_S
        while asyncio.get_running_loop().time() < deadline:
            moved = self._ticket.move(failures.avoid)
            if moved is not None and moved not in failures.avoid:
                return
            await asyncio.sleep(pause)
            if moved is not None:
                return  # there is only this one, and it is healthy again, or was only busy
        raise _no_replica(active, error)


def _facts(choice: ChoiceOutput, replica: Replica) -> Attributes:
    return {"parley.replica": replica.config.name, "parley.choice": choice.index}


def _number(active: ActiveGeneration, choice: int) -> str:
    """Ends a request's id: the choice, after its prompt's number where there are several
    (finish/reconcile_usage.py reads it)."""
    request = active.request
    return f"{request.group_of(choice)}.{choice}" if request.more_prompts else str(choice)


def _no_replica(active: ActiveGeneration, error: ReplicaUnavailable) -> ParleyError:
    if error.busy:
        return Overloaded(f"Every replica of {active.pool.id!r} is full.", retry_after=spread(5))
    return UpstreamFailed(f"No replica of {active.pool.id!r} could serve this. Try again.")


async def _all(work: list[Coroutine[Any, Any, None]]) -> None:
    """Await all; the first failure ends the others and is raised as it is."""
    if len(work) == 1:
        await work[0]
        return
    tasks = [asyncio.create_task(item) for item in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
