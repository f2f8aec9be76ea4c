"""Who may come in at all, before a request is authenticated, parsed and looked at.

All that costs a hundred times what a refusal costs. Under many times the load a process that did
it for everybody would do little else: refusals would take seconds, and who is served would wait
behind them. So a request whose end is known is refused at its first step: its pool's queue is full
of those before it, by the plan that its credential had when it last got through. Of credentials
that were not seen lately a bounded number comes in at once.

What is known here only ever refuses; nobody is let in by it.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from backend.errors import ModelNotFound, Overloaded
from backend.gateway import metrics
from backend.gateway.pools import Pools
from backend.gateway.queue import AdmissionQueue

MOST_STRANGERS = 32
KNOWN_FOR_S = 10.0
"""As long as a change of plan may take to show."""

_MOST_KNOWN = 4_096

# No pool has such an id.
_STRANGERS, _NO_POOL = " strangers", " no pool"


class Arrival:
    """A request on its way to its pool's queue."""

    def __init__(self, arrivals: "Arrivals", credential: bytes | None, group: str) -> None:
        self._arrivals = arrivals
        self._credential = credential
        self._group = group
        self._is_coming = True

    def leave(self, priority: int | None = None) -> None:
        """It stands in the queue, or never will; only the first call counts.

        Args:
            priority: `Plan.queue_priority` of the caller, where it came to be known.
        """
        if self._is_coming:
            self._is_coming = False
            self._arrivals.left(self._group)
            if priority is not None and self._credential is not None:
                self._arrivals.note(self._credential, priority)


class _Known(NamedTuple):
    priority: int
    since: float


_ARRIVAL: ContextVar[Arrival | None] = ContextVar("arrival", default=None)


def arrival_over(priority: int) -> None:
    """The request that this is called for stands in its queue, or was refused."""
    arrival = _ARRIVAL.get()
    if arrival is not None:
        arrival.leave(priority)


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
        self._coming: Counter[str] = Counter()  # by pool id, or one of the groups below

    @contextmanager
    def arriving(self, credential: bytes | None, model: str | None) -> Iterator[Arrival]:
        """A request from its first step to its end.

        Args:
            credential: a hash of what the request shows to be let in.
            model: what it asks for, where that could be read.
        Raises:
            Overloaded: there is no room for it, and nothing else needs to be looked at.
        """
        arrival = self._enter(credential, model)
        token = _ARRIVAL.set(arrival)
        try:
            yield arrival
        finally:
            _ARRIVAL.reset(token)
            arrival.leave()

    def _enter(self, credential: bytes | None, model: str | None) -> Arrival:
        priority = self._priority_of(credential)
        group = _STRANGERS if priority is None else self._pool_of(model)
        coming = self._coming[group]
        if priority is None and coming >= MOST_STRANGERS:
            metrics.SHED.labels("strangers").inc()
            raise Overloaded("The server has too much to do. Try again soon.", retry_after=1)
        queue = self._queues.get(group)
        if priority is not None and queue is not None and queue.refuses(priority, coming=coming):
            metrics.SHED.labels("queue_full").inc()
            raise queue.full()
        self._coming[group] += 1
        return Arrival(self, credential, group)

    def left(self, group: str) -> None:
        """One of those that came in this group is not coming any more."""
        self._coming[group] -= 1

    def note(self, credential: bytes, priority: int) -> None:
        """Remember for some seconds what plan a credential has."""
        self._known[credential] = _Known(priority, self._clock())
        self._known.move_to_end(credential)
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)

    def _priority_of(self, credential: bytes | None) -> int | None:
        known = self._known.get(credential) if credential is not None else None
        if known is None or self._clock() - known.since > KNOWN_FOR_S:
            return None
        return known.priority

    def _pool_of(self, model: str | None) -> str:
        try:
            return _NO_POOL if model is None else self._pools.find(model).id
        except ModelNotFound:
            return _NO_POOL
