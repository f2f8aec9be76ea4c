"""An admission queue with a clock of its own, for tests of who is let in."""

from dataclasses import replace
from uuid import UUID

from backend.generation.admission.queue import AdmissionQueue, Ticket
from backend.generation.pools.prefixes import Prefix
from backend.generation.pools.replicas import ReplicaSet
from infra.load.upstream import SyntheticUpstream
from tests.support.gateway import pools_of


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def replica_set(replicas: int, places: int) -> ReplicaSet:
    """So many healthy replicas, each with so many places."""
    upstreams = [SyntheticUpstream() for _ in range(replicas)]
    for number, upstream in enumerate(upstreams):
        upstream.port = 1000 + number
    pool = replace(pools_of(*upstreams).models[0], max_concurrency=places)
    made = ReplicaSet(pool)
    for replica in made.replicas:
        replica.mark(True, "")
    return made


def queue_of(
    *, replicas: int = 1, places: int = 1, max_waiting: int = 100
) -> tuple[AdmissionQueue, Clock]:
    clock = Clock()
    made = replica_set(replicas, places)
    return AdmissionQueue(made, max_waiting=max_waiting, clock=clock), clock


def join(
    queue: AdmissionQueue, priority: int = 5, *, of: UUID | None = None, **options: str
) -> Ticket:
    name = options.get("affinity")
    affinity = Prefix(name.encode()) if name else None
    ticket = queue.reserve(priority=priority, weight=1, affinity=affinity, organization=of)
    queue.enter(ticket)
    return ticket
