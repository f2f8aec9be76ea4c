"""The exact level: every step of every replica, by the product's own code.

Real are the engine's core with its scheduler and cache manager, the gateway's `AdmissionQueue`,
`ReplicaSet`, routing policy, prefix index, breaker and ramp, all in simulated time. Modelled are
what a step takes, probes and announcements, and the gateway's own time (none).
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from backend.generation.admission.queue import AdmissionQueue, Ticket
from backend.generation.pools.config import PoolConfig, ReplicaConfig
from backend.generation.pools.health import PROBE_INTERVAL_S
from backend.generation.pools.prefixes import prefix_of
from backend.generation.pools.registry import Capacity, EngineRecord, Load
from backend.generation.pools.replicas import Replica, ReplicaSet
from backend.generation.run.attempts import MAX_FRUITLESS_ATTEMPTS, RECOVERY_S
from backend.platform.errors import Overloaded
from inference.config import SchedulerConfig
from infra.simulator import virtual_time
from infra.simulator.engine import BLOCK_SIZE, EngineGoneError, SimulatedEngine
from infra.simulator.host import Host
from infra.simulator.outcomes import Outcome
from infra.simulator.step_times import StepTimes
from infra.simulator.trace import Conversation

POOL = "simulated"
ANNOUNCE_S = 1.0
_RECOVERY_STEP_S = 0.1
_FAILS_AFTER_S = 0.2
_OTHER_TOKEN = 7


@dataclass(frozen=True)
class PoolSpec:
    """A pool of equal replicas.

    Attributes:
        places: `max_concurrency`, what the gateway lets run at one replica.
        max_waiting: in the queue.
        announces: whether replicas tell their load, which other gateways need.
        shares_machine: whether they compute on the same cores, as what asks them does.
        harness_s: of these, to make a request and choose its replica.
        others: cores that programs take which are not part of the run.
        repeats_answers: whether a next turn's prompt holds what the engine answered, or some other
            answer, whose tokens are not cached.
    """

    times: StepTimes
    replicas: int
    routing: str = "prefix"
    places: int = 64
    max_waiting: int = 512
    scheduler: SchedulerConfig = field(default_factory=SchedulerConfig)
    announces: bool = True
    shares_machine: bool = False
    harness_s: float = 0.0
    others: float = 0.0
    repeats_answers: bool = True

    @property
    def blocks(self) -> int:
        return max(1, self.times.kv_tokens // BLOCK_SIZE)


Event = tuple[float, Callable[["ExactPool"], None]]
"""What happens to the pool, and when: an engine is stopped, say."""


class ExactPool:
    """One gateway process before simulated engines."""

    def __init__(self, spec: PoolSpec) -> None:
        self.spec = spec
        names = [f"e{number}" for number in range(spec.replicas)]
        self.replicas = ReplicaSet(pool_config(names, spec), clock=virtual_time.now)
        self.queue = AdmissionQueue(
            self.replicas, max_waiting=spec.max_waiting, clock=virtual_time.now
        )
        self.shared = _host(spec) if spec.shares_machine else None
        self.harness = self.shared or Host(math.inf)
        self.engines = {
            name: SimulatedEngine(
                name,
                spec.times,
                spec.scheduler,
                num_blocks=spec.blocks,
                host=self.shared or Host(1.0),
            )
            for name in names
        }
        self.outcomes: list[Outcome] = []
        self._starts = dict.fromkeys(names, 0)
        for replica in self.replicas.replicas:
            replica.mark(True, "")

    async def hold(self, conversation: Conversation) -> None:
        """All turns of a conversation; a request that is refused or fails ends it."""
        await asyncio.sleep(conversation.begins_s)
        for number, turn in enumerate(conversation.turns):
            await asyncio.sleep(turn.pause_s)
            outcome = await self._ask(conversation, number)
            self.outcomes.append(outcome)
            if outcome.state != "completed":
                return

    async def _ask(self, conversation: Conversation, turn: int) -> Outcome:
        request, prompt = conversation.request(turn), conversation.prompt(turn)
        outcome = Outcome(conversation.number, turn, virtual_time.now(), "refused")
        outcome.prompt_tokens = len(prompt)
        await self.harness.compute(self.spec.harness_s)
        try:
            ticket = self.queue.reserve(
                priority=request.principal.plan.queue_priority,
                weight=1,
                affinity=prefix_of(request),
                organization=request.principal.organization_id,
            )
        except Overloaded:
            return outcome
        try:
            await ticket.granted()
            await self.harness.compute(self.spec.times.request_s)
            await self._to_its_end(ticket, conversation, prompt, outcome)
        except Overloaded:
            pass
        finally:
            ticket.release()
        return outcome

    async def _to_its_end(
        self, ticket: Ticket, conversation: Conversation, prompt: list[int], outcome: Outcome
    ) -> None:
        """As `generation/run/attempts.py`: what a replica leaves unfinished goes on elsewhere."""
        answer = conversation.answer(outcome.turn)
        failed: list[Replica] = []
        while len(failed) < MAX_FRUITLESS_ATTEMPTS:
            replica = ticket.replica
            assert replica is not None
            name = f"{outcome.conversation}-{outcome.turn}-{outcome.attempts}"
            try:
                produced = await self._attempt(
                    replica, name, prompt, answer, conversation, ticket, outcome
                )
            except EngineGoneError:
                produced = 0
            prompt, answer = prompt + answer[:produced], answer[produced:]
            if not answer:
                replica.breaker.succeeded()
                outcome.state, outcome.replica = "completed", replica.name
                outcome.done_s = virtual_time.now()
                return
            failed = [replica] if produced else [*failed, replica]
            outcome.attempts += 1
            replica.failed("the connection broke")
            if not await self._moved(ticket, failed):
                break
        outcome.state = "failed"

    async def _attempt(
        self,
        replica: Replica,
        name: str,
        prompt: list[int],
        answer: list[int],
        conversation: Conversation,
        ticket: Ticket,
        outcome: Outcome,
    ) -> int:
        """One upstream request; the tokens that came of it."""
        engine = self.engines[replica.name]
        if engine.fails:
            await asyncio.sleep(_FAILS_AFTER_S)
            raise EngineGoneError(replica.name)
        said = answer if self.spec.repeats_answers else [_OTHER_TOKEN] * len(answer)
        running = engine.ask(name, prompt, said, 0, str(conversation.organization))
        try:
            await running.first
            ticket.answered()
            if not outcome.output_tokens:
                outcome.first_s, outcome.cached_tokens = virtual_time.now(), running.cached_tokens
            await running.done
        except EngineGoneError:
            pass
        outcome.output_tokens += running.produced
        return running.produced

    async def _moved(self, ticket: Ticket, failed: Sequence[Replica]) -> bool:
        deadline = virtual_time.now() + RECOVERY_S
        while virtual_time.now() < deadline:
            moved = ticket.move(failed)
            if moved is not None and moved not in failed:
                return True
            await asyncio.sleep(_RECOVERY_STEP_S)
            if moved is not None:
                return True
        return False

    async def probe(self) -> None:
        """The health monitor's rounds, and what engines announce."""
        while True:
            for replica in self.replicas.replicas:
                replica.mark(self.engines[replica.name].is_up, "")
            if self.spec.announces:
                self.replicas.note(self._record)
            self.queue.pump()
            await asyncio.sleep(min(PROBE_INTERVAL_S, ANNOUNCE_S))

    def _record(self, url: str) -> EngineRecord | None:
        engine = self.engines[url.removeprefix("http://")]
        if not engine.is_up:
            return None
        stats = engine.core.stats()
        return EngineRecord(
            id=engine.name,
            name=engine.name,
            model=POOL,
            url=url,
            state="ready",
            capacity=Capacity(self.spec.scheduler.max_num_seqs, stats.blocks_total, BLOCK_SIZE),
            load=Load(stats.running, stats.waiting, stats.blocks_total - stats.blocks_used),
        )


def _host(spec: PoolSpec) -> Host:
    times = spec.times
    return Host(times.cores - spec.others, times.shared_prompts, times.shared_decodes)


def pool_config(names: Sequence[str], spec: PoolSpec) -> PoolConfig:
    return PoolConfig(
        id=POOL,
        name=POOL,
        aliases=(),
        context_window=131_072,
        max_output_tokens=8_192,
        capabilities=("chat",),
        upstream_model=POOL,
        max_concurrency=spec.places,
        price_per_1k={"input": Decimal(0), "cached_input": Decimal(0), "output": Decimal(0)},
        sampling={},
        dialect="vllm",
        replicas=tuple(ReplicaConfig(name, f"http://{name}") for name in names),
        routing=spec.routing,
    )


def simulate(
    spec: PoolSpec, conversations: Sequence[Conversation], seed: int, events: Sequence[Event] = ()
) -> list[Outcome]:
    """All conversations to their end. The same for the same seed."""
    random.seed(seed)  # the policies' own chance
    return virtual_time.run(_simulate(spec, conversations, events))


async def _simulate(
    spec: PoolSpec, conversations: Sequence[Conversation], events: Sequence[Event]
) -> list[Outcome]:
    pool = ExactPool(spec)
    beside = [asyncio.create_task(engine.run()) for engine in pool.engines.values()]
    beside.append(asyncio.create_task(pool.probe()))
    for at, event in events:
        asyncio.get_running_loop().call_later(at, event, pool)
    talks = asyncio.gather(*(pool.hold(one) for one in conversations))
    try:
        everything: list[asyncio.Future[Any]] = [talks, *beside]
        await asyncio.wait(everything, return_when=asyncio.FIRST_COMPLETED)
        for task in beside:
            if task.done():
                task.result()  # only an error ends it
        await talks
    finally:
        for task in beside:
            task.cancel()
    return pool.outcomes
