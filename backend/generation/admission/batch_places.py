"""Lines of batches that are admitted and wait for a place that is left over, in one process.

They stand in no queue with others: the next one is given a place in the moment in which one is
free and no request waits. The place counts for no other request (`Replica.counted`), which thus
waits as long as it would without any batch, and is served first by the engine.
"""

from collections import deque
from typing import Protocol

from backend.generation.pools.prefixes import Prefix
from backend.generation.pools.replicas import Replica, ReplicaSet
from backend.platform.errors import ParleyError

MAX_WAIT_S = 120.0
"""After which a line that others kept from its place is given back, to be begun anew later."""


class LineTicket(Protocol):
    """What waits here: queue.Ticket."""

    weight: int
    affinity: Prefix | None

    @property
    def settled(self) -> bool: ...

    def grant(self, replica: Replica) -> None: ...

    def refuse(self, error: ParleyError) -> None: ...


class BatchPlaces:
    """First come, first served."""

    def __init__(self, replicas: ReplicaSet) -> None:
        self._replicas = replicas
        self._waiting: deque[LineTicket] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def enter(self, ticket: LineTicket) -> None:
        self._waiting.append(ticket)

    def left(self, ticket: LineTicket) -> None:
        if ticket in self._waiting:
            self._waiting.remove(ticket)

    def take_all(self) -> list[LineTicket]:
        """Those who wait, who do so no more."""
        waiting = list(self._waiting)
        self._waiting.clear()
        return waiting

    def pump(self) -> None:
        """Give places that are left to those who wait. Only while no other request waits."""
        while self._waiting:
            ticket = self._waiting[0]
            replica = self._replicas.choose(
                weight=ticket.weight, affinity=ticket.affinity, is_batch=True
            )
            if replica is None:
                return
            self._waiting.popleft()
            if not ticket.settled:
                ticket.grant(replica)
