"""Which replicas are paid for and which of these serve: the autoscaling rule applied to a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from infra.autoscaling import PoolLoad, ScalingLimits, Wish, replicas_wanted, stabilized
from infra.simulator.replica_flow import Ints

LOOKS_EVERY_S = 15.0
"""As Kubernetes' HorizontalPodAutoscaler."""
GOES_AFTER_S = 300.0
MOVES_AT_ONCE = 0.02
"""The part of all replicas that a look moves to a cheaper region."""
_WORTH_MOVING = 1.2


class State(IntEnum):
    OFF = 0
    STARTING = 1
    SERVING = 2
    DRAINING = 3


class Capacity:
    """The replicas of all regions.

    Attributes:
        region: of each replica, by number.
        prices: of each region, US dollars for a replica's hour.
    """

    def __init__(
        self,
        count: int,
        regions: Sequence[float],
        *,
        hour_price: float,
        start_s: float,
        limits: ScalingLimits | None,
        follows_price: bool,
    ) -> None:
        bounds = np.cumsum(np.array(regions) / sum(regions)) * count
        self.region = np.searchsorted(bounds, np.arange(count), side="right")
        self.region = np.minimum(self.region, len(regions) - 1)
        self.prices = np.full(len(regions), hour_price)
        self._start_s = start_s
        self._limits = limits
        self._follows_price = follows_price
        self._state = np.full(count, State.SERVING)
        self._ready_at = np.zeros(count)
        self._looked_at = -LOOKS_EVERY_S
        self._history: list[Wish] = []

    @property
    def serving(self) -> np.ndarray:
        return np.asarray(self._state == State.SERVING)

    @property
    def paid(self) -> np.ndarray:
        return np.asarray(self._state != State.OFF)

    def dollars_per_s(self) -> float:
        return float(self.prices[self.region[self.paid]].sum()) / 3600

    def update(self, now: float, waiting: int, wait_s: float | None, held: Ints) -> None:
        """Starts that are done, drains that are empty, and the rule when it is time to look."""
        if self._limits is None:
            return
        self._state[(self._state == State.STARTING) & (self._ready_at <= now)] = State.SERVING
        self._state[(self._state == State.DRAINING) & (held == 0)] = State.OFF
        if now - self._looked_at < LOOKS_EVERY_S:
            return
        self._looked_at = now
        ready = int(self.serving.sum())
        load = PoolLoad(waiting, int(held.sum()), wait_s, ready)
        wanted = replicas_wanted(load, self._limits)
        wanted, self._history = stabilized(self._history, now, wanted, GOES_AFTER_S)
        starting = int((self._state == State.STARTING).sum())
        if wanted > ready + starting:
            self._start(wanted - ready - starting, now)
        elif ready > wanted:
            self._drain(ready - wanted, held)
        elif self._follows_price and not starting:
            self._move(now, wanted)

    def _start(self, count: int, now: float) -> None:
        """The cheapest first; what is draining is cheaper still."""
        order = np.argsort(self.prices[self.region], kind="stable")
        draining = order[self._state[order] == State.DRAINING][:count]
        self._state[draining] = State.SERVING
        off = order[self._state[order] == State.OFF][: count - len(draining)]
        self._state[off] = State.STARTING
        self._ready_at[off] = now + self._start_s

    def _drain(self, count: int, held: Ints) -> None:
        """The dearest first, and of these the emptiest."""
        order = np.lexsort((held, -self.prices[self.region]))
        self._state[order[self._state[order] == State.SERVING][:count]] = State.DRAINING

    def _move(self, now: float, wanted: int) -> None:
        """Start some where it is cheaper; the dearest are drained when those serve."""
        off = self._state == State.OFF
        if not off.any():
            return
        cheapest = self.prices[self.region[off]].min()
        dear = self.serving & (self.prices[self.region] > _WORTH_MOVING * cheapest)
        count = min(int(dear.sum()), int(off.sum()), max(1, int(wanted * MOVES_AT_ONCE)))
        if count:
            self._start(count, now)
