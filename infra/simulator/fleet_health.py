"""Which replicas of a fleet take work: the real breaker and ramp, for those that need one.

A replica whose generations all succeed has a closed breaker, and one that was never away no ramp;
so only replicas that fail, or come back, get the objects.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from backend.generation.pools.breaker import Breaker
from backend.generation.pools.health import PROBE_INTERVAL_S
from backend.generation.pools.ramp import Ramp
from infra.simulator.replica_flow import Ints


class FleetHealth:
    """As the gateways see it.

    Attributes:
        available: a generation may go there.
        limits: how many may be there at once.
        down: it is gone, and nobody may have noticed.
        sick: it answers its probes and fails every generation.
        tries_failed: generations that were sent to such.
    """

    FAILS_AFTER_S = 0.2

    def __init__(
        self,
        count: int,
        clock: Callable[[], float],
        *,
        places: int,
        has_breaker: bool,
        has_ramp: bool,
    ) -> None:
        self._clock = clock
        self._places = places
        self._has_breaker, self._has_ramp = has_breaker, has_ramp
        self.down = np.zeros(count, bool)
        self.sick = np.zeros(count, bool)
        self._marked = np.ones(count, bool)
        self._allowed = np.ones(count, bool)
        self.limits = np.full(count, places, np.int64)
        self._breakers: dict[int, Breaker] = {}
        self._ramps: dict[int, Ramp] = {}
        self._probed_at = -1.0
        self.tries_failed = 0

    @property
    def available(self) -> np.ndarray:
        return np.asarray(self._marked & self._allowed)

    def probe(self, held: Ints) -> None:
        """A round of probes when it is time for one; and what breakers and ramps say now."""
        now = self._clock()
        if now - self._probed_at >= PROBE_INTERVAL_S:
            self._probed_at = now
            back = np.flatnonzero(~self._marked & ~self.down)
            self._marked[:] = ~self.down
            for number in back.tolist():
                self._begin_ramp(number, int(held[number]))
        for number, breaker in self._breakers.items():
            self._allowed[number] = breaker.allows()

    def lose(self, which: np.ndarray) -> None:
        self.down |= which
        self._marked &= ~which

    def bring_back(self, which: np.ndarray) -> None:
        self.down &= ~which

    def failed(self, where: Ints) -> None:
        """Generations failed there: as `Replica.failed`."""
        self.tries_failed += len(where)
        for number in where.tolist():
            if self._has_breaker:
                breaker = self._breakers.setdefault(number, Breaker(self._clock))
                breaker.sent()
                breaker.failed()
                self._allowed[number] = breaker.allows()
            if number in self._ramps:
                self._ramps[number].failed()
                self._note_limit(number)
            self._marked[number] = False

    def succeeded(self, where: Ints) -> None:
        if not self._breakers:
            return
        for number in where[np.isin(where, list(self._breakers))].tolist():
            self._breakers[number].succeeded()
            self._allowed[number] = True

    def answered(self, where: Ints) -> None:
        """Answers have begun there."""
        if not self._ramps:
            return
        for number in where[np.isin(where, list(self._ramps))].tolist():
            if number in self._ramps:
                self._ramps[number].answered()
                self._note_limit(number)

    def _begin_ramp(self, number: int, held: int) -> None:
        if self._has_ramp:
            ramp = self._ramps.setdefault(number, Ramp())
            ramp.begin(held)
            self._note_limit(number)

    def _note_limit(self, number: int) -> None:
        ramp = self._ramps[number]
        self.limits[number] = ramp.limit(self._places)
        if not ramp.is_under_way:
            del self._ramps[number]
