"""A place that is asked for when it turns out to be needed: of a generation that was to get another
one's answer, and has to be computed after all."""

from collections.abc import Callable, Collection
from typing import Protocol

from backend.generation.admission.queue import Ticket
from backend.generation.pools.replicas import Replica


class Place(Protocol):
    """What a generation's task needs of its place: see Ticket."""

    @property
    def replica(self) -> Replica | None: ...

    async def granted(self) -> Replica: ...

    def move(self, failed: Collection[Replica]) -> Replica | None: ...

    def answered(self) -> None: ...

    def paced(self, replica: Replica, token_s: float) -> None: ...

    def release(self) -> None: ...


class LatePlace:
    """
    Args:
        take: gives a ticket of the pool's queue. Raises Overloaded.
    """

    def __init__(self, take: Callable[[], Ticket]) -> None:
        self._take = take
        self._ticket: Ticket | None = None

    @property
    def replica(self) -> Replica | None:
        return None if self._ticket is None else self._ticket.replica

    async def granted(self) -> Replica:
        self._ticket = self._take()
        return await self._ticket.granted()

    def move(self, failed: Collection[Replica]) -> Replica | None:
        return None if self._ticket is None else self._ticket.move(failed)

    def answered(self) -> None:
        if self._ticket is not None:
            self._ticket.answered()

    def paced(self, replica: Replica, token_s: float) -> None:
        if self._ticket is not None:
            self._ticket.paced(replica, token_s)

    def release(self) -> None:
        if self._ticket is not None:
            self._ticket.release()
