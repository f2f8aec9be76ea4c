"""When beat runs billing's tasks, and in which queue; `backend.settings` adds this to its own.
Plain data."""

from typing import Any

from celery.schedules import crontab

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "billing-reconcile": {"task": "billing.tasks.reconcile_recent", "schedule": 300.0},
    "billing-check-budgets": {"task": "billing.tasks.check_budgets", "schedule": 60.0},
    "billing-expire-credit": {"task": "billing.tasks.expire_credit", "schedule": 3600.0},
    "billing-deliver-webhooks": {
        "task": "billing.tasks.deliver_webhooks",
        "schedule": 10.0,
    },
    # Some hours after midnight UTC: generations that began last month have ended by then.
    "billing-close-month": {
        "task": "billing.tasks.close_month",
        "schedule": crontab(minute="15", hour="3"),
    },
    "billing-collect-invoices": {"task": "billing.tasks.collect_invoices", "schedule": 3600.0},
    "billing-make-partitions": {"task": "billing.tasks.make_partitions", "schedule": 86400.0},
    "billing-purge-engine-hours": {"task": "billing.tasks.purge_engine_hours", "schedule": 86400.0},
    "billing-purge-outbox": {"task": "billing.tasks.purge_outbox", "schedule": 3600.0},
}

# Customers' servers are called by the process `webhooks` alone, so that they hold up nothing else.
TASK_ROUTES = {
    "billing.tasks.deliver_webhooks": {"queue": "webhooks"},
    "billing.*": {"queue": "money"},
}
