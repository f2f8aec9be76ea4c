"""Prometheus metrics of billing's own processes, served by `relay`, `aggregate` and
`detect_abuse` on request."""

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
RECONCILIATION_AGE = Gauge(
    "parley_reconciliation_age_seconds", "Time since the last run, which beat and a worker make"
)
DETECTOR_EVENTS = Counter("parley_abuse_events", "Usage events read by the abuse detector")
DETECTOR_SECONDS = Histogram("parley_abuse_batch_seconds", "Time to score a batch of usage events")
FLAGGED = Counter("parley_abuse_flags", "Flags that the abuse detector has opened")
OPEN_FLAGS = Gauge("parley_abuse_open_flags", "Abuse flags that are open")
