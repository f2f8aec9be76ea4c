"""Series of metrics, each looked up once.

`metric.labels(…)` checks and joins its labels anew each time, under a lock, half a dozen calls; a
generation counts in two dozen series, always the same ones. The series are kept here for as long as
the metrics keep them themselves: for good.
"""

from functools import cache
from typing import Protocol, TypeVar, cast

from prometheus_client.metrics import MetricWrapperBase

Metric = TypeVar("Metric", bound=MetricWrapperBase)


class _Series(Protocol):
    def __call__(self, metric: Metric, /, *labels: str) -> Metric: ...


def _series(metric: MetricWrapperBase, *labels: str) -> MetricWrapperBase:
    return metric.labels(*labels)


series = cast(_Series, cache(_series))
"""`metric` with these labels."""
