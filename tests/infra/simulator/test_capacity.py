"""The scaling rule applied: replicas start, drain and move to where they cost less."""

import numpy as np

from infra.autoscaling import ScalingLimits
from infra.simulator.capacity import GOES_AFTER_S, LOOKS_EVERY_S, Capacity

LIMITS = ScalingLimits(min_replicas=2, max_replicas=10, places=10, target_use=0.5)
START_S = 60.0


def _capacity(*, follows_price: bool = False) -> Capacity:
    return Capacity(
        10,
        (0.5, 0.5),
        hour_price=4.0,
        start_s=START_S,
        limits=LIMITS,
        follows_price=follows_price,
    )


def _run(capacity: Capacity, begin: float, seconds: float, running: int) -> float:
    """Look again and again while so many run, spread over those that serve; the time after."""
    now = begin
    while now < begin + seconds:
        serving = capacity.serving
        held = np.where(serving, running // max(1, int(serving.sum())), 0)
        capacity.update(now, 0, None, held)
        now += LOOKS_EVERY_S
    return now


def test_idle_replicas_go_after_the_window_and_come_back_after_their_start() -> None:
    capacity = _capacity()
    now = _run(capacity, 0.0, 2 * GOES_AFTER_S, 8)
    assert capacity.serving.sum() == capacity.paid.sum() == LIMITS.min_replicas
    capacity.update(now, 0, None, np.where(capacity.serving, 20, 0))
    assert (capacity.serving.sum(), capacity.paid.sum()) == (2, 8)
    capacity.update(now + START_S, 0, None, np.where(capacity.serving, 20, 0))
    assert capacity.serving.sum() == 8


def test_draining_replica_is_paid_until_it_is_empty() -> None:
    capacity = _capacity()
    capacity.update(0.0, 0, None, np.zeros(10, int))
    held = np.ones(10, int)
    capacity.update(GOES_AFTER_S + 1, 0, None, held)
    assert capacity.serving.sum() == 2
    capacity.update(GOES_AFTER_S + 2, 0, None, held)
    assert capacity.paid.sum() == 10
    capacity.update(GOES_AFTER_S + 3, 0, None, np.zeros(10, int))
    assert capacity.paid.sum() == 2


def test_capacity_moves_to_the_cheaper_region_only_where_it_follows_prices() -> None:
    dollars = {}
    for follows in (False, True):
        capacity = _capacity(follows_price=follows)
        now = _run(capacity, 0.0, 2 * GOES_AFTER_S, 20)
        served = capacity.serving.sum()
        serving_region = int(capacity.region[capacity.serving][0])
        capacity.prices[serving_region] *= 3
        _run(capacity, now, 4 * GOES_AFTER_S, 20)
        assert capacity.serving.sum() == served
        dollars[follows] = capacity.dollars_per_s()
    assert dollars[True] < dollars[False] / 2
