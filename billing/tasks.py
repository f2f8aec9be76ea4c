"""Celery tasks of billing; `schedule.py` says when beat runs them."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from billing.budgets import alerts, credit_services
from billing.models import CreditEntry, CreditKind, OutboxEvent
from billing.reconciliation import watch

PUBLISHED_KEPT = timedelta(days=7)


@shared_task
def purge_outbox() -> int:
    """Forget outbox rows that Kafka has had for a week; the ledger can write them again."""
    deleted, _ = OutboxEvent.objects.filter(
        published_at__lt=timezone.now() - PUBLISHED_KEPT
    ).delete()
    return deleted


@shared_task
def reconcile_recent() -> dict[str, float]:
    """Compare ledger, events and rollups; send again what is missing; alert if it stays."""
    run = watch.reconcile_recent()
    return {"differing": run.differing, "republished": run.republished, "lag_s": run.lag_s}


@shared_task
def check_budgets() -> int:
    """Alert where a budget has newly reached a threshold."""
    return len(alerts.check_budgets())


@shared_task
def expire_credit() -> int:
    """Write off what is left of grants that have expired."""
    expired = CreditEntry.objects.filter(
        kind=CreditKind.GRANT, expires_at__lt=timezone.now()
    ).exclude(uses__kind=CreditKind.EXPIRY)
    organizations = set(expired.values_list("organization_id", flat=True))
    return sum(
        credit_services.expire_grants(organization_id, now=timezone.now())
        for organization_id in organizations
    )
