"""How many replicas a pool should have: pure functions of what its queue and its replicas say.

Whoever starts and ends engines asks here: the Ray policy, and the simulator, which shows what a
rule does in a day of traffic before it meets one. Nothing here knows a cluster or a clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True, slots=True)
class PoolLoad:
    """A pool as its gateways see it (metrics `parley_queue_depth`, `parley_queue_wait_seconds`).

    Attributes:
        waiting: generations in its queue.
        running: generations at its replicas.
        expected_wait_s: how long the last in the queue will probably wait; None: not known.
        replicas: that are ready, not those that start.
    """

    waiting: int
    running: int
    expected_wait_s: float | None
    replicas: int


@dataclass(frozen=True, slots=True)
class ScalingLimits:
    """What a pool's owner decides.

    Attributes:
        places: generations that a replica runs at once.
        target_use: the part of all places that is to be taken: what is left over takes the load
            that comes while a further replica starts.
        max_wait_s: nobody shall wait longer, as far as replicas can help.
    """

    min_replicas: int
    max_replicas: int
    places: int
    target_use: float = 0.7
    max_wait_s: float = 2.0


MAX_GROWTH = 2.0
"""A long wait at most doubles the replicas that are ready: while new ones start, the queue goes on
growing, and the wait alone would ask for more each time it is looked at."""


def replicas_wanted(load: PoolLoad, limits: ScalingLimits) -> int:
    """Replicas for what runs and waits now, within the limits.

    As many as have places for all of it at `target_use`; more when those who wait will do so for
    longer than `max_wait_s`, in proportion (Kubernetes' HorizontalPodAutoscaler: wanted = present x
    measured / target). The larger of the two counts.
    """
    wanted = ceil((load.running + load.waiting) / (limits.places * limits.target_use))
    if load.waiting and (wait_s := load.expected_wait_s) is not None:
        growth = min(MAX_GROWTH, wait_s / limits.max_wait_s)
        if growth > 1:
            wanted = max(wanted, ceil(max(1, load.replicas) * growth))
    return min(limits.max_replicas, max(limits.min_replicas, wanted))


Wish = tuple[float, int]
"""When, and how many were wanted."""


def stabilized(
    history: Sequence[Wish], now: float, wanted: int, window_s: float
) -> tuple[int, list[Wish]]:
    """The most that was wanted in the last `window_s` seconds, and the history to pass next time.

    So capacity comes at once and goes only when it was not missed for that long: a start takes
    minutes and empties a cache. Source: the scale-down stabilization window of Kubernetes'
    HorizontalPodAutoscaler.
    """
    recent = [wish for wish in history if now - wish[0] < window_s]
    recent.append((now, wanted))
    return max(count for _, count in recent), recent
