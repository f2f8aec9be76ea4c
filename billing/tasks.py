"""Celery tasks of billing; `schedule.py` says when beat runs them."""

from datetime import timedelta

from django.utils import timezone

from backend.platform.pages import delete_in_pages
from backend.platform.partitions import make_months
from backend.platform.periodic import periodic_task
from billing.budgets import alerts, credit_services
from billing.budgets.credit import organizations_with_expired_credit
from billing.engines.hours import engine_hours_purge
from billing.invoices.services import close_and_issue_month
from billing.models import OutboxEvent
from billing.partitions import TABLES
from billing.payments import dunning
from billing.periods import month_of
from billing.plans import months_with_fees
from billing.reconciliation import watch
from billing.webhooks import delivery

PUBLISHED_RETENTION = timedelta(days=7)


@periodic_task()
def purge_outbox() -> int:
    """Delete outbox rows that Kafka has had for a week; the ledger can write them again."""
    old = OutboxEvent.objects.filter(published_at__lt=timezone.now() - PUBLISHED_RETENTION)
    return delete_in_pages(old, by="published_at")


@periodic_task()
def make_partitions() -> list[str]:
    """Make the partitions of the next months; until then their rows lie in the default one."""
    now = timezone.now()
    return [made for table in TABLES for made in make_months(table, now=now)]


@periodic_task()
def purge_engine_hours() -> int:
    """Delete engines' hours of more than a year ago."""
    return engine_hours_purge(now=timezone.now())


@periodic_task()
def reconcile_recent() -> dict[str, float]:
    """Compare ledger, events and rollups; send again what is missing; alert if it stays."""
    run = watch.reconcile_recent()
    return {"differing": run.differing, "republished": run.republished, "lag_s": run.lag_s}


@periodic_task()
def check_budgets() -> int:
    """Alert where a budget has newly reached a threshold."""
    return len(alerts.check_budgets())


@periodic_task()
def expire_credit() -> int:
    """Write off what is left of grants that have expired."""
    now = timezone.now()
    return sum(
        credit_services.expire_grants(organization_id, now=now)
        for organization_id in organizations_with_expired_credit(now=now)
    )


@periodic_task(at_once=2)
def deliver_webhooks() -> int:
    """Send webhooks that are due. In a queue and a process of its own (`schedule.py`): it waits for
    customers' servers."""
    return delivery.deliver_due()


@periodic_task()
def collect_invoices() -> dict[str, int]:
    """Mail, charge and remind of issued invoices; suspend customers that were warned in vain."""
    return dunning.collect(now=timezone.now())


@periodic_task()
def close_month() -> dict[str, object]:
    """Close the month before this one and issue its invoices; before it earlier ones that still
    have fees of plans, where no run has closed them. Safe to run every day: a month
    that is closed stays as it is, and a run that failed half-way goes on where it stopped."""
    now = timezone.now()
    last_month = month_of(month_of(now).start - timedelta(days=1))
    issued = 0
    problems: list[str] = []
    earlier = [month for month in months_with_fees(now) if month.start < last_month.start]
    for month in (*earlier, last_month):
        done, left_out = close_and_issue_month(month=month, now=now)
        issued, problems = issued + done, problems + left_out
    return {"month": last_month.name, "issued": issued, "problems": problems}
