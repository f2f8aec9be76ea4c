"""A generation that this process runs: what its task, its readers and the loops around share."""

import asyncio
import time
from collections.abc import Callable
from typing import Literal
from uuid import UUID

from backend.generation.admission.opening import safety_messages
from backend.generation.pools.config import PoolConfig
from backend.generation.request import GenerationRequest
from backend.generation.run.chunk_encoder import ChunkEncoder
from backend.generation.run.output import ChoiceOutput, ResumedChoice
from backend.generation.stream.leases import OpenGeneration
from backend.generation.stream.log import Entry, EventLog
from backend.platform.errors import ParleyError
from safety.judge.policy import Policy

# Why a running generation is stopped from outside its task. `lost`: another process has it.
# `handover`: this process is going, another one shall have it.
Stop = Literal["cancelled", "lost", "handover"]

# A caller that was told of its generation and never reads it has gone.
_FIRST_READER_S = 15.0


def public_id(generation_id: UUID, endpoint: str) -> str:
    """The id that clients see: OpenAI's prefix and our generation id."""
    return f"{'chatcmpl' if endpoint == 'chat' else 'cmpl'}-{generation_id.hex}"


def encoder_for(generation: OpenGeneration, pool: PoolConfig) -> ChunkEncoder:
    return ChunkEncoder(
        public_id=public_id(generation.id, generation.request.endpoint),
        created=int(generation.created_at.timestamp()),
        model=pool.id,
        endpoint=generation.request.endpoint,
        stream_usage=generation.request.stream_usage,
    )


class LiveGeneration:
    """One running generation.

    Attributes:
        epoch: see Generation.epoch.
        policy: what its output is held to.
        log: its events; what is delivered.
        choices: its text, as far as generated and checked.
        input_tokens, cached_input_tokens: of the prompt; 0 until an upstream has told.
        served: an upstream has accepted it, so there is something to bill.
        taken_up: it began in another process.
        stop: set by `request_stop`.
        began: done with the first event, or with the error that came before any.
    """

    def __init__(
        self,
        opened: OpenGeneration,
        *,
        epoch: int,
        lease: str,
        pool: PoolConfig,
        policy: Policy,
        grace_s: float,
        entries: list[Entry] | None = None,
        resumed: list[ResumedChoice] | None = None,
        on_abandoned: Callable[["LiveGeneration"], None],
    ) -> None:
        loop = asyncio.get_running_loop()
        self.opened = opened
        self.epoch = epoch
        self.pool = pool
        self.policy = policy
        self.encoder = encoder_for(opened, pool)
        self.log = EventLog(opened.id, lease, entries, on_lost=lambda: self.request_stop("lost"))
        context = safety_messages(opened.request)
        self.choices = [
            ChoiceOutput(
                index,
                policy=policy,
                context=context,
                resumed=resumed[index] if resumed else None,
            )
            for index in range(opened.request.n)
        ]
        self.input_tokens = 0
        self.cached_input_tokens = 0
        self.served = False
        self.taken_up = resumed is not None
        self.stop: asyncio.Future[Stop] = loop.create_future()
        self.began: asyncio.Future[ParleyError | None] = loop.create_future()
        self.task: asyncio.Task[None] | None = None
        self.created_at = time.monotonic() - _age(opened)
        self._readers = 0
        self._grace_s = grace_s
        self._on_abandoned = on_abandoned
        self._alarm: asyncio.TimerHandle | None = None
        self._watch_again(grace_s if self.patient else _FIRST_READER_S)

    @property
    def request(self) -> GenerationRequest:
        return self.opened.request

    @property
    def patient(self) -> bool:
        """Whether readers get the grace period to come back: the page's do, and everybody's
        whose process died under them."""
        return self.taken_up or self.request.on_disconnect == "grace"

    @property
    def seconds_left(self) -> float:
        return self.opened.deadline_at.timestamp() - time.time()

    def request_stop(self, why: Stop) -> None:
        if not self.stop.done():
            self.stop.set_result(why)

    def note_began(self, error: ParleyError | None = None) -> None:
        if not self.began.done():
            self.began.set_result(error)

    def attach(self) -> None:
        """A reader has come."""
        self._readers += 1
        self._silence_alarm()

    def detach(self) -> None:
        """A reader has gone. The last one decides: see GenerationRequest.on_disconnect."""
        self._readers -= 1
        if self._readers == 0 and not self.log.complete and not self.log.lost:
            self._watch_again(self._grace_s if self.patient else 0.0)

    def watched_elsewhere(self) -> None:
        """Readers of another process were found: look again later."""
        if self._readers == 0:
            self._watch_again(self._grace_s)

    def close(self) -> None:
        self._silence_alarm()

    def _watch_again(self, after_s: float) -> None:
        self._silence_alarm()
        loop = asyncio.get_running_loop()
        self._alarm = loop.call_later(after_s, self._on_abandoned, self)

    def _silence_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


def _age(opened: OpenGeneration) -> float:
    return max(0.0, time.time() - opened.created_at.timestamp())
