"""Who gets the next free place at a pool's replicas: bounded, by plan and by age.

A waiting generation's rank is `arrived_at + queue_priority * AGEING_S`, smaller first. A better
plan is thus worth some seconds of waiting, no more: each request that waits long enough is before
every new request, and nothing starves. Ranks are handed to plans: which request of a plan takes
the first one is its organizations' turn (`fair_order`), and the request that gave it up gets the
other's. So a customer with a thousand requests does not keep back one with one, and no plan gains.

Full means: as many as the queue holds stand before a new request. Those behind it do not count, so
what came first takes no room from a better plan or from a customer with few. Who is let in keeps
its place; who is not is refused at once with a 503, before anything has been done for it.
"""

import asyncio
import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Collection
from typing import TypedDict
from uuid import UUID

from backend.generation import metrics
from backend.generation.admission.batch_places import MAX_WAIT_S, BatchPlaces, LineTicket
from backend.generation.admission.fair_order import FairOrder
from backend.generation.admission.retry_after import Outage, spread
from backend.generation.pools.prefixes import Prefix
from backend.generation.pools.replicas import Replica, ReplicaSet
from backend.platform.errors import Overloaded, ParleyError
from backend.platform.metrics import series

# Seconds of waiting that one step of `Plan.queue_priority` is worth.
AGEING_S = 2.0
_RATE_WINDOW_S = 20.0
MAX_RETRY_AFTER_S = 30.0
BATCH_WAITED = "batch_waited"
# Requests of one plan that may wait, as a multiple of those that may stand before a new one: more
# come in where their organizations' turns are sooner.
PLAN_MAY_HOLD = 2


class PlaceAsked(TypedDict):
    """What `reserve` and `readmit` are both told of a generation."""

    priority: int
    weight: int
    affinity: Prefix | None
    is_batch: bool


class NoReplica(Overloaded):
    """No replica of the model takes work: an outage of it, or its whole pool is being replaced."""


Rank = tuple[float, int]
"""With a number that grows, so that of two at one moment the first is before the other."""


class Ticket:
    """A place in the queue, then a place at a replica. Always `release()` it.

    Attributes:
        rank: smaller is sooner; `turn` decides among those of one priority.
        weight: choices that it will run at once.
        entered: it is ready to run.
        is_batch: it takes a place that is left over, and keeps no other from one.
        replica: where it runs; None while it waits.
    """

    def __init__(
        self,
        queue: "AdmissionQueue",
        *,
        priority: int,
        organization: UUID | None,
        rank: Rank,
        turn: float,
        weight: int,
        affinity: Prefix | None,
        is_batch: bool = False,
    ) -> None:
        self._queue = queue
        self.is_batch = is_batch
        self.priority = priority
        self.organization = organization
        self.rank = rank
        self.turn = turn
        self.entered = False
        self.weight = weight
        self.affinity = affinity
        self.replica: Replica | None = None
        self.waiting = True
        self._granted: asyncio.Future[Replica] = asyncio.get_running_loop().create_future()

    async def granted(self) -> Replica:
        """Wait for the place. Raises Overloaded when no replica takes work any more."""
        self._queue.enter(self)
        if not self.is_batch:
            return await self._granted
        try:
            async with asyncio.timeout(MAX_WAIT_S):
                return await self._granted
        except TimeoutError:
            raise Overloaded("No place was left for this line.", code=BATCH_WAITED) from None

    def take_if_free(self) -> Replica | None:
        """The place, where there is one at this moment; it does not wait for another."""
        self._queue.enter(self)
        return self.replica

    @property
    def outcome(self) -> asyncio.Future[Replica]:
        """Done when it was granted or refused. Who waits for it must not cancel it."""
        return self._granted

    def raise_if_refused(self) -> None:
        """Raises Overloaded when no replica takes work any more."""
        if self._granted.done() and not self._granted.cancelled():
            self._granted.result()

    def grant(self, replica: Replica) -> None:
        self._occupy(replica)
        self.waiting = False
        self._granted.set_result(replica)

    def refuse(self, error: ParleyError) -> None:
        self.waiting = False
        if not self._granted.done():
            self._granted.set_exception(error)
            self._granted.exception()  # read here: there may be no waiter yet, which is no error

    @property
    def settled(self) -> bool:
        return self._granted.done()

    def move(self, failed: Collection[Replica]) -> Replica | None:
        """Another replica for a generation that is under way; None when none is healthy."""
        replica = self._queue.replicas.choose(
            weight=self.weight, affinity=self.affinity, avoid=failed, over_limit=True
        )
        if replica is not None and replica is not self.replica:
            self._vacate()
            self._occupy(replica)
        return replica

    def answered(self) -> None:
        """Its answer has begun: a replica that has just come back bears one more."""
        if self.replica is not None and self.replica.ramp.is_under_way:
            self.replica.ramp.answered()
            self._queue.pump()

    def paced(self, replica: Replica, token_s: float) -> None:
        """Its answer at `replica` takes so many seconds a token. Of lines of batches that says
        nothing: engines let everybody else go first."""
        if not self.is_batch:
            self._queue.replicas.note_pace(replica, token_s)

    def release(self) -> None:
        """Give back whatever it holds; may be called more than once."""
        self._vacate()
        self._granted.cancel()
        self._queue.left(self)

    def _occupy(self, replica: Replica) -> None:
        self.replica = replica
        replica.outstanding += self.weight
        replica.batch_choices += self.weight if self.is_batch else 0
        series(metrics.ACTIVE, self._queue.replicas.pool.id).inc(self.weight)

    def _vacate(self) -> None:
        if self.replica is not None:
            self.replica.outstanding -= self.weight
            self.replica.batch_choices -= self.weight if self.is_batch else 0
            series(metrics.ACTIVE, self._queue.replicas.pool.id).dec(self.weight)
            self.replica = None


class AdmissionQueue:
    """The queue of one pool, in one process.

    Args:
        max_waiting: how many may stand before a new request; those at a replica do not count.
    """

    def __init__(
        self,
        replicas: ReplicaSet,
        *,
        max_waiting: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.replicas = replicas
        self._most_waiting = max_waiting
        self._clock = clock
        self._tickets: set[Ticket] = set()  # waiting, or about to wait
        self._numbers = itertools.count()
        self._orders: defaultdict[int, FairOrder] = defaultdict(FairOrder)  # by priority
        self._served: list[float] = []  # when places became free, lately
        self._outage = Outage(clock)
        self.batches = BatchPlaces(replicas)
        self.draining = False

    @property
    def waiting(self) -> int:
        return len(self._tickets)

    @property
    def keeps_batches_waiting(self) -> bool:
        """Whether a request waits that would have the next free place."""
        return bool(self._tickets)

    def reserve(
        self,
        *,
        priority: int,
        weight: int,
        affinity: Prefix | None,
        organization: UUID | None = None,
        is_batch: bool = False,
    ) -> Ticket:
        """Room in the queue for a new request, before anything else is done for it.

        Args:
            priority: `Plan.queue_priority`, smaller is sooner.
            organization: whose turn it is to be.
            is_batch: it needs no room here: it waits where it keeps back no other.
        Raises:
            NoReplica: no replica takes work.
            Overloaded: the queue is full of those before it, or this process is going.
        """
        if self.draining:
            raise Overloaded("This server is restarting. Try again.", retry_after=1)
        self.replicas.was_asked = True
        if not self.replicas.takes_requests:
            raise NoReplica(
                f"No replica of {self.replicas.pool.id!r} takes work now. Try again soon.",
                retry_after=self._outage.retry_after(),
            )
        self._outage.is_over()
        if is_batch:
            return self._ticket(priority, weight, affinity, is_batch=True)
        if self.refuses(priority, organization):
            raise self.full_error()
        return self._join(priority, organization, weight, affinity)

    @property
    def refuses_all(self) -> bool:
        """Whether every new request is refused, whatever waits."""
        return self.draining or not self.replicas.takes_requests

    @property
    def is_full(self) -> bool:
        """Whether only those come in that go before some who wait."""
        return len(self._tickets) >= self._most_waiting + self.replicas.free_places

    def refuses(self, priority: int, organization: UUID | None = None, *, ahead: int = 0) -> bool:
        """Whether a new request finds no room: of those before it, or of its plan, too many wait.

        Args:
            ahead: how many others are about to stand before it.
        """
        rank, turn = self._rank(priority), self._orders[priority].turn(organization)
        before, of_its_plan = ahead, 0
        for ticket in self._tickets:
            if ticket.priority == priority:
                of_its_plan += 1
                before += ticket.turn <= turn
            else:
                before += ticket.rank <= rank
        free = self.replicas.free_places
        most = self._most_waiting
        return before >= most + free or of_its_plan >= PLAN_MAY_HOLD * most + free

    def readmit(
        self, *, priority: int, weight: int, affinity: Prefix | None, is_batch: bool = False
    ) -> Ticket:
        """Room for a generation that was admitted elsewhere: never refused, and first in line."""
        if is_batch:
            return self._ticket(priority, weight, affinity, is_batch=True)
        return self._join(priority - 1_000, None, weight, affinity)

    def refuse_waiting(self) -> None:
        """Refuse all who wait, unless a replica takes work."""
        if self.replicas.any_healthy:
            return
        waiting: list[LineTicket] = [*self._tickets, *self.batches.take_all()]
        for ticket in list(self._tickets):
            self._take_out(ticket)
        for one in waiting:
            one.refuse(
                Overloaded(f"{self.replicas.pool.id!r} is not served any more.", retry_after=5)
            )

    def enter(self, ticket: Ticket) -> None:
        """`ticket` is ready to run. Called once by `Ticket.granted`."""
        if not ticket.settled:
            ticket.entered = True
            if ticket.is_batch:
                self.batches.enter(ticket)
            self.pump()

    def left(self, ticket: Ticket) -> None:
        """`ticket` needs no place any more."""
        if ticket.is_batch:
            self.batches.left(ticket)
        elif ticket in self._tickets:
            self._take_out(ticket)
        elif not ticket.waiting:
            self._note_served()
        ticket.waiting = False
        self._gauge()
        self.pump()

    def pump(self) -> None:
        """Grant places to those first in line, while there are any."""
        while (ticket := self._first()) is not None:
            replica = self.replicas.choose(weight=ticket.weight, affinity=ticket.affinity)
            if replica is None:
                return
            self._tickets.discard(ticket)
            self._orders[ticket.priority].grant(ticket.organization, ticket.turn)
            ticket.grant(replica)
        self._pump_batches()
        self._gauge()

    def _pump_batches(self) -> None:
        if not self.draining and not self.keeps_batches_waiting:
            self.batches.pump()

    def _join(
        self, priority: int, organization: UUID | None, weight: int, affinity: Prefix | None
    ) -> Ticket:
        ticket = self._ticket(priority, weight, affinity, organization=organization)
        ticket.turn = self._orders[priority].join(organization, weight)
        self._tickets.add(ticket)
        self._gauge()
        return ticket

    def _ticket(
        self,
        priority: int,
        weight: int,
        affinity: Prefix | None,
        *,
        organization: UUID | None = None,
        is_batch: bool = False,
    ) -> Ticket:
        return Ticket(
            self,
            priority=priority,
            organization=organization,
            rank=self._rank(priority),
            turn=0.0,
            weight=weight,
            affinity=affinity,
            is_batch=is_batch,
        )

    def _take_out(self, ticket: Ticket) -> None:
        self._tickets.discard(ticket)
        self._orders[ticket.priority].leave(ticket.organization)

    def _first(self) -> Ticket | None:
        """Of those that are ready to run: whose turn it is, in the plan that has the first rank."""
        ready = [t for t in self._tickets if t.entered and t.waiting and not t.settled]
        if not ready:
            return None
        oldest = min(ready, key=lambda ticket: ticket.rank)
        same = (ticket for ticket in ready if ticket.priority == oldest.priority)
        first = min(same, key=lambda ticket: (ticket.turn, ticket.rank))
        first.rank, oldest.rank = oldest.rank, first.rank
        return first

    def full_error(self) -> Overloaded:
        """The error of a new request that finds no room."""
        return Overloaded(
            f"{self.replicas.pool.id!r} has more requests waiting than it can serve soon."
            " Try again later.",
            retry_after=spread(self.retry_after()),
        )

    def retry_after(self) -> float:
        """Seconds after which the queue has probably moved by its whole length."""
        now = self._clock()
        recent = [at for at in self._served if at > now - _RATE_WINDOW_S]
        if not recent:
            return MAX_RETRY_AFTER_S / 3
        rate = len(recent) / max(1.0, now - recent[0])
        return min(MAX_RETRY_AFTER_S, max(1.0, len(self._tickets) / rate))

    def _note_served(self) -> None:
        self._served.append(self._clock())
        if len(self._served) > 256:
            del self._served[:128]

    def _rank(self, priority: int) -> Rank:
        return self._clock() + priority * AGEING_S, next(self._numbers)

    def _gauge(self) -> None:
        series(metrics.QUEUED, self.replicas.pool.id).set(len(self._tickets))
