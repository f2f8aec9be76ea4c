"""The gateway's queue for many who wait: the order of `AdmissionQueue`, without its walk over all
tickets, and with the real `FairOrder` for the turns of a plan's organizations.

Each plan keeps its tickets twice, by rank and by turn. One that is given a place swaps its rank
with the one that has the first, as there. tests/infra/simulator compares the two, grant by grant
and refusal by refusal.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from dataclasses import dataclass, field
from uuid import UUID

from backend.generation.admission.fair_order import FairOrder
from backend.generation.admission.queue import AGEING_S, PLAN_MAY_HOLD

Rank = tuple[float, int]


@dataclass(slots=True)
class _Plan:
    by_rank: list[tuple[Rank, int]] = field(default_factory=list)
    by_turn: list[tuple[float, Rank, int]] = field(default_factory=list)
    turns: dict[int, float] = field(default_factory=dict)
    organizations: dict[int, UUID] = field(default_factory=dict)
    order: FairOrder = field(default_factory=FairOrder)

    def add(self, who: int, organization: UUID, rank: Rank) -> None:
        self.put(who, organization, rank, self.order.join(organization, 1))

    def put(self, who: int, organization: UUID, rank: Rank, turn: float) -> None:
        self.turns[who] = turn
        self.organizations[who] = organization
        insort(self.by_rank, (rank, who))
        insort(self.by_turn, (turn, rank, who))

    def take_out(self, at_turn: int, at_rank: int) -> tuple[int, float, UUID, Rank]:
        """Who has that place by turn leaves, with that rank: its owner gets the leaver's."""
        rank, other = self.by_rank.pop(at_rank)
        turn, own_rank, who = self.by_turn.pop(at_turn)
        if other != who:
            self.by_rank[bisect_left(self.by_rank, (own_rank, who))] = (own_rank, other)
            its_turn = self.turns[other]
            del self.by_turn[bisect_left(self.by_turn, (its_turn, rank, other))]
            insort(self.by_turn, (its_turn, own_rank, other))
        del self.turns[who]
        return who, turn, self.organizations.pop(who), rank


class OrderedQueue:
    """Who waits is an int that the caller knows it by."""

    def __init__(self, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self._plans: defaultdict[int, _Plan] = defaultdict(_Plan)
        self._number = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def join(
        self, who: int, priority: int, organization: UUID, now: float, free_places: int
    ) -> bool:
        """Whether there is room for a new request, which waits then.

        Args:
            free_places: that nobody has: those who wait for them take no room in the queue.
        """
        self._number += 1
        plan, most = self._plans[priority], self._max_waiting
        rank = (now + priority * AGEING_S, self._number)
        if len(plan.by_rank) >= PLAN_MAY_HOLD * most + free_places:
            return False
        # Most often fewer wait than may stand before it, and nobody needs to look who they are.
        if self._count >= most + free_places:
            before = self._before(priority, rank, plan.order.turn(organization))
            if before >= most + free_places:
                return False
        plan.add(who, organization, rank)
        self._count += 1
        self._first()
        return True

    def next(self) -> int:
        """Who has the next place: whose turn it is, in the plan that has the first rank."""
        plan = self._first()
        who, turn, organization, _ = plan.take_out(0, 0)
        plan.order.grant(organization, turn)
        self._count -= 1
        if self._count:
            self._first()
        return who

    def _first(self) -> _Plan:
        """The plan with the first rank, whose first by turn has that rank from then on: as the
        gateway does whenever it looks, also where no place is free."""
        waiting = (plan for plan in self._plans.values() if plan.by_rank)
        plan = min(waiting, key=lambda one: one.by_rank[0])
        if plan.by_rank[0][1] != plan.by_turn[0][2]:
            turn = plan.by_turn[0][0]
            organization = plan.organizations[plan.by_turn[0][2]]
            who, _, _, rank = plan.take_out(0, 0)
            plan.put(who, organization, rank, turn)
        return plan

    def _before(self, priority: int, rank: Rank, turn: float) -> int:
        """How many are before a new one."""
        return sum(
            bisect_right(plan.by_turn, turn, key=lambda ticket: ticket[0])
            if its_priority == priority
            else bisect_right(plan.by_rank, rank, key=lambda ticket: ticket[0])
            for its_priority, plan in self._plans.items()
        )
