"""How many replicas are wanted, and that they go later than they come."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from infra.autoscaling import PoolLoad, ScalingLimits, replicas_wanted, stabilized

LIMITS = ScalingLimits(min_replicas=1, max_replicas=100, places=10, target_use=0.5)
IDLE = PoolLoad(waiting=0, running=0, expected_wait_s=None, replicas=1)


def test_idle_pool_keeps_its_least_replicas() -> None:
    assert replicas_wanted(IDLE, LIMITS) == 1


def test_places_are_taken_up_to_the_target() -> None:
    assert replicas_wanted(replace(IDLE, running=50), LIMITS) == 10


def test_long_wait_wants_more_than_places_alone() -> None:
    load = PoolLoad(waiting=5, running=100, expected_wait_s=3.0, replicas=20)
    assert replicas_wanted(load, LIMITS) == 30


def test_long_wait_at_most_doubles_what_is_ready() -> None:
    load = PoolLoad(waiting=50, running=100, expected_wait_s=600.0, replicas=20)
    assert replicas_wanted(load, LIMITS) == 40


@given(
    st.integers(0, 10_000),
    st.integers(0, 10_000),
    st.one_of(st.none(), st.floats(0, 1e4)),
    st.integers(0, 200),
)
def test_limits_hold_and_more_load_never_wants_less(
    waiting: int, running: int, wait_s: float | None, replicas: int
) -> None:
    load = PoolLoad(waiting, running, wait_s, replicas)
    wanted = replicas_wanted(load, LIMITS)
    assert LIMITS.min_replicas <= wanted <= LIMITS.max_replicas
    assert replicas_wanted(replace(load, running=running + 1), LIMITS) >= wanted
    assert replicas_wanted(replace(load, waiting=waiting + 1), LIMITS) >= wanted


def test_replicas_come_at_once_and_go_after_the_window() -> None:
    count, history = stabilized([], 0.0, 4, 60.0)
    assert count == 4
    count, history = stabilized(history, 10.0, 9, 60.0)
    assert count == 9
    count, history = stabilized(history, 60.0, 2, 60.0)
    assert count == 9
    count, history = stabilized(history, 75.0, 2, 60.0)
    assert count == 2
