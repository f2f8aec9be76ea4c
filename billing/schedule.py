"""When beat runs billing's tasks; `backend.settings` adds this to its schedule. Plain data."""

from typing import Any

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "billing-reconcile": {"task": "billing.tasks.reconcile_recent", "schedule": 300.0},
    "billing-check-budgets": {"task": "billing.tasks.check_budgets", "schedule": 60.0},
    "billing-expire-credit": {"task": "billing.tasks.expire_credit", "schedule": 3600.0},
    "billing-purge-outbox": {"task": "billing.tasks.purge_outbox", "schedule": 3600.0},
}
