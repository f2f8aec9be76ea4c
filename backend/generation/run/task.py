"""One generation's task: produce, be stopped or run out of time, end."""

import asyncio
import contextvars
from typing import Any

import structlog

from backend.generation.admission.queue import Ticket
from backend.generation.finish.finalize import Verdict, generation_end
from backend.generation.models import GenerationState
from backend.generation.process import Process
from backend.generation.run.active import LiveGeneration
from backend.generation.run.attempts import Production
from backend.generation.run.emitter import Emitter
from backend.platform.errors import GenerationTimeout, ParleyError

log = structlog.get_logger(__name__)

_CANCELLED = Verdict(GenerationState.CANCELLED, "cancelled")


def generation_run(process: Process, live: LiveGeneration, ticket: Ticket) -> None:
    """Start the task of `live`; it ends by itself, in every case."""
    process.live[live.opened.id] = live
    live.task = asyncio.create_task(
        _run(process, live, ticket),
        name=f"generation {live.opened.id}",
        # Not the request's context: its thread for database work ends with the request, and a
        # connection that a generation took there would never go back to the pool.
        context=contextvars.Context(),
    )


async def _run(process: Process, live: LiveGeneration, ticket: Ticket) -> None:
    structlog.contextvars.bind_contextvars(
        request_id=live.request.request_id, generation_id=str(live.opened.id)
    )
    emitter = Emitter(live, process.writer)
    replica = ""
    try:
        if live.request.metadata is not None:
            emitter.opening(live.choices[0])
        work = asyncio.create_task(Production(live, ticket, emitter, process.client).run())
        try:
            either: set[asyncio.Future[Any]] = {work, live.stop}
            await asyncio.wait(
                either,
                timeout=max(0.0, live.seconds_left),
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            verdict = await _verdict(work, live)
        if ticket.replica is not None:
            replica = ticket.replica.config.name
        ticket.release()
        if verdict is not None:
            _close_choices(live, emitter, verdict)
            await generation_end(process, live, emitter, verdict, replica=replica)
    except Exception as error:
        # A bug: the row stays open, and the lease is left to lapse, so that the generation is
        # taken up and ended from its buffer rather than forgotten.
        log.exception("generation_task_failed", error=str(error))
        live.log.lose()
    finally:
        ticket.release()
        live.close()
        live.note_began(ParleyError("The generation has moved to another process."))
        process.live.pop(live.opened.id, None)


async def _verdict(work: asyncio.Task[None], live: LiveGeneration) -> Verdict | None:
    """What has become of the production; None when the generation is not ours to end.

    The production has stopped when this returns: nothing is generated after the verdict.
    """
    finished = work.done()
    work.cancel()
    await asyncio.wait({work})
    if finished:
        error = None if work.cancelled() else work.exception()
        if error is None:
            return _regular_end(live)
        if isinstance(error, ParleyError):
            return Verdict(GenerationState.FAILED, "error", error)
        raise error
    if not live.stop.done():
        return Verdict(GenerationState.FAILED, "timeout", _timeout())
    return _CANCELLED if live.stop.result() == "cancelled" else None


def _regular_end(live: LiveGeneration) -> Verdict:
    """Every choice has its finish reason. Halted ones make it `blocked` when all are halted."""
    reason = live.choices[0].finish_reason or "stop"
    if all(choice.halted is not None for choice in live.choices):
        return Verdict(GenerationState.BLOCKED, "content_filter")
    if reason == _CANCELLED.finish_reason:
        # Its process died between the last event of a cancelled answer and the transaction.
        return _CANCELLED
    return Verdict(GenerationState.COMPLETED, reason)


def _close_choices(live: LiveGeneration, emitter: Emitter, verdict: Verdict) -> None:
    """What is held back of choices cut short is checked a last time, and delivered if it
    passes. After an error there is no finish event for them: the error says how it ended."""
    for choice in live.choices:
        cut_short = choice.finish_reason is None
        delivery = choice.end(verdict.finish_reason)
        if delivery is not None:
            emitter.text(choice, delivery)
        if not (cut_short and verdict.error is not None):
            emitter.finish(choice)


def _timeout() -> GenerationTimeout:
    return GenerationTimeout("The time for this answer is over. What there is of it is kept.")
