"""Room that is kept free of those who would soon lose it to others.

A full queue lets a newcomer in where it comes before the last, who leaves with a 503: after all the
time that it has waited. Where that happens again and again to one customer of one plan, its next
requests are refused at once while the last places of the queue are all that is left: those are
taken by the others, and nobody has to leave for them. The margin doubles each time, and halves
with HALVES_S of quiet.
"""

import time
from collections.abc import Callable
from uuid import UUID

PLACE_LOST = " Its place was taken by one that comes first."
"""What the refusal of a request says that had a place and lost it, where others never had one."""
HALVES_S = 4.0
_MAX_REMEMBERED = 1_024

Customer = tuple[int, UUID | None]
"""A plan's priority and an organization."""


class Margins:
    """Of one queue."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._of: dict[Customer, tuple[float, float]] = {}

    def of(self, customer: Customer) -> int:
        """How many places at the queue's end are not for a new request of `customer`."""
        return int(self._present(customer))

    def lost(self, customer: Customer, *, at_most: int) -> None:
        """A request of `customer` has lost its place to another one."""
        if len(self._of) >= _MAX_REMEMBERED:
            self._of = {known: noted for known, noted in self._of.items() if self.of(known)}
        grown = min(float(at_most), max(1.0, 2 * self._present(customer)))
        self._of[customer] = (grown, self._clock())

    def _present(self, customer: Customer) -> float:
        margin, since = self._of.get(customer, (0.0, 0.0))
        return margin * 0.5 ** ((self._clock() - since) / HALVES_S) if margin else 0.0
