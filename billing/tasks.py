"""Celery tasks of billing; `schedule.py` says when beat runs them."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from billing.models import OutboxEvent
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
