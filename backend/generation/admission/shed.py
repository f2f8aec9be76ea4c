"""Who may come in at all, before a request is authenticated, parsed and looked at.

All that costs a hundred times what a refusal costs. Under many times the load a process that did
it for everybody would do little else: refusals would take seconds, and who is served would wait
behind them. So a request whose end is known is refused at its first step: its pool's queue is full
of those before it, by the plan that its key had when it last got so far. While a queue is full, of
keys that were not seen lately a bounded number comes in at once.

What is known here only ever refuses; nobody is let in by it.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from backend.generation import metrics
from backend.generation.admission.queue import AdmissionQueue
from backend.generation.pools.config import Pools
from backend.platform.errors import ModelNotFound

MOST_STRANGERS = 32
KNOWN_FOR_S = 60.0
_MOST_KNOWN = 4_096


class _Known(NamedTuple):
    priority: int
    since: float


class _Group(NamedTuple):
    """Those who come for one pool, and whose plan is the same; None: not known."""

    pool_id: str
    priority: int | None


class _Arrival:
    """A request on its way to its pool's queue."""

    def __init__(self, on_over: Callable[[int | None], None]) -> None:
        self._on_over = on_over
        self._is_coming = True

    def over(self, priority: int | None) -> None:
        """It stands in the queue, or never will; only the first call counts."""
        if self._is_coming:
            self._is_coming = False
            self._on_over(priority)


_ARRIVAL: ContextVar[_Arrival | None] = ContextVar("arrival", default=None)


def arrival_over(priority: int) -> None:
    """The request that this is called for stands in its queue, or was refused there.

    Args:
        priority: `Plan.queue_priority` of the caller.
    """
    arrival = _ARRIVAL.get()
    if arrival is not None:
        arrival.over(priority)


class Arrivals:
    """The requests of one web process that stand in no queue yet.

    Args:
        queues: by pool id.
    """

    def __init__(
        self,
        pools: Pools,
        queues: Mapping[str, AdmissionQueue],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pools = pools
        self._queues = queues
        self._clock = clock
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._coming: Counter[_Group] = Counter()

    @contextmanager
    def arriving(self, key: bytes, model: str | None) -> Iterator[None]:
        """A request from its first step to its end.

        Args:
            key: a hash of the API key that it shows, which may be none of ours.
            model: what it asks for, where that could be read.
        Raises:
            Overloaded: there is no room for it, and nothing else needs to be looked at.
        """
        try:
            pool_id = self._pools.find(model or "").id
        except ModelNotFound:
            yield
            return
        group = _Group(pool_id, self._priority_of(key))
        self._refuse_if_full(group)
        self._coming[group] += 1

        def over(priority: int | None) -> None:
            self._coming[group] -= 1
            if priority is not None:
                self._note(key, priority)

        arrival = _Arrival(over)
        token = _ARRIVAL.set(arrival)
        try:
            yield
        finally:
            _ARRIVAL.reset(token)
            arrival.over(None)

    def _refuse_if_full(self, group: _Group) -> None:
        queue = self._queues[group.pool_id]
        if queue.takes_nobody:
            return  # whoever looks at it says why
        if group.priority is None:
            if queue.is_full and self._coming[group] >= MOST_STRANGERS:
                metrics.SHED.labels("stranger").inc()
                raise queue.full_error()
        elif queue.refuses(group.priority, coming=self._coming_before(group)):
            metrics.SHED.labels("queue_full").inc()
            raise queue.full_error()

    def _coming_before(self, newcomer: _Group) -> int:
        """How many come for the same pool with as good a plan, or a better one."""
        return sum(
            count
            for group, count in self._coming.items()
            if group.pool_id == newcomer.pool_id
            and group.priority is not None
            and newcomer.priority is not None
            and group.priority <= newcomer.priority
        )

    def _note(self, key: bytes, priority: int) -> None:
        self._known[key] = _Known(priority, self._clock())
        self._known.move_to_end(key)
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)

    def _priority_of(self, key: bytes) -> int | None:
        known = self._known.get(key)
        if known is None or self._clock() - known.since > KNOWN_FOR_S:
            return None
        return known.priority
