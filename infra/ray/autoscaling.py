"""How many replicas a pool wants, by the product's own queue: a policy of Ray Serve's autoscaler.

Serve counts requests that pass its proxy; ours do not. So every replica reports what its engine
runs and what it read of the queue (`record_autoscaling_stats`): what all run, and the newest
reading, are what `infra/autoscaling.py` makes a number of. Bounds and delays are Serve's.
Nothing here imports Ray: what Serve hands over is known by its attributes.
"""

from __future__ import annotations

from typing import Any, Protocol

from infra.autoscaling import PoolLoad, ScalingLimits, replicas_wanted

MAX_AGE_S = 30.0
"""An older reading says nothing: Redis was away, or no web process lived."""


class Context(Protocol):
    """What the policy takes of Serve's AutoscalingContext."""

    @property
    def raw_metrics(self) -> Any: ...
    @property
    def current_time(self) -> float | None: ...
    @property
    def current_num_replicas(self) -> int: ...
    @property
    def target_num_replicas(self) -> int: ...


class QueuePolicy:
    """The `policy_function` of a pool; its arguments are those of `ScalingLimits`."""

    def __init__(self, **limits: Any) -> None:
        self._limits = ScalingLimits(**limits)

    def __call__(self, context: Context) -> tuple[int, dict[str, Any]]:
        load = newest_load(context)
        if load is None:
            # A guess would start GPUs, or end them under load.
            return context.target_num_replicas, {}
        return replicas_wanted(load, self._limits), {}


def newest_load(context: Context) -> PoolLoad | None:
    """From the newest report of each replica; None where no report of the queue is new enough."""
    now = context.current_time
    reports: dict[str, list[tuple[float, float]]] = {}
    for name, replicas in (context.raw_metrics or {}).items():
        last = [points[-1] for points in replicas.values() if points]
        reports[name] = [
            (point.timestamp, point.value)
            for point in last
            if now is None or now - point.timestamp <= MAX_AGE_S
        ]
    running, waiting, wait_s = (reports.get(name) for name in ("running", "waiting", "wait_s"))
    if not running or not waiting or not wait_s:
        return None
    return PoolLoad(
        waiting=int(max(waiting)[1]),
        running=int(sum(value for _, value in running)),
        expected_wait_s=max(wait_s)[1] or None,
        replicas=context.current_num_replicas,
    )
