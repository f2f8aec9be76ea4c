"""What beat runs every few minutes: compare, send again what is missing, alert on what stays."""

from datetime import UTC, datetime, timedelta

import structlog
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.mail import send_mail

from billing.aggregator import unaggregated
from billing.aggregator.lag import aggregation_lag_s
from billing.models import ReconciliationRun
from billing.reconciliation.compare import HourComparison, differences
from billing.reconciliation.due import hours_due, window_start
from billing.reconciliation.republish import republish_missing

log = structlog.get_logger(__name__)

LAG_ALERT_S = 300.0
GRACE = timedelta(minutes=5)
"""An event younger than this may be on its way; it is not missed yet."""
REPORTED = 50
RUNS_KEPT = timedelta(days=90)


def reconcile_recent(*, now: datetime | None = None) -> ReconciliationRun:
    """Compare the hours that are due, queue what is missing, store the run, alert if not clean.

    A difference that republishing can repair is sent on its way and counted; the next run says
    whether it arrived. An alert goes out when lag passes five minutes, or when an hour differs
    in two runs one after the other.
    """
    now = now or datetime.now(UTC)
    settled_before = now - GRACE
    lag_s = aggregation_lag_s()
    previous = ReconciliationRun.objects.first()
    found: list[HourComparison] = []
    republished = 0
    for hour in hours_due(now=now, settled_before=settled_before, previous=previous):
        end = hour + timedelta(hours=1)
        differing = differences(start=hour, end=end, grace_from=settled_before)
        if differing:
            republished += republish_missing(start=hour, end=end, settled_before=settled_before)
        found += differing
    unaggregated.sweep()
    run = ReconciliationRun.objects.create(
        start=window_start(now),
        end=now + timedelta(hours=1),
        lag_s=lag_s,
        differing=len(found),
        republished=republished,
        details=[_describe(difference) for difference in found[:REPORTED]],
    )
    ReconciliationRun.objects.filter(started_at__lt=now - RUNS_KEPT).delete()
    stays = bool(found) and previous is not None and not previous.is_clean
    if lag_s > LAG_ALERT_S or stays:
        _alert(run)
    return run


def _describe(difference: HourComparison) -> dict[str, object]:
    return {
        "organization_id": str(difference.organization_id),
        "hour": difference.hour.isoformat(),
        **{
            part: {
                "requests": sums.requests,
                **sums.tokens.columns(),
            }
            for part, sums in (
                ("ledger", difference.ledger),
                ("events", difference.events),
                ("rollups", difference.rollups),
            )
        },
    }


def _alert(run: ReconciliationRun) -> None:
    log.error(
        "reconciliation_alert",
        lag_s=run.lag_s,
        differing=run.differing,
        republished=run.republished,
        details=run.details[:5],
    )
    recipients = list(
        get_user_model()
        .objects.filter(is_active=True, is_staff=True, groups__name="Finance")
        .values_list("email", flat=True)
    )
    if not recipients:
        return
    send_mail(
        subject=f"Parley billing: {run.differing} hours differ, lag {run.lag_s:.0f} s",
        message=(
            f"Reconciliation of {run.start:%Y-%m-%d %H:%M} to {run.end:%Y-%m-%d %H:%M} UTC.\n"
            f"Organization hours that differ: {run.differing}\n"
            f"Age of the oldest usage that is not aggregated: {run.lag_s:.0f} s\n"
            f"Events sent again: {run.republished}\n\n"
            "The ledger is complete and invoices are right; dashboards may lag behind.\n"
            f"Repair it with: manage.py reconcile --from {run.start:%Y-%m-%d} --to "
            f"{run.end + timedelta(days=1):%Y-%m-%d} --repair\n"
        ),
        from_email=settings.DEFAULT_FROM_EMAIL,
        recipient_list=recipients,
        fail_silently=True,
    )
