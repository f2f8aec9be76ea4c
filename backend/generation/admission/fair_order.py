"""Who is next among the organizations of one plan: each gets its turn, whatever it asks for.

Each waiting request has a turn. An organization's next request has the turn after its last one; one
that has nothing waiting comes in at the present turn, before the second of everybody else. The
present moves on with what is granted, by one when each waiting organization has had a place: so
newcomers without end do not keep back what waits.

Source: Goyal, Vin and Cheng 1996, "Start-time fair queueing".
"""

from collections import Counter
from uuid import UUID

_MAX_REMEMBERED = 1_024


class FairOrder:
    """The turns at one pool, under plans of one priority. It is forgotten when nobody waits."""

    def __init__(self) -> None:
        self._present = 0.0
        self._next: dict[UUID | None, float] = {}
        self._waiting: Counter[UUID | None] = Counter()

    def turn(self, organization: UUID | None) -> float:
        """Which a new request of `organization` would have; smaller is sooner."""
        return max(self._present, self._next.get(organization, self._present))

    def join(self, organization: UUID | None, weight: int) -> float:
        """The turn of a request that waits from now on. Its next one waits for `weight` more."""
        turn = self.turn(organization)
        self._next[organization] = turn + weight
        self._waiting[organization] += 1
        if len(self._next) > _MAX_REMEMBERED:
            self._next = {o: turn for o, turn in self._next.items() if turn > self._present}
        return turn

    def grant(self, organization: UUID | None, turn: float) -> None:
        """A request with `turn` has its place."""
        self._present = max(self._present + 1 / max(1, len(self._waiting)), turn)
        self.leave(organization)

    def leave(self, organization: UUID | None) -> None:
        """A request waits no more."""
        self._waiting[organization] -= 1
        if self._waiting[organization] <= 0:
            del self._waiting[organization]
        if not self._waiting:
            self._present = 0.0
            self._next.clear()
