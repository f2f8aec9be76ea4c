"""The fleet level: up to thousands of replicas and a day of traffic, interval by interval.

Real are the queue's order (`OrderedQueue`: `FairOrder` and the ranks), breaker and ramp of the
replicas that need one, `Retry-After`, the autoscaling rule, and the constants of the routing
policies. What replicas do in an interval is closed form (`replica_flow.py`). `exact.py` is the
level that it is held against.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from backend.generation.admission.queue import MAX_RETRY_AFTER_S
from backend.generation.admission.retry_after import Outage, spread
from backend.generation.run.attempts import MAX_FRUITLESS_ATTEMPTS, RECOVERY_S
from inference.config import SchedulerConfig
from infra.autoscaling import ScalingLimits
from infra.simulator.capacity import Capacity
from infra.simulator.engine import BLOCK_SIZE
from infra.simulator.fleet_health import FleetHealth
from infra.simulator.fleet_routing import Router
from infra.simulator.ledger import Ledger
from infra.simulator.ordered_queue import OrderedQueue
from infra.simulator.people import Source
from infra.simulator.replica_flow import Ints, ReplicaFlow
from infra.simulator.step_times import Floats, StepTimes
from infra.simulator.trace import PLANS

_NEAR_S = 4.0
_SERVED_OVER_S = 20.0
_NO_SEATS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class FleetSpec:
    """A pool of equal replicas in regions.

    Attributes:
        window_s: the interval.
        gateways: web processes; each has its own idea of loads, `announce_s` old.
        max_waiting: in the queue.
        regions: each region's part of the replicas, in order.
        scaling: None: all replicas serve all the time.
        follows_price: capacity moves to where its hour is cheaper.
        stall_s: from a replica's loss until its requests go on elsewhere.
    """

    times: StepTimes
    replicas: int
    routing: str = "prefix"
    places: int = 96
    max_waiting: int = 50_000
    scheduler: SchedulerConfig = field(default_factory=SchedulerConfig)
    window_s: float = 1.0
    gateways: int = 1
    announce_s: float = 1.0
    regions: tuple[float, ...] = (1.0,)
    has_breaker: bool = True
    has_ramp: bool = True
    scaling: ScalingLimits | None = None
    follows_price: bool = False
    stall_s: float = 5.0


Event = tuple[float, Callable[["Fleet"], None]]


class Fleet:
    """A run. `now` moves by windows."""

    def __init__(self, spec: FleetSpec, source: Source, ledger: Ledger, seed: int) -> None:
        random.seed(seed)  # what clients are told to wait
        self.spec, self.source, self.ledger = spec, source, ledger
        self.now = 0.0
        self._chance = chance = np.random.default_rng(seed)
        self.flow = ReplicaFlow(spec.times, spec.scheduler, spec.replicas, chance)
        self.router = Router(spec.routing, spec.replicas, spec.gateways, chance)
        self.health = FleetHealth(
            spec.replicas,
            lambda: self.now,
            places=spec.places,
            has_breaker=spec.has_breaker,
            has_ramp=spec.has_ramp,
        )
        self.capacity = Capacity(
            spec.replicas,
            spec.regions,
            hour_price=spec.times.hour_price * spec.times.gpus,
            start_s=spec.times.start_s,
            limits=spec.scaling,
            follows_price=spec.follows_price,
        )
        self.queue = OrderedQueue(spec.max_waiting)
        self._outage = Outage(lambda: self.now)
        self._priorities = list(PLANS.values())
        self._computing = _NO_SEATS  # their prompts
        self._near, self._far = _NO_SEATS, _NO_SEATS  # those that decode
        self._sorted_at = 0.0
        self._stranded: list[tuple[float, float, Ints]] = []  # since, from when on, who
        self._announced_at = -1.0
        self._served: list[tuple[float, int]] = []
        self._warm = np.zeros(spec.replicas, bool)
        self.most_waiting = 0

    def run(self, until_s: float, events: Sequence[Event] = ()) -> None:
        """Up to `until_s`, or until nobody asks any more and all answers have ended."""
        left = sorted(events, key=lambda event: event[0])
        while self.now < until_s and not self._is_over():
            while left and left[0][0] <= self.now:
                left.pop(0)[1](self)
            self._window(self.now, self.now + self.spec.window_s)

    @property
    def in_flight(self) -> int:
        """Requests that have been asked and have not ended."""
        stranded = sum(len(who) for _, _, who in self._stranded)
        at_replicas = len(self._computing) + len(self._near) + len(self._far)
        return at_replicas + stranded + len(self.queue)

    def _is_over(self) -> bool:
        return self.source.is_over and not self.in_flight

    def _window(self, begin: float, end: float) -> None:
        self.health.probe(self.flow.held)
        self.capacity.update(begin, len(self.queue), self._expected_wait_s(), self.flow.held)
        if begin - self._announced_at >= self.spec.announce_s:
            self._announced_at = begin
            self.router.note_announced(self.flow.held)
        self._move_stranded(begin)
        self._admit(self.source.due(begin, end), begin)
        self.flow.advance(begin, end)
        self._first_tokens(end)
        self._finish(end)
        self.flow.note_batches()
        self._record(begin, end)
        self.now = end

    # Admission.

    def _admit(self, new: Ints, now: float) -> None:
        seats = self.source.seats
        self.ledger.add(now, asked=len(new))
        serving = self.capacity.serving & self.health.available
        if not serving.any():
            self._refuse(new, now, [self._outage.retry_after() for _ in new])
            return
        self._outage.is_over()
        free = self._free(serving)
        if not len(self.queue) and len(new) <= free:
            self._send(new, np.maximum(seats.arrived[new], now))
            return
        refused = []
        for who in new.tolist():
            has_room = self.queue.join(
                who,
                self._priorities[seats.plan[who]],
                UUID(int=int(seats.organization[who])),
                float(seats.arrived[who]),
                free,
            )
            refused += [who] if not has_room else []
        granted = [self.queue.next() for _ in range(min(free, len(self.queue)))]
        if granted:
            who_next = np.array(granted)
            self._send(who_next, np.maximum(seats.arrived[who_next], now))
        if refused:
            wait_s = min(MAX_RETRY_AFTER_S, max(1.0, self._expected_wait_s() or 10.0))
            self._refuse(np.array(refused), now, [spread(wait_s) for _ in refused])

    def _free(self, serving: np.ndarray) -> int:
        room = np.maximum(0, self.health.limits - self.flow.held)
        return int(room[serving].sum())

    def _refuse(self, who: Ints, now: float, retry_after_s: Sequence[float]) -> None:
        self.ledger.add(now, refused=len(who))
        self.source.refused(who, now, np.array(retry_after_s, float))

    def _expected_wait_s(self) -> float | None:
        """As the shared queue's `Depth.wait_s`, of the last in line."""
        self._served = [one for one in self._served if self.now - one[0] <= _SERVED_OVER_S]
        rate = sum(count for _, count in self._served) / _SERVED_OVER_S
        return len(self.queue) / rate if rate else None

    def _send(self, who: Ints, at: Floats) -> None:
        """Each to a replica that has room; of those that all fail it, to another."""
        cached = self.source.seats.cached(who, self.flow.taken)
        gateways = self._chance.integers(0, self.spec.gateways, len(who))
        self.source.seats.gateway[who] = gateways
        self.router.note_limits(self.health.limits)
        for _ in range(MAX_FRUITLESS_ATTEMPTS):
            if not len(who):
                return
            serving = self.capacity.serving & self.health.available
            if not serving.any():
                self._stranded.append((self.now, self.now + self.spec.window_s, who))
                return
            able = serving & (self.flow.held < self.health.limits)
            chosen = self.router.choose(
                self.flow.held,
                able if able.any() else serving,
                self.flow.is_tight(),
                self.source.seats.conversation[who],
                self.source.seats.homes[who],
                cached,
                self.source.seats.gateway[who],
            )
            fails = self.health.sick[chosen]
            self._place(who[~fails], at[~fails], chosen[~fails], cached[~fails])
            self.health.failed(chosen[fails])
            who, at, cached = who[fails], at[fails] + self.health.FAILS_AFTER_S, cached[fails]
        self.ledger.add(self.now, failed=len(who))
        self.source.answered(who, at)

    def _place(self, who: Ints, at: Floats, chosen: Ints, at_homes: Floats) -> None:
        if not len(who):
            return
        seats = self.source.seats
        kept = np.where(seats.homes[who] == chosen[:, None], at_homes, 0.0).max(axis=1)
        shared = np.where(self._warm[chosen], seats.system[who], 0.0)
        cached = np.maximum(kept, shared) // BLOCK_SIZE * BLOCK_SIZE
        cached = np.minimum(cached, (seats.prompt[who] - 1) // BLOCK_SIZE * BLOCK_SIZE)
        self._warm[chosen] = True
        seats.replica[who] = chosen
        seats.settle(who)
        self.router.sent(seats.gateway[who], chosen, 1)
        seats.ends_at_step[who] = np.inf
        self.flow.prefill(seats, who, at, seats.prompt[who] - cached, cached)
        self._computing = np.concatenate([self._computing, who])
        fresh = ~seats.has_begun[who]
        self.ledger.add(
            self.now,
            input=float(seats.prompt[who[fresh]].sum()),
            cached=float(cached[fresh].sum()),
        )

    # What replicas have done in a window.

    def _first_tokens(self, end: float) -> None:
        seats = self.source.seats
        has = seats.first_at[self._computing] <= end
        who, self._computing = self._computing[has], self._computing[~has]
        if not len(who):
            return
        self.flow.begin_decoding(seats, who, end)
        first = who[~seats.has_begun[who]]
        self.ledger.begun(self.now, seats.first_at[first] - seats.arrived[first])
        seats.has_begun[who] = True
        self.health.answered(seats.replica[who])
        self._near = np.concatenate([self._near, who])

    def _finish(self, end: float) -> None:
        """Those whose replica has made all their steps. Few are looked at: of the others it is
        known that they go on for `_NEAR_S` at least."""
        seats, steps = self.source.seats, self.flow.steps
        if end >= self._sorted_at:
            self._sorted_at = end + _NEAR_S
            every = np.concatenate([self._near, self._far])
            left = seats.ends_at_step[every] - steps[seats.replica[every]]
            near = left < (_NEAR_S + 2 * self.spec.window_s) / self.spec.times.base_s[0]
            self._near, self._far = every[near], every[~near]
        where = seats.replica[self._near]
        over = steps[where] - seats.ends_at_step[self._near]
        done = over >= 0
        who, where = self._near[done], where[done]
        if not len(who):
            return
        self._near = self._near[~done]
        late_s = over[done] / np.maximum(self.flow.per_s[where], 1e-9)
        at = np.maximum(seats.first_at[who], end - np.minimum(late_s, end - self.now))
        self.flow.end(seats, who)
        self.router.sent(seats.gateway[who], where, -1)
        self.health.succeeded(where)
        self.ledger.add(self.now, completed=len(who), output=float(seats.answer[who].sum()))
        self._served.append((self.now, len(who)))
        seats.replica[who] = -1
        seats.has_begun[who] = False
        self.source.answered(who, at)

    def _record(self, begin: float, end: float) -> None:
        self.most_waiting = max(self.most_waiting, len(self.queue))
        span, serving = end - begin, self.capacity.serving & ~self.health.down
        self.ledger.add(
            begin,
            waiting_s=len(self.queue) * span,
            busy_s=float(self.flow.busy_s[serving].sum()),
            held_s=float(self.flow.held[serving].sum()) * span,
            ready_s=float(serving.sum()) * span,
            paid_s=float(self.capacity.paid.sum()) * span,
            dollars=self.capacity.dollars_per_s() * span,
        )
        self.flow.busy_s[:] = 0.0

    # Failures.

    def lose(self, which: np.ndarray) -> None:
        """Replicas are gone with all that they hold; their answers go on elsewhere."""
        seats = self.source.seats
        every = np.concatenate([self._computing, self._near, self._far])
        who = every[which[seats.replica[every]]]
        where = seats.replica[who]
        self.router.sent(seats.gateway[who], where, -1)
        left = seats.ends_at_step[who] - self.flow.steps[where]
        made = np.where(np.isfinite(left), np.floor(seats.answer[who] - left), 0.0)
        made = np.clip(made, 0.0, seats.answer[who] - 1)
        seats.prompt[who] += made
        seats.answer[who] -= made
        self.ledger.add(self.now, output=float(made.sum()))
        self._computing, self._near, self._far = (
            some[~which[seats.replica[some]]] for some in (self._computing, self._near, self._far)
        )
        self.flow.clear(which, self.now)
        self._warm[which] = False
        self.health.lose(which)
        if len(who):
            self._stranded.append((self.now, self.now + self.spec.stall_s, who))

    def bring_back(self, which: np.ndarray) -> None:
        """They are there again, with empty caches."""
        self.health.bring_back(which)

    def _move_stranded(self, now: float) -> None:
        stranded, self._stranded = self._stranded, []
        for since, ready_at, who in stranded:
            if ready_at > now:
                self._stranded.append((since, ready_at, who))
            elif now - since > RECOVERY_S + self.spec.stall_s:
                self.ledger.add(now, failed=len(who))
                self.source.seats.has_begun[who] = False
                self.source.answered(who, np.full(len(who), now))
            else:
                self._send(who, np.full(len(who), now))
