"""The admission queues of one web process, by pool: made for the pools that there are now."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from backend.generation.admission.queue import AdmissionQueue
from backend.generation.admission.shared_queue import SharedQueue
from backend.generation.pools.config import PoolsInForce
from backend.generation.pools.prefixes import Prefix
from backend.generation.pools.replicas import ReplicaSet


class PoolQueues(Mapping[str, AdmissionQueue]):
    """A queue for each pool, made when a pool is first seen.

    The queue of a pool that is configured no more stays: what runs there comes to its end, and
    nothing new finds the pool. Those who wait there for a replica to be started are refused.

    Attributes:
        on_placed: called with pool, replica and prefix of each prompt that is sent.
    """

    def __init__(self, pools: PoolsInForce, *, max_waiting: int, is_shared: bool = False) -> None:
        self._pools = pools
        self._is_shared = is_shared
        self._max_waiting = max_waiting
        self._draining = False
        self.on_placed: Callable[[str, str, Prefix], None] = lambda pool, replica, prefix: None
        self._queues: dict[str, AdmissionQueue] = {}

    def __getitem__(self, pool_id: str) -> AdmissionQueue:
        pool = self._pools.get(pool_id)
        queue = self._queues.get(pool_id)
        if queue is None:
            if pool is None:
                raise KeyError(pool_id)
            kind = SharedQueue if self._is_shared else AdmissionQueue
            queue = kind(ReplicaSet(pool), max_waiting=self._max_waiting)
            queue.draining = self._draining
            queue.replicas.on_placed = self._placed
            self._queues[pool_id] = queue
        elif pool is not None and queue.replicas.pool is not pool:
            queue.replicas.adopt(pool)
        elif pool is None and queue.replicas.pool.on_demand:
            queue.refuse_waiting()  # nothing will start its replica any more
        return queue

    def __iter__(self) -> Iterator[str]:
        for pool in self._pools.models:
            _ = self[pool.id]
        return iter(list(self._queues))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def replica_sets(self) -> Sequence[ReplicaSet]:
        """Of all queues."""
        return [queue.replicas for queue in self.values()]

    def _placed(self, pool_id: str, replica: str, prefix: Prefix) -> None:
        self.on_placed(pool_id, replica, prefix)

    def drain(self) -> None:
        """Take nothing new, in any of them."""
        self._draining = True
        for queue in self.values():
            queue.draining = True
