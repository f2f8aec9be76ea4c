"""The replicas of one pool as this process sees them, and which one a generation goes to."""

import time
from collections.abc import Callable, Collection

import structlog

from backend.generation import metrics
from backend.generation.pools.breaker import Breaker
from backend.generation.pools.config import PoolConfig, ReplicaConfig
from backend.generation.pools.prefixes import Prefix, PrefixIndex
from backend.generation.pools.ramp import Ramp
from backend.generation.pools.registry import EngineRecord
from backend.generation.pools.routing import POLICIES
from backend.generation.pools.slowness import TokenPace, is_slow

log = structlog.get_logger(__name__)


class Replica:
    """One replica's state.

    Attributes:
        outstanding: choices that this process has running there.
        batch_choices: those of them that are of batches; no other request waits for them.
        healthy: it answered its last probe, and nothing has failed on it since.
        missed: probes in a row that got no answer at all.
        record: what it last announced of itself; None where it announces nothing.
        is_leaving: it is configured or announced no more: what runs there ends, nothing begins.
        on_demand: it is started when it is asked for, so that it is never missed.
        breaker: open after failures: nothing is sent there.
        slow_breaker: open while it is much slower than its peers: nothing is sent there that one of
            those has room for.
    """

    def __init__(
        self,
        config: ReplicaConfig,
        pool_id: str,
        *,
        on_demand: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config = config
        self.on_demand = on_demand
        self.pool_id = pool_id
        self.outstanding = 0
        self.batch_choices = 0
        self.healthy = False
        self.missed = 0
        self.was_probed = False
        self.detail = "not probed yet"
        self.breaker = Breaker(clock)
        self.slow_breaker = Breaker(clock)
        self.pace = TokenPace(clock)
        self.ramp = Ramp()
        self._was_healthy = False
        self.record: EngineRecord | None = None
        self.is_leaving = False

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def available(self) -> bool:
        """Whether a generation may go there."""
        if self.is_leaving or (self.record is not None and self.record.state != "ready"):
            return False
        return self.healthy and self.breaker.allows()

    @property
    def load(self) -> int:
        """Choices that run or wait there: what this process knows, or the engine has told."""
        if self.record is None:
            return self.outstanding
        return max(self.outstanding, self.record.load.running + self.record.load.waiting)

    @property
    def counted(self) -> int:
        """Choices that others wait for."""
        return self.outstanding - self.batch_choices

    @property
    def is_tight(self) -> bool:
        """Whether less than a twentieth of its blocks is free."""
        record = self.record
        if record is None or not record.capacity.blocks:
            return False
        return record.load.free_blocks < record.capacity.blocks / 20

    def failed(self, detail: str) -> None:
        """A generation failed there, for a reason that is the replica's."""
        self.breaker.failed()
        self.ramp.failed()
        self.mark(False, detail)

    def sent(self) -> None:
        """A generation goes there: where a breaker is half-open, it is the trial."""
        self.breaker.sent()
        self.slow_breaker.sent()

    def mark(self, healthy: bool, detail: str) -> bool:
        """Note what was found; whether that is a change."""
        changed = healthy != self.healthy
        if changed and healthy and self._was_healthy:
            self.ramp.begin(self.outstanding)
        self._was_healthy = self._was_healthy or healthy
        self.healthy, self.detail = healthy, detail
        metrics.REPLICA_UP.labels(self.pool_id, self.config.name).set(healthy or self.on_demand)
        return changed


class ReplicaSet:
    """The replicas of one pool.

    Attributes:
        processes: how many web processes share the replicas. Each takes its share of a
            replica's places, so that together they do not ask for more than it has.
        was_asked: since demand.py last told of it.
    """

    def __init__(self, pool: PoolConfig, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.pool = pool
        self._clock = clock
        self.replicas = [self._new(config, pool) for config in pool.replicas]
        self.index = PrefixIndex()
        self.on_placed: Callable[[str, str, Prefix], None] = lambda pool, replica, prefix: None
        self.processes = 1
        self.was_asked = False
        metrics.FAILOVERS.labels(pool.id)  # there from the start, so that its increase has a zero

    @property
    def revision(self) -> str:
        """Of the model, as its engines announce it; "" where none does."""
        found = {one.record.revision for one in self.replicas if one.record is not None}
        return " ".join(sorted(found))

    def adopt(self, pool: PoolConfig) -> None:
        """Go on as `pool` says now. Replicas that it still has keep their state; what runs at one
        that it has no more runs to its end, and is still probed until then."""
        known = {replica.config: replica for replica in self.replicas}
        kept = [
            known.pop(config) if config in known else self._new(config, pool)
            for config in pool.replicas
        ]
        for replica in kept:
            replica.is_leaving = False
        for replica in known.values():
            replica.is_leaving = True
        self.replicas = [*kept, *(left for left in known.values() if left.outstanding)]
        for name in {left.name for left in known.values()} - {one.name for one in kept}:
            self.index.forget(name)
        self.pool = pool

    def _new(self, config: ReplicaConfig, pool: PoolConfig) -> Replica:
        return Replica(config, pool.id, on_demand=pool.on_demand, clock=self._clock)

    def note(self, record_at: Callable[[str], EngineRecord | None]) -> None:
        """Take over what the replicas have announced, by their address."""
        for replica in self.replicas:
            before, replica.record = replica.record, record_at(replica.config.url)
            self._note_cache(replica, before)
        self.replicas = [one for one in self.replicas if one.outstanding or not one.is_leaving]

    def _note_cache(self, replica: Replica, before: EngineRecord | None) -> None:
        """How much it caches; and that it begins empty after a restart of it or of its core."""
        record = replica.record
        if record is None:
            return
        if before is None or before.capacity != record.capacity:
            capacity = record.capacity
            self.index.limit(replica.name, capacity.blocks * capacity.block_size)
        if before is not None and (before.id, before.load.prefix.restarts) != (
            record.id,
            record.load.prefix.restarts,
        ):
            self.index.forget(replica.name)

    @property
    def any_healthy(self) -> bool:
        return any(replica.available for replica in self.replicas)

    @property
    def takes_requests(self) -> bool:
        """Whether a new request may wait here: for a place, or for a replica to be started."""
        return self.any_healthy or self.pool.on_demand

    @property
    def is_in_use(self) -> bool:
        """Whether a choice runs here."""
        return any(replica.outstanding for replica in self.replicas)

    @property
    def places(self) -> int:
        """Choices that this process may run at one replica."""
        return -(-self.pool.max_concurrency // max(1, self.processes))

    def places_of(self, replica: Replica) -> int:
        """Choices that all processes may run there: what it has announced, else what the pool
        says; of one that has just come back as many as each of them may use so far."""
        record = replica.record
        announced = record.capacity.sequences if record is not None else 0
        places = min(announced, self.pool.max_concurrency) or self.pool.max_concurrency
        return min(places, replica.ramp.limit(self.places) * self.processes)

    @property
    def free_places(self) -> int:
        """Choices that this process may start right now, over all replicas: batches take no
        place from them."""
        return sum(
            max(0, replica.ramp.limit(self.places) - replica.counted)
            for replica in self.replicas
            if replica.available
        )

    def choose(
        self,
        *,
        weight: int,
        affinity: Prefix | None,
        avoid: Collection[Replica] = (),
        over_limit: bool = False,
        is_batch: bool = False,
    ) -> Replica | None:
        """The replica for a generation of `weight` choices; None when none has room.

        The pool's routing policy chooses among those that can take it (routing.py).

        Args:
            affinity: the beginning of its prompt, for policies that know caches.
            avoid: replicas that have failed this generation; taken only if there is no other.
            over_limit: for a generation that is under way: it has had its place.
            is_batch: for a batch: only where a place is left, whoever has the others.
        """
        able = [
            replica
            for replica in self.replicas
            if replica.available and (over_limit or self._room(replica, weight, is_batch))
        ]
        candidates = [replica for replica in able if replica not in avoid] or able
        # One that is only slow takes what nobody else has room for: slow is better than refused.
        candidates = [one for one in candidates if one.slow_breaker.allows()] or candidates
        if not candidates:
            return None
        chosen: Replica = POLICIES[self.pool.routing](candidates, affinity, self.index)
        chosen.sent()
        if affinity is not None and weight:
            self.index.note(chosen.name, affinity)
            self.on_placed(self.pool.id, chosen.name, affinity)
        return chosen

    def note_pace(self, replica: Replica, token_s: float) -> None:
        """An answer at `replica` takes so many seconds a token."""
        replica.pace.note(token_s)
        breaker = replica.slow_breaker
        before = breaker.state
        if is_slow(token_s, (one.pace for one in self.replicas if one is not replica)):
            breaker.failed()
        else:
            breaker.succeeded()
        if breaker.state != before:
            log.warning(
                "replica_pace",
                pool=self.pool.id,
                replica=replica.name,
                token_s=round(token_s, 3),
                breaker=breaker.state,
            )

    def placed_elsewhere(self, replica: str, prefix: Prefix) -> None:
        """Another web process has sent a prompt there."""
        if any(one.name == replica for one in self.replicas):
            self.index.note(replica, prefix)

    def _room(self, replica: Replica, weight: int, is_batch: bool) -> bool:
        taken = replica.outstanding if is_batch else replica.counted
        return not taken or taken + weight <= replica.ramp.limit(self.places)
