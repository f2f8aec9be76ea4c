"""Prometheus figures of safety decisions; each process counts its own."""

from django.core.cache import cache
from prometheus_client import Counter, Gauge, Histogram

from safety.audit.drift import CACHE_KEY
from safety.types import SafetyDecision

DECISIONS = Counter(
    "parley_safety_decisions_total",
    "Safety decisions by stage, action and deciding layer.",
    ["stage", "action", "layer"],
)
CATEGORIES = Counter(
    "parley_safety_categories_total",
    "Categories over their threshold, by stage and deciding layer.",
    ["stage", "category", "layer"],
)
FAILURES = Counter(
    "parley_safety_layer_failures_total", "Decisions made without a layer that failed.", ["layer"]
)
SECONDS = Histogram(
    "parley_safety_check_seconds",
    "Time that a check took, an answer's chunks together.",
    ["stage"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0),
)
DRIFT = Gauge(
    "parley_safety_block_rate_drift",
    "The last hour's share of blocked prompts against the week before, in standard errors.",
    multiprocess_mode="mostrecent",
)


async def drift_refresh() -> None:
    """Take over what the scheduled check has measured; 0 where it could not tell."""
    DRIFT.set(await cache.aget(CACHE_KEY) or 0.0)


def decision_count(decision: SafetyDecision) -> None:
    """Count one decision."""
    DECISIONS.labels(decision.stage, str(decision.action), decision.layer).inc()
    for category in decision.categories:
        CATEGORIES.labels(decision.stage, category, decision.layer).inc()
    for layer in decision.failed:
        FAILURES.labels(layer).inc()
    SECONDS.labels(decision.stage).observe(decision.latency_ms / 1e3)
