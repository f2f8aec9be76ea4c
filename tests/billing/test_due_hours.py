"""Hours that a run of reconciliation compares: all by turns, suspects at once."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from billing.models import ReconciliationRun, UnaggregatedUsage
from billing.periods import RECONCILED
from billing.reconciliation.due import ROTATION, hours_due, window_start
from billing.services import usage_record_create
from tests.billing import factories

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 10, 21, 12, 34, tzinfo=UTC)
HOUR = timedelta(hours=1)


def due(now: datetime = NOW, previous: ReconciliationRun | None = None) -> list[datetime]:
    return hours_due(now=now, settled_before=now - timedelta(minutes=5), previous=previous)


def test_every_hour_is_compared_in_a_rotation() -> None:
    times = [NOW + timedelta(minutes=5 * n) for n in range(ROTATION)]
    start = window_start(times[-1])
    window = {start + n * HOUR for n in range(int(RECONCILED / HOUR) + 1)}
    runs = [due(time) for time in times]
    assert window <= {hour for run in runs for hour in run}
    assert max(len(run) for run in runs) <= len(window) / ROTATION + 5


def test_fresh_hours_are_always_due() -> None:
    this_hour = NOW.replace(minute=0)
    for minutes in range(0, 60, 5):
        found = due(NOW.replace(minute=minutes))
        assert {this_hour - HOUR, this_hour, this_hour + HOUR} <= set(found)


def test_hour_that_differed_is_due_again() -> None:
    hour = first_that_waits()
    assert hour not in due()
    previous = ReconciliationRun(details=[{"hour": hour.isoformat()}], differing=1)
    assert hour in due(previous=previous)


def test_hour_with_a_missing_event_is_due() -> None:
    hour = first_that_waits()
    with transaction.atomic():
        facts = factories.facts(factories.principal(), occurred_at=hour + HOUR / 2)
        record = usage_record_create(facts=facts)
    later = record.recorded_at + HOUR
    asked = hours_due(now=NOW, settled_before=later, previous=None)
    assert hour in asked
    UnaggregatedUsage.objects.all().delete()
    assert hour not in hours_due(now=NOW, settled_before=later, previous=None)


def first_that_waits() -> datetime:
    """Return an hour of the window that is not due at `NOW` by itself."""
    start, compared = window_start(NOW), set(due())
    return next(start + n * HOUR for n in range(1, 40) if start + n * HOUR not in compared)
