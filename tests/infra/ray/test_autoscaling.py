"""What the policy makes of what Serve hands over. The rule: tests/infra/test_autoscaling.py."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from infra.ray.autoscaling import MAX_AGE_S, QueuePolicy

NOW = 1_000_000.0


@dataclass(frozen=True)
class Point:
    timestamp: float
    value: float


@dataclass(frozen=True)
class Context:
    """As Serve's, whose series are by metric, then by replica."""

    raw_metrics: Mapping[str, Mapping[str, list[Point]]]
    current_time: float | None = NOW
    current_num_replicas: int = 2
    target_num_replicas: int = 2


def series(ago: float, *, waiting: float, replica: str = "a") -> dict[str, dict[str, list[Point]]]:
    values = {"running": 4.0, "waiting": waiting, "wait_s": 0.0}
    return {name: {replica: [Point(NOW - ago, value)]} for name, value in values.items()}


def decided(context: Context) -> int:
    policy = QueuePolicy(min_replicas=1, max_replicas=9, places=4, target_use=0.75, max_wait_s=10.0)
    replicas, state = policy(context)
    assert state == {}
    return replicas


def test_all_replicas_run_and_the_newest_reading_tells_what_waits() -> None:
    metrics: dict[str, Any] = series(9.0, waiting=50.0)
    for name, points in series(1.0, waiting=2.0, replica="b").items():
        metrics[name] |= points
    assert decided(Context(metrics)) == 4, "4 + 4 run and 2 wait, for 3 places of each"


def test_replica_that_reports_no_more_counts_no_more() -> None:
    metrics: dict[str, Any] = series(MAX_AGE_S + 1, waiting=50.0)
    for name, points in series(1.0, waiting=2.0, replica="b").items():
        metrics[name] |= points
    assert decided(Context(metrics)) == 2


def test_long_wait_asks_for_more_than_the_places_do() -> None:
    metrics: dict[str, Any] = series(1.0, waiting=2.0)
    assert decided(Context(metrics)) == 2
    metrics["wait_s"] = {"a": [Point(NOW, 20.0)]}
    assert decided(Context(metrics)) == 4, "twice as long as allowed, for two replicas"


@pytest.mark.parametrize(
    "metrics",
    [{}, series(MAX_AGE_S + 1, waiting=50.0), {"waiting": {"a": [Point(NOW, 50.0)]}}],
    ids=["none", "old", "incomplete"],
)
def test_nothing_changes_while_the_queue_is_not_known(metrics: dict[str, Any]) -> None:
    assert decided(Context(metrics)) == 2
