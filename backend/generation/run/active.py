"""A generation that this process runs: what its task, its readers and the loops around share."""

import asyncio
import time
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Literal
from uuid import UUID

import msgspec

from backend.accounts.principal import Principal
from backend.generation.completion import Completion
from backend.generation.models import Generation
from backend.generation.pools.config import PoolConfig
from backend.generation.request import AdmittedGeneration, GenerationRequest
from backend.generation.reuse.plan import ReusePlan
from backend.generation.run.chunk_encoder import ChunkEncoder
from backend.generation.run.output import ChoiceOutput, ResumedChoice
from backend.generation.stations import StationClock
from backend.generation.stream.log import Entry, EventLog
from backend.generation.trace import GenerationTrace
from backend.generation.usage import PredictedTokens, Usage, total_of
from backend.platform.errors import ParleyError
from safety.judge.policy import Policy

# Why a running generation is stopped from outside its task. `lost`: another process has it.
# `handover`: this process is going, another one shall have it.
Stop = Literal["cancelled", "lost", "handover"]

# A caller that got its generation's id and never reads it has disconnected.
_FIRST_READER_S = 15.0


def encoder_for(admitted: AdmittedGeneration, pool: PoolConfig) -> ChunkEncoder:
    return ChunkEncoder(
        public_id=admitted.public_id,
        created=int(admitted.created_at.timestamp()),
        model=pool.id,
        endpoint=admitted.request.endpoint,
        stream_usage=admitted.request.stream_usage,
    )


class ActiveGeneration:
    """One running generation.

    Attributes:
        epoch: see Generation.epoch.
        policy: what its output is held to.
        row: as it was created or claimed.
        clock: when it came and how far it is.
        reuse: whose answer it gets, or who may get its own; None: nobody's.
        trace: its spans; another process has begun the trace of one that failed over.
        log: its events; what is delivered.
        choices: its text, as far as generated and checked.
        prompts: the tokens of each prompt, without output; none until an upstream reports them.
        reused_tokens: of its answer so far, delivered or not, those that were computed for another
            generation; they come first.
        served: an upstream has accepted it, so there is something to bill.
        failed_over: it began in another process.
        stop: set by `request_stop`.
        began: done with the first event, or with the error that came before any.
        completion: done at the end; with the whole answer, or with None where only its events
            tell it (it failed over, or another process has it).
    """

    def __init__(
        self,
        admitted: AdmittedGeneration,
        *,
        epoch: int,
        lease: str,
        pool: PoolConfig,
        policy: Policy,
        row: Generation | None = None,
        clock: StationClock | None = None,
        trace: GenerationTrace | None = None,
        reuse: ReusePlan | None = None,
        grace_s: float,
        on_disconnected: Callable[["ActiveGeneration"], None],
        entries: list[Entry] | None = None,
        resumed: list[ResumedChoice] | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.admitted = admitted
        self.id: UUID = admitted.id
        self.request: GenerationRequest = admitted.request
        self.epoch = epoch
        self.pool = pool
        self.policy = policy
        self.row = row
        self.reuse = reuse
        self.clock = clock or StationClock.resumed()
        self.trace = trace or GenerationTrace.resumed(admitted.traceparent)
        self.encoder = encoder_for(admitted, pool)
        self.log = EventLog(admitted.id, lease, entries, on_lost=lambda: self.request_stop("lost"))
        self.choices = [
            ChoiceOutput(
                index,
                policy=policy,
                context=admitted.request.context_of(index),
                resumed=resumed[index] if resumed else None,
            )
            for index in range(admitted.request.n)
        ]
        self.prompts = [Usage()] * admitted.request.groups
        self.reused_tokens = 0
        self.served = False
        self.failed_over = resumed is not None
        self.stop: asyncio.Future[Stop] = loop.create_future()
        self.began: asyncio.Future[ParleyError | None] = loop.create_future()
        self.completion: asyncio.Future[Completion | None] = loop.create_future()
        self.task: asyncio.Task[None] | None = None
        self.created_at = time.monotonic() - _age(admitted)
        self._readers = 0
        self._grace_s = grace_s
        self._on_disconnected = on_disconnected
        self._alarm: asyncio.TimerHandle | None = None
        self._await_reader()

    @property
    def prompt(self) -> Usage:
        """The tokens of all prompts that are known, and what was reused of the answer."""
        return self._with_reused(total_of(self.prompts), self.choices[0])

    def prompt_of(self, choice: ChoiceOutput) -> Usage:
        """The same of one choice."""
        return self._with_reused(self.prompts[self.request.group_of(choice.index)], choice)

    def _with_reused(self, prompt: Usage, choice: ChoiceOutput) -> Usage:
        """Only what is delivered counts; of what another process delivered, `prompt` says it."""
        if not self.reused_tokens:
            return prompt
        reused = min(self.reused_tokens, choice.tokens)
        return msgspec.structs.replace(prompt, cached_output_tokens=reused)

    @property
    def check_s(self) -> float:
        """What the post-check has taken of this process."""
        return sum(choice.check_s for choice in self.choices)

    @property
    def predicted(self) -> PredictedTokens | None:
        """What came of the prediction here; None where there was none."""
        if not self.request.prediction:
            return None
        counts = [choice.predicted for choice in self.choices]
        return reduce(PredictedTokens.plus, counts, PredictedTokens())

    @property
    def answer_source(self) -> str:
        """Whose answer it got; "": its own, be it only the end of it."""
        plan = self.reuse
        if plan is None or plan.source is None or plan.computes:
            return ""
        return plan.source.value

    @property
    def has_grace(self) -> bool:
        """Whether readers get the grace period to reconnect: the page's do, and those of a
        generation that was failed over."""
        return self.failed_over or self.request.on_disconnect == "grace"

    @property
    def seconds_left(self) -> float:
        return self.admitted.deadline_at.timestamp() - time.time()

    def may_be_read_by(self, principal: Principal) -> bool:
        owner = self.request.principal
        return (owner.organization_id, owner.user_id) == (
            principal.organization_id,
            principal.user_id,
        )

    def request_stop(self, why: Stop) -> None:
        if not self.stop.done():
            self.stop.set_result(why)

    def note_began(self, error: ParleyError | None = None) -> None:
        if not self.began.done():
            self.began.set_result(error)

    def note_completion(self, completion: Completion | None) -> None:
        if not self.completion.done():
            self.completion.set_result(completion)

    def attach(self) -> None:
        """A reader has come."""
        self._readers += 1
        self._clear_alarm()

    def detach(self) -> None:
        """A reader has gone. The last one decides: see GenerationRequest.on_disconnect."""
        self._readers -= 1
        if self._readers == 0 and not self.log.complete and not self.log.lost:
            self._set_alarm(self._grace_s if self.has_grace else 0.0)

    def detach_for_reader(self) -> None:
        """Who waited for the first event goes, and is about to come back as a reader."""
        self._readers -= 1
        if self._readers == 0 and not self.completion.done():
            self._await_reader()

    def has_readers_elsewhere(self) -> None:
        """Readers of another process were found: look again later."""
        if self._readers == 0:
            self._set_alarm(self._grace_s)

    def close(self) -> None:
        self._clear_alarm()
        self.note_began(ParleyError("The generation has moved to another process."))
        self.note_completion(None)

    def _await_reader(self) -> None:
        self._set_alarm(self._grace_s if self.has_grace else _FIRST_READER_S)

    def _set_alarm(self, after_s: float) -> None:
        self._clear_alarm()
        loop = asyncio.get_running_loop()
        self._alarm = loop.call_later(after_s, self._on_disconnected, self)

    def _clear_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


class ActiveGenerations:
    """The generations that this process runs.

    Attributes:
        draining: the process is going: nothing new comes, and readers are sent elsewhere.
    """

    def __init__(self) -> None:
        self._by_id: dict[UUID, ActiveGeneration] = {}
        self.draining = False

    def __iter__(self) -> Iterator[ActiveGeneration]:
        """Over a copy: generations come and go while a caller awaits."""
        return iter(list(self._by_id.values()))

    def __contains__(self, generation_id: UUID) -> bool:
        return generation_id in self._by_id

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, generation_id: UUID) -> ActiveGeneration | None:
        return self._by_id.get(generation_id)

    def add(self, active: ActiveGeneration) -> None:
        self._by_id[active.id] = active

    def remove(self, active: ActiveGeneration) -> None:
        self._by_id.pop(active.id, None)

    def clear(self) -> None:
        """Forget all, as a process that dies does. For tests."""
        self._by_id.clear()


def _age(admitted: AdmittedGeneration) -> float:
    return max(0.0, time.time() - admitted.created_at.timestamp())
