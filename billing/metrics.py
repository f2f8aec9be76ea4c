"""Prometheus metrics of billing's own processes, served by `relay` and `aggregate` on request."""

from prometheus_client import Counter, Gauge, Histogram

OUTBOX_PUBLISHED = Counter("parley_outbox_published", "Outbox rows acknowledged by Kafka")
OUTBOX_WAITING = Gauge("parley_outbox_waiting", "Outbox rows not yet in Kafka")
OUTBOX_AGE = Gauge("parley_outbox_oldest_age_seconds", "Age of the oldest outbox row not in Kafka")
EVENTS = Counter("parley_usage_events", "Usage events read from Kafka", ["outcome"])
BATCH_SECONDS = Histogram("parley_usage_batch_seconds", "Time to store a batch of usage events")
AGGREGATION_LAG = Gauge(
    "parley_aggregation_lag_seconds", "Age of the oldest ledger record not in the rollups"
)
DIFFERENCES = Gauge(
    "parley_reconciliation_differences", "Organization hours whose sums differ, at the last run"
)
