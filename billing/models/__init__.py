"""Tables of `billing`, one file a noun."""

from billing.models.budgets import Budget
from billing.models.outbox import OutboxEvent
from billing.models.prices import Price
from billing.models.reconciliation import ReconciliationRun
from billing.models.usage import UsageEvent, UsageRecord, UsageRollup, UsageState

__all__ = [
    "Budget",
    "OutboxEvent",
    "Price",
    "ReconciliationRun",
    "UsageEvent",
    "UsageRecord",
    "UsageRollup",
    "UsageState",
]
