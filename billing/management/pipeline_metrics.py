"""Gauges of the way from the ledger to the rollups, read from the database.

The relay and the aggregator each export all of them: when one is dead, the other still tells how
much waits for it.
"""

from datetime import UTC, datetime

from billing import metrics
from billing.aggregator.lag import aggregation_lag_s
from billing.models import ReconciliationRun
from billing.relay import outbox


def refresh() -> None:
    count, age = outbox.waiting()
    metrics.OUTBOX_WAITING.set(count)
    metrics.OUTBOX_AGE.set(age)
    metrics.AGGREGATION_LAG.set(aggregation_lag_s())
    run = ReconciliationRun.objects.first()
    if run is not None:
        metrics.DIFFERENCES.set(run.differing)
        metrics.RECONCILIATION_AGE.set((datetime.now(UTC) - run.started_at).total_seconds())
