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
from backend.generation.admission.queue import Ticket
from backend.generation.pools.chunks import Piece
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.continuation import can_continue, path_for, upstream_body
from backend.generation.pools.errors import ReplicaUnavailable, RequestRefused
from backend.generation.pools.replicas import Replica
from backend.generation.records import generation_mark_running
from backend.generation.run.active import LiveGeneration
from backend.generation.run.emitter import Emitter
from backend.generation.run.output import ChoiceOutput
from backend.platform.database import in_database
from backend.platform.errors import Overloaded, ParleyError, UpstreamFailed

log = structlog.get_logger(__name__)

# How long to look for a replica after one has failed: long enough for an engine to restart.
RECOVERY_S = 30.0
_RECOVERY_STEP_S = 0.2
# A request that breaks every engine it meets must not be carried through all of them.
_MOST_FRUITLESS = 4


@dataclass(slots=True)
class _Failures:
    """What has gone wrong for one choice since it last got text."""

    fruitless: int = 0
    avoid: list[Replica] = field(default_factory=list)


class Production:
    """Produces the choices of one generation."""

    def __init__(
        self, live: LiveGeneration, ticket: Ticket, emitter: Emitter, client: UpstreamClient
    ) -> None:
        self._live = live
        self._ticket = ticket
        self._emitter = emitter
        self._client = client

    async def run(self) -> None:
        """Wait for a place, then produce every choice to its end.

        Raises:
            ParleyError: it cannot go on. What was delivered is in the log.
        """
        unfinished = [choice for choice in self._live.choices if not choice.finish_reason]
        if not unfinished:
            return  # taken up between its last text and its terminal transaction
        replica = await self._ticket.granted()
        marking = asyncio.create_task(
            in_database(
                generation_mark_running,
                generation_id=self._live.opened.id,
                replica=replica.config.name,
                pool=self._live.pool.id,
            )
        )
        try:
            await _all([self._produce(choice) for choice in unfinished])
        finally:
            await asyncio.gather(marking, return_exceptions=True)

    async def _produce(self, choice: ChoiceOutput) -> None:
        failures = _Failures()
        while choice.finish_reason is None:
            replica = self._ticket.replica
            assert replica is not None
            before = choice.generated_tokens
            try:
                await self._attempt(choice, replica)
            except RequestRefused as refused:
                raise refused.error from refused
            except ReplicaUnavailable as error:
                if choice.generated_tokens > before:
                    failures = _Failures()
                failures.fruitless += 1
                failures.avoid.append(replica)
                await self._recover(choice, replica, failures, error)
        self._emitter.finish(choice)

    async def _attempt(self, choice: ChoiceOutput, replica: Replica) -> None:
        """One upstream request, from the text so far to the end of the choice."""
        live = self._live
        room = self._room(choice)
        if room <= 0:
            self._end(choice, "length", None)
            return
        text = choice.generated
        body = upstream_body(
            live.request,
            live.pool,
            choice=choice.index,
            text_so_far=text,
            tokens_so_far=choice.generated_tokens,
            tokens_of_text=await self._tokens(replica, text),
        )
        known_before = choice.generated_tokens if text else 0
        choice.begin_attempt()
        request_id = f"{live.request.request_id}-{choice.index}"
        path = path_for(live.request)
        stream = await self._client.open(
            replica.config, path, body, request_id=request_id, usage_key=str(live.opened.id)
        )
        live.served = True
        finish_reason: str | None = None
        final: int | None = None
        try:
            self._emitter.opening(choice)
            while choice.finish_reason is None and (pieces := await stream.pieces()):
                self._note_prompt(pieces, known_before)
                delivery = choice.feed(pieces)
                if delivery is not None:
                    self._emitter.text(choice, delivery)
                for piece in pieces:
                    finish_reason = piece.finish_reason or finish_reason
                    final = piece.output_tokens if piece.output_tokens is not None else final
                if finish_reason is None and self._room(choice) <= 0:
                    finish_reason = "length"
                    break
        finally:
            await stream.close()
        self._end(choice, finish_reason or "stop", final)

    def _end(self, choice: ChoiceOutput, reason: str, final: int | None) -> None:
        delivery = choice.end(reason, final)
        if delivery is not None:
            self._emitter.text(choice, delivery)

    def _room(self, choice: ChoiceOutput) -> int:
        """How many tokens the choice may still get."""
        pool_limit = self._live.pool.max_output_tokens
        return min(self._live.request.params.max_tokens or pool_limit, pool_limit) - (
            choice.generated_tokens
        )

    async def _tokens(self, replica: Replica, text: str) -> list[int] | None:
        if text and isinstance(self._live.request.prompt, list):
            name = self._live.pool.upstream_model
            return await self._client.tokenize(replica.config, name, text)
        return None

    def _note_prompt(self, pieces: list[Piece], tokens_before: int) -> None:
        """The prompt's tokens, from the first upstream that tells; the text so far, which a
        continuation sends as part of its prompt, is no input."""
        live = self._live
        if live.input_tokens:
            return
        for piece in pieces:
            if piece.input_tokens:
                live.input_tokens = max(1, piece.input_tokens - tokens_before)
                cached = 0 if tokens_before else piece.cached_input_tokens or 0
                live.cached_input_tokens = min(cached, live.input_tokens)
                return

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
        live = self._live
        log.warning("replica_failed", replica=replica.config.name, error=str(error))
        metrics.REPLICA_RETRIES.labels(live.pool.id).inc()
        if not error.busy:
            replica.mark(False, str(error))
        if choice.generated and not can_continue(live.request, live.pool):
            raise UpstreamFailed("The model failed in the middle of its answer, which ends here.")
        if failures.fruitless >= _MOST_FRUITLESS:
            raise _no_replica(live, error)
        deadline = asyncio.get_running_loop().time() + RECOVERY_S
        pause = _RECOVERY_STEP_S
        while asyncio.get_running_loop().time() < deadline:
            moved = self._ticket.move(failures.avoid)
            if moved is not None and moved not in failures.avoid:
                return
            await asyncio.sleep(pause)
            if moved is not None:
                return  # there is only this one, and it is healthy again, or was only busy
        raise _no_replica(live, error)


def _no_replica(live: LiveGeneration, error: ReplicaUnavailable) -> ParleyError:
    if error.busy:
        return Overloaded(f"Every replica of {live.pool.id!r} is full.", retry_after=5)
    return UpstreamFailed(f"No replica of {live.pool.id!r} could serve this. Try again.")


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
