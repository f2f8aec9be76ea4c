"""Whatever the log lost, doubled or made up, reconciliation finds it and the ledger wins."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import Group
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from backend.accounts.models import User
from billing.events import encode
from billing.models import OutboxEvent, ReconciliationRun, UsageEvent, UsageRecord, UsageRollup
from billing.reconciliation.compare import differences
from billing.reconciliation.repair import repair_hour
from billing.reconciliation.republish import republish_missing
from billing.reconciliation.watch import GRACE, reconcile_recent
from billing.services import usage_record_create
from tests.billing import factories
from tests.billing.commands import database_url
from tests.billing.test_ingest import event, ingest, messages

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 10, 21, 12, tzinfo=UTC)
DAY_START = NOON.replace(hour=0)
SPAN: dict[str, Any] = {"start": DAY_START, "end": DAY_START + timedelta(days=1)}
DAY = ("--from", "2026-10-21", "--to", "2026-10-22")


def use(caller, minutes: int, **changes) -> UsageRecord:
    facts = factories.facts(caller, occurred_at=NOON + timedelta(minutes=minutes), **changes)
    with transaction.atomic():
        return usage_record_create(facts=facts)


def deliver(*records: UsageRecord) -> None:
    ingest(messages(*map(encode, records)))


def reconcile(*options: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("reconcile", *DAY, *options, stdout=out)
    except SystemExit as stop:
        return int(stop.code or 0), out.getvalue()
    return 0, out.getvalue()


@pytest.fixture
def records() -> list[UsageRecord]:
    caller, other = factories.principal(), factories.principal()
    return [use(caller if n % 2 else other, 20 * n) for n in range(12)]


def stored() -> tuple[list, list]:
    rollups = UsageRollup.objects.order_by("hour", "organization_id", "user_id")
    return (
        list(UsageEvent.objects.order_by("pk").values()),
        list(rollups.values_list("hour", "organization_id", "requests", "input_tokens")),
    )


def test_ledger_and_rollups_agree_when_all_events_arrived(records):
    deliver(*records)
    assert reconcile() == (0, "Ledger, event store and rollups agree.\n")


def test_lost_events_are_repaired_once(records):
    deliver(*records)
    whole = stored()
    UsageEvent.objects.all().delete()
    UsageRollup.objects.all().delete()
    deliver(*records[:4])
    status, table = reconcile()
    assert status == 1, table
    assert str(records[5].organization_id) in table
    assert reconcile("--repair")[0] == 0
    repaired = stored()
    assert [row | {"ingested_at": None} for row in repaired[0]] == [
        row | {"ingested_at": None} for row in whole[0]
    ]
    assert repaired[1] == whole[1]
    assert reconcile("--repair") == (0, "Ledger, event store and rollups agree.\n")
    assert stored() == repaired


def test_event_that_arrives_after_the_repair_is_not_counted_again(records):
    deliver(*records[:4])
    assert reconcile("--repair")[0] == 0
    deliver(*records)
    assert reconcile()[0] == 0


def test_event_without_a_record_is_deleted(records):
    deliver(*records)
    unrecorded = event(9, occurred_at="2026-10-21T12:00:00Z")
    assert ingest(messages(unrecorded)).new == 1
    assert reconcile()[0] == 1
    assert reconcile("--repair")[0] == 0
    assert not UsageEvent.objects.filter(event_id=unrecorded["event_id"]).exists()


def test_event_that_differs_from_its_record_is_corrected(records):
    forged = encode(records[0]) | {
        "organization_id": str(records[1].organization_id),
        "occurred_at": "2026-10-21T03:00:00Z",
        "output_tokens": 1,
    }
    ingest(messages(forged))
    deliver(*records)
    assert reconcile("--repair")[0] == 0
    repaired = UsageEvent.objects.get(event_id=records[0].generation_id)
    assert repaired.organization_id == records[0].organization_id
    assert repaired.output_tokens == 50


def test_wrong_rollups_are_recomputed(records):
    deliver(*records)
    UsageRollup.objects.update(output_tokens=10**9)
    assert reconcile("--repair")[0] == 0
    assert sum(UsageRollup.objects.values_list("output_tokens", flat=True)) == 12 * 50


def test_rebuild_gives_the_same_numbers(records):
    deliver(*records)
    before = stored()
    call_command("rebuild_rollups", *DAY, stdout=StringIO())
    assert stored() == before


@pytest.mark.parametrize("span", [("x", "2026-10-22"), ("2026-10-22", "2026-10-21")])
def test_invalid_span_is_refused(span):
    with pytest.raises(CommandError):
        call_command("reconcile", "--from", span[0], "--to", span[1])


def test_missing_events_are_queued_again_once(records):
    deliver(*records[:5])
    OutboxEvent.objects.update(published_at=timezone.now() - timedelta(hours=1))
    OutboxEvent.objects.filter(event_id=records[11].generation_id).delete()  # purged meanwhile
    now = timezone.now() + timedelta(minutes=1)
    assert republish_missing(**SPAN, settled_before=now) == 7
    waiting = OutboxEvent.objects.filter(published_at=None)
    assert {row.event_id for row in waiting} == {r.generation_id for r in records[5:]}
    assert republish_missing(**SPAN, settled_before=now) == 0


def recorded_earlier(record: UsageRecord, by: timedelta) -> None:
    """Move a record's writing into the past, behind the ledger's back."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE billing_usagerecord DISABLE TRIGGER invoice_once")
        UsageRecord.objects.filter(pk=record.pk).update(recorded_at=timezone.now() - by)
        cursor.execute("ALTER TABLE billing_usagerecord ENABLE TRIGGER invoice_once")
    OutboxEvent.objects.filter(event_id=record.generation_id).update(
        published_at=timezone.now() - by
    )


def test_event_in_transit_is_not_reported_missing():
    caller = factories.principal()
    with transaction.atomic():
        usage_record_create(facts=factories.facts(caller))
    run = reconcile_recent()
    assert (run.differing, run.republished) == (0, 0)


def test_beat_republishes_missing_events_and_alerts_finance():
    finance_user = User.objects.create_user("finance_user@example.com", is_staff=True)
    finance_user.groups.add(Group.objects.get_or_create(name="Finance")[0])
    caller = factories.principal()
    with transaction.atomic():
        record = usage_record_create(facts=factories.facts(caller))
    recorded_earlier(record, GRACE + timedelta(minutes=1))
    first = reconcile_recent()
    assert (first.differing, first.republished) == (1, 1)
    assert first.lag_s > 300
    assert [message.to for message in mail.outbox] == [["finance_user@example.com"]]
    assert "--repair" in mail.outbox[0].body

    deliver(record)
    again = reconcile_recent()
    assert (again.differing, again.republished, again.lag_s) == (0, 0, 0)
    assert len(mail.outbox) == 1
    assert ReconciliationRun.objects.count() == 2


def test_reconciliation_is_limited_to_one_organization(records):
    one = records[0].organization_id
    assert {d.organization_id for d in differences(**SPAN, organization_id=one)} == {one}


@pytest.mark.django_db(transaction=True)
def test_record_committed_during_repair_is_counted_once():
    """The repair waits between its statements, for a rollup that another transaction holds."""
    caller = factories.principal()
    deliver(use(caller, 0))
    use(caller, 1)  # its event is lost: there is something to repair
    [difference] = differences(**SPAN)
    with psycopg.connect(database_url()) as holder:
        holder.execute("SELECT 1 FROM billing_usagerollup FOR UPDATE")
        thread = threading.Thread(target=in_thread, args=[lambda: repair_hour(difference)])
        thread.start()
        wait_until_blocked_by(holder)
        late = use(caller, 2)
        holder.rollback()
    thread.join()
    deliver(late)
    assert differences(**SPAN) == []
    assert UsageRollup.objects.get().requests == 3


def in_thread(work: Callable[[], object]) -> None:
    work()
    connection.close()


def wait_until_blocked_by(holder: psycopg.Connection, timeout_s: float = 30) -> None:
    deadline = time.monotonic() + timeout_s
    with connection.cursor() as cursor:
        while True:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))",
                [holder.info.backend_pid],
            )
            if cursor.fetchone()[0]:
                return
            assert time.monotonic() < deadline, "the repair never came to the rollup"
            time.sleep(0.01)


def test_event_that_names_another_hour_leaves_that_hours_rollup_right(records):
    """Repairing the true hour alone takes the event out of the wrong hour's rollup as well."""
    forged = encode(records[0]) | {"occurred_at": "2026-10-20T03:00:00Z"}
    ingest(messages(forged))
    assert reconcile("--repair")[0] == 0  # of the record's day; the event was on the day before
    assert differences(start=SPAN["start"] - timedelta(days=1), end=SPAN["end"]) == []


def test_repair_of_the_wrong_hour_alone_leaves_the_true_hour_to_the_event(records):
    """What is taken out of the wrong hour counts as not arrived, and counts when it comes."""
    forged = encode(records[0]) | {"occurred_at": "2026-10-20T03:00:00Z"}
    ingest(messages(forged))
    before: dict[str, Any] = {"start": SPAN["start"] - timedelta(days=1), "end": SPAN["start"]}
    [difference] = differences(**before)
    repair_hour(difference)
    assert differences(**before) == []
    deliver(*records)
    assert reconcile()[0] == 0
