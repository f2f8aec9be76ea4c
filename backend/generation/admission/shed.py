"""Load shedding: a request that will find no room is refused before it is read or authenticated.

To authenticate a request and read its body costs a web process milliseconds, and at thirty times
the load it can serve these are all it has. What is known of a key from its last requests decides:
one that will find the queue full of those before it is refused at once. Of keys that are
not known, a bounded number comes in at once while the queue is full.

What is known here only ever refuses; nothing is let in by it.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple
from uuid import UUID

from backend.generation import metrics
from backend.generation.admission.queue import AdmissionQueue
from backend.generation.pools.config import PoolsInForce
from backend.platform.errors import ModelNotFound

MAX_UNKNOWN_KEYS = 32
KNOWN_FOR_S = 60.0
MAX_KNOWN_KEYS = 4_096


class _KnownKey(NamedTuple):
    priority: int
    organization: UUID | None
    since: float


class _Group(NamedTuple):
    """An organization's requests for one pool; None: of unknown keys."""

    pool_id: str
    priority: int | None
    organization: UUID | None


class PendingRequest:
    """A request on its way to its pool's queue."""

    def __init__(self, on_over: Callable[[int | None, UUID | None], None]) -> None:
        self._on_over = on_over
        self._is_on_its_way = True

    def over(self, priority: int | None, organization: UUID | None = None) -> None:
        """It stands in the queue, or never will; only the first call counts.

        Args:
            priority: `Plan.queue_priority` of the caller; None when it got no further.
        """
        if self._is_on_its_way:
            self._is_on_its_way = False
            self._on_over(priority, organization)


class LoadShedder:
    """The requests of one web process that stand in no queue yet.

    Args:
        queues: by pool id.
    """

    def __init__(
        self,
        pools: PoolsInForce,
        queues: Mapping[str, AdmissionQueue],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pools = pools
        self._queues = queues
        self._clock = clock
        self._known: OrderedDict[bytes, _KnownKey] = OrderedDict()
        self._pending: Counter[_Group] = Counter()

    @contextmanager
    def pending(self, key: bytes, model: str | None) -> Iterator[PendingRequest | None]:
        """A request from its first step to its end.

        Args:
            key: a hash of the API key that it shows, which may be none of ours.
            model: what it asks for, where that could be read.
        Yields:
            What admission ends when the request has its place; None where nothing is counted.
        Raises:
            Overloaded: there is no room for it, and nothing else needs to be looked at.
        """
        try:
            pool_id = self._pools.find(model or "").id
        except ModelNotFound:
            yield None
            return
        group = self._group_of(pool_id, key)
        self._refuse_if_full(group)
        self._pending[group] += 1

        def over(priority: int | None, organization: UUID | None) -> None:
            self._pending[group] -= 1
            if self._pending[group] <= 0:
                del self._pending[group]
            if priority is not None:
                self._note(key, priority, organization)

        pending = PendingRequest(over)
        try:
            yield pending
        finally:
            pending.over(None)

    def _refuse_if_full(self, group: _Group) -> None:
        queue = self._queues[group.pool_id]
        if queue.refuses_all:
            return  # admission says why
        if group.priority is None:
            if queue.is_full and self._pending[group] >= MAX_UNKNOWN_KEYS:
                metrics.SHED.labels("unknown_key").inc()
                raise queue.full_error()
        elif queue.refuses(group.priority, group.organization, ahead=self._pending_before(group)):
            metrics.SHED.labels("queue_full").inc()
            raise queue.full_error()

    def _pending_before(self, new_request: _Group) -> int:
        """How many are on their way to the same pool and come before it: those with a better plan,
        and of each organization with the same plan no more than of its own."""
        own = self._pending[new_request]
        before = 0
        for group, count in self._pending.items():
            if group.pool_id != new_request.pool_id or group.priority is None:
                continue
            assert new_request.priority is not None
            if group.priority < new_request.priority:
                before += count
            elif group.priority == new_request.priority:
                before += count if group == new_request else min(count, own + 1)
        return before

    def _note(self, key: bytes, priority: int, organization: UUID | None) -> None:
        self._known[key] = _KnownKey(priority, organization, self._clock())
        self._known.move_to_end(key)
        if len(self._known) > MAX_KNOWN_KEYS:
            self._known.popitem(last=False)

    def _group_of(self, pool_id: str, key: bytes) -> _Group:
        known = self._known.get(key)
        if known is None or self._clock() - known.since > KNOWN_FOR_S:
            return _Group(pool_id, None, None)
        return _Group(pool_id, known.priority, known.organization)
