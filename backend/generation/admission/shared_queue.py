"""One queue a pool for all web processes, in Redis; each process speaks to it in rounds.

A process that finds places free and nobody waiting gives them itself, within its part of what the
last round left free, and tells of it in the next: an idle pool costs no request a round trip. All
else waits in Redis and is given places by its rank (queue_script.py), whichever process holds it. A
ticket is the generation's id: the process that continues a generation takes its place over. Without
Redis each process goes on with its own tickets and its part of the places.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import uuid4
from weakref import WeakKeyDictionary

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.generation import metrics
from backend.generation.admission.queue import (
    AGEING_S,
    MAX_RETRY_AFTER_S,
    AdmissionQueue,
    Ticket,
)
from backend.generation.admission.queue_script import ROUND
from backend.generation.pools.replicas import ReplicaSet
from backend.generation.request import AdmittedGeneration
from backend.platform.cancellation import end_tasks

log = structlog.get_logger(__name__)

ROUND_INTERVAL_S = 0.05
"""While somebody waits."""
IDLE_INTERVAL_S = 0.5
# The list of pools is read as often (pools/config.py).
NEW_POOLS_S = 0.5
PROCESS_TTL_S = 3.0
_MAX_ASKED = 200


def keys_of(pool_id: str) -> list[str]:
    """The queue's keys; of one slot in a cluster."""
    names = ("waiting", "tickets", "processes", "running", "turns", "served", "grants")
    return [f"queue:{{{pool_id}}}:{name}" for name in names]


@dataclass(frozen=True, slots=True)
class Depth:
    """The queue as the last round saw it.

    Attributes:
        waiting: tickets of all processes.
        rate: generations that ended, a second, lately; 0: not known.
        free: places that nobody had.
    """

    waiting: int = 0
    rate: float = 0.0
    free: int = 0
    processes: int = 1

    def wait_s(self, position: int) -> float | None:
        """Seconds until the ticket at `position`, from 0, probably has its place."""
        return (position + 1) / self.rate if self.rate else None


@dataclass(frozen=True, slots=True)
class Demand:
    """What the shared queue knows a ticket by.

    Attributes:
        id: the generation's: the process that continues it asks for the same.
        tokens: that it will probably take.
        is_first: it was under way elsewhere, and is first in line where it has no rank yet.
    """

    id: str
    organization: str = ""
    priority: int = 0
    tokens: int = 0
    is_first: bool = False


def demand_of(admitted: AdmittedGeneration, *, is_first: bool = False) -> Demand:
    principal = admitted.request.principal
    return Demand(
        id=str(admitted.id),
        organization=str(principal.organization_id),
        priority=principal.plan.queue_priority,
        tokens=admitted.token_estimate,
        is_first=is_first,
    )


def describe(queue: AdmissionQueue, ticket: Ticket, demand: Demand) -> None:
    """Say what `ticket` is, before it is ready to run, where its queue is shared."""
    if isinstance(queue, SharedQueue):
        queue.describe(ticket, demand)


@dataclass(slots=True)
class _Waiting:
    """A ticket of this process in the shared queue. `rank`: as Redis has given it, "" until then;
    `is_known`: Redis has it, as far as the last round tells."""

    ticket: Ticket
    demand: Demand
    rank: str = ""
    is_known: bool = False
    position: int | None = None

    def described(self) -> list[str | int | float]:
        demand = self.demand
        return [
            demand.id,
            demand.organization,
            demand.priority * AGEING_S,
            demand.tokens,
            self.ticket.weight,
            self.rank,
            "1" if demand.is_first else "",
        ]


class SharedQueue(AdmissionQueue):
    """The queue of one pool, as one web process sees it."""

    def __init__(self, replicas: ReplicaSet, *, max_waiting: int) -> None:
        super().__init__(replicas, max_waiting=max_waiting)
        self.depth = Depth()
        self.wake = asyncio.Event()
        self._is_shared = True  # until a round does not reach Redis
        self._budget = 0  # weight that may still be given without a round
        self._demands: WeakKeyDictionary[Ticket, Demand] = WeakKeyDictionary()
        self._entered: dict[str, _Waiting] = {}
        self._unplaced: list[Ticket] = []
        self._gone: set[str] = set()
        self._served_count = 0

    # What the parts above call; none of it waits.

    def describe(self, ticket: Ticket, demand: Demand) -> None:
        """Say what `ticket` is, before it is ready to run."""
        self._demands[ticket] = demand

    def enter(self, ticket: Ticket) -> None:
        if ticket.settled or ticket.is_batch:
            super().enter(ticket)
            return
        may = self._is_shared and self.is_idle and not self.depth.waiting
        if may and ticket.weight <= self._budget and self._place(ticket):
            self._budget -= ticket.weight
            return
        demand = self._demand(ticket)
        self._entered[demand.id] = _Waiting(ticket, demand)
        self.wake.set()
        if not self._is_shared:
            super().enter(ticket)

    def left(self, ticket: Ticket) -> None:
        if ticket.is_batch:
            super().left(ticket)
            return
        demand = self._demand(ticket)
        if self._entered.pop(demand.id, None) is not None:
            self._gone.add(demand.id)
        elif not ticket.waiting:
            self._served_count += 1
        super().left(ticket)
        if self.depth.waiting or self._gone:
            self.wake.set()

    def pump(self) -> None:
        """Something may have become free."""
        if self._is_shared:
            self._place_unplaced()
            if self._entered:
                self.wake.set()
            self._pump_batches()
            return
        super().pump()
        for one in [one for one in self._entered.values() if not one.ticket.waiting]:
            del self._entered[one.demand.id]

    def position(self, generation_id: str) -> int | None:
        """Of a ticket of this process, from 0; None where it is not known or does not wait."""
        waiting = self._entered.get(generation_id)
        return waiting.position if waiting is not None else None

    def retry_after(self) -> float:
        if not self._is_shared:
            return super().retry_after()
        wait_s = self.depth.wait_s(self.depth.waiting)
        return min(MAX_RETRY_AFTER_S, max(1.0, wait_s or MAX_RETRY_AFTER_S / 3))

    @property
    def keeps_batches_waiting(self) -> bool:
        return not self.is_idle or self.depth.waiting > 0

    # A round.

    @property
    def is_idle(self) -> bool:
        """Whether nothing of this process waits."""
        return not self._entered and not self._unplaced

    async def round(self, redis: Redis, process_id: str) -> None:
        """Speak to Redis once. Raises RedisError, OSError; then this process goes on alone."""
        self.wake.clear()
        new = [one for one in self._entered.values() if not one.is_known]
        asked = [one for one in self._entered.values() if one.is_known][:_MAX_ASKED]
        gone, served, places = sorted(self._gone), self._served_count, self._places()
        # What is given while the round is under way would not be in what it tells.
        self._budget, weight = 0, self._weight()
        arguments: list[str | int | float] = [process_id, PROCESS_TTL_S, places, weight]
        arguments += [served, len(new), *(value for one in new for value in one.described())]
        arguments += [len(gone), *gone, len(asked), *(one.demand.id for one in asked)]
        keys = keys_of(self.replicas.pool.id)
        answer = await redis.eval(ROUND, len(keys), *keys, *map(str, arguments))
        ranks, granted, waiting, total, rate, positions, processes, budget = answer
        self._is_shared = True
        self._gone.difference_update(gone)
        self._served_count -= served
        for one, rank in zip(new, ranks, strict=True):
            one.rank, one.is_known = rank.decode(), True
        for one, position in zip(asked, positions, strict=True):
            # One that Redis has lost comes again, where it stood.
            one.is_known, one.position = position >= 0, max(0, position)
        free = max(0, places - int(total))
        self.depth = Depth(int(waiting), float(rate), free, int(processes))
        self._budget = max(0, int(budget) - (self._weight() - weight))  # given meanwhile
        self._take(raw.decode() for raw in granted)
        self._pump_batches()

    def go_on_alone(self) -> None:
        """Redis did not answer: this process' part of the places goes to its own tickets."""
        if self._is_shared:
            self._is_shared, self._budget = False, 0
            for one in list(self._entered.values()):
                AdmissionQueue.enter(self, one.ticket)
        self.pump()

    def _take(self, granted: Iterable[str]) -> None:
        for ticket_id in granted:
            one = self._entered.pop(ticket_id, None)
            if one is None or one.ticket.settled:
                continue  # it left meanwhile, or has its place already: what runs is counted
            if not self._place(one.ticket):
                self._unplaced.append(one.ticket)
        self._place_unplaced()
        self._gauge()

    def _demand(self, ticket: Ticket) -> Demand:
        """One that nobody has described is known by a name of its own."""
        return self._demands.setdefault(ticket, Demand(uuid4().hex))

    def _place(self, ticket: Ticket) -> bool:
        replica = self.replicas.choose(weight=ticket.weight, affinity=ticket.affinity) or (
            self.replicas.choose(weight=ticket.weight, affinity=ticket.affinity, over_limit=True)
        )
        if replica is None:
            return False
        if ticket in self._tickets:
            self._tickets.discard(ticket)
            self._orders[ticket.priority].grant(ticket.organization, ticket.turn)
        ticket.grant(replica)
        self._gauge()
        return True

    def _place_unplaced(self) -> None:
        waiting, self._unplaced = self._unplaced, []
        for ticket in waiting:
            if not ticket.settled and not self._place(ticket):
                self._unplaced.append(ticket)

    def _places(self) -> int:
        """Of all replicas that take work, for all processes."""
        return sum(
            self.replicas.places_of(replica)
            for replica in self.replicas.replicas
            if replica.available
        )

    def _weight(self) -> int:
        """What runs here, and what was granted and has no replica yet."""
        running = sum(replica.counted for replica in self.replicas.replicas)
        return running + sum(ticket.weight for ticket in self._unplaced)


class QueueRounds:
    """The loop of one web process over its queues."""

    def __init__(self, redis: Redis, process_id: str, queues: Mapping[str, AdmissionQueue]) -> None:
        self._redis = redis
        self._process_id = process_id
        self._queues = queues

    async def run(self) -> None:
        """A task for each pool, whose Redis round trips do not wait for each other's; until it is
        cancelled. No TaskGroup: it cancels its tasks once, and waits for one that swallowed it."""
        tasks: dict[str, asyncio.Task[None]] = {}
        try:
            while True:
                for pool_id, queue in self._queues.items():
                    if isinstance(queue, SharedQueue) and pool_id not in tasks:
                        tasks[pool_id] = asyncio.create_task(self._follow(queue))
                if not tasks:
                    await asyncio.sleep(NEW_POOLS_S)
                    continue
                ended, _ = await asyncio.wait(
                    tasks.values(), timeout=NEW_POOLS_S, return_when=asyncio.FIRST_COMPLETED
                )
                for task in ended:
                    task.result()  # it ends by an exception only
        finally:
            await end_tasks(tasks.values())

    async def _follow(self, queue: SharedQueue) -> None:
        while True:
            await self.round(queue)
            began = time.monotonic()
            try:
                async with asyncio.timeout(IDLE_INTERVAL_S if queue.is_idle else ROUND_INTERVAL_S):
                    await queue.wake.wait()
            except TimeoutError:
                continue
            # Those that come in the same moment share a round.
            await asyncio.sleep(max(0.0, 0.002 - (time.monotonic() - began)))

    async def round(self, queue: SharedQueue) -> None:
        """One round at one pool."""
        try:
            await queue.round(self._redis, self._process_id)
        except (RedisError, OSError) as error:
            queue.go_on_alone()
            log.warning("queue_round_failed", pool=queue.replicas.pool.id, error=str(error))
            await asyncio.sleep(ROUND_INTERVAL_S)
        pool_id, depth = queue.replicas.pool.id, queue.depth
        metrics.QUEUE_DEPTH.labels(pool_id).set(depth.waiting)
        metrics.QUEUE_WAIT.labels(pool_id).set(
            (depth.wait_s(depth.waiting - 1) or 0.0) if depth.waiting else 0.0
        )


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where a generation waits: `position` from 1, and the seconds that it will probably take; both
    None where it does not wait, or that is not known."""

    position: int | None = None
    wait_s: float | None = None


async def queue_place(redis: Redis, pool_id: str, generation_id: str) -> QueuePlace:
    """Of any process' generation. Raises RedisError, OSError."""
    waiting, _, _, _, _, served, _ = keys_of(pool_id)
    async with redis.pipeline(transaction=False) as pipeline:
        pipeline.zrank(waiting, generation_id)
        pipeline.llen(served)
        pipeline.lindex(served, -1)
        pipeline.time()
        rank, count, oldest, (seconds, _) = await pipeline.execute()
    if rank is None:
        return QueuePlace()
    if count < 2:
        return QueuePlace(rank + 1)
    rate = count / max(1.0, seconds - float(oldest))
    return QueuePlace(rank + 1, round((rank + 1) / rate, 1))
