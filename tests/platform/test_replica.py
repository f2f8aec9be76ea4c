"""Reports and a streaming replica: what is read there, and when the primary is asked instead."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError, connection, connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from backend.accounts.models import Organization, User
from backend.databases import databases
from backend.platform import replica
from backend.platform.replica import PRIMARY, REPLICA, database_to_read, from_replica
from billing.periods import month_of
from billing.reports.export import usage_csv
from billing.reports.figures import report
from billing.selectors import usage_summary
from billing.services import usage_record_create
from tests.billing import factories
from tests.support.replica import ReplicaService, configured
from tests.support.second_factor import staff_sign_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]
WAIT_S = 60.0


@pytest.fixture(scope="module")
def server(
    services: None, passable_module: Path, django_db_setup: None, django_db_blocker: Any
) -> Iterator[ReplicaService]:
    with django_db_blocker.unblock():
        following = ReplicaService(passable_module / "replica", connection.settings_dict)
        following.start()
    yield following
    with django_db_blocker.unblock():
        following.destroy()


@pytest.fixture(scope="module")
def passable_module(scratch: Path) -> Path:
    directory = scratch / "replica"
    directory.mkdir(exist_ok=True)
    directory.chmod(0o711)
    return directory


@pytest.fixture
def following(
    transactional_db: None, server: ReplicaService, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ReplicaService]:
    """The replica, configured; nothing is known of it yet."""
    monkeypatch.setattr(replica, "_known", replica._Known())
    # A test run's machine may be slow: nothing here is about how long a reader waits.
    monkeypatch.setattr(replica, "CATCH_UP_S", WAIT_S)
    with configured(server):
        yield server


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the second had passed for which an answer is believed."""
    monkeypatch.setattr(replica, "_known", replica._Known())


def record(**changes: Any) -> Any:
    caller = factories.principal()
    with transaction.atomic():
        usage_record_create(facts=factories.facts(caller, **changes))
    return caller


def queries_of(alias: str) -> CaptureQueriesContext:
    return CaptureQueriesContext(connections[alias])


def test_usage_is_read_from_the_replica_and_lacks_nothing(following: ReplicaService) -> None:
    """What was committed a moment ago is there: the reader waits for the replica."""
    for tokens in (3, 5, 7):
        caller = record(output_tokens=tokens)
        with queries_of(REPLICA) as asked, queries_of(PRIMARY) as not_asked:
            summary = usage_summary(
                organization_id=caller.organization_id, period=f"{datetime.now(UTC):%Y-%m}"
            )
        assert summary.output_tokens == tokens
        assert any("billing_usagerecord" in one["sql"] for one in asked)
        assert not any("billing_usagerecord" in one["sql"] for one in not_asked)


async def test_export_and_report_are_read_from_the_replica(following: ReplicaService) -> None:
    caller = await sync_to_async(record)(output_tokens=3)
    now = datetime.now(UTC)
    day = timedelta(days=1)
    # Bounded staleness: the replica may lack the newest, and has it in the end.
    deadline = time.monotonic() + WAIT_S
    while True:
        lines = b"".join(
            [chunk async for chunk in usage_csv(start=now - day, end=now + day)]
        ).decode()
        if str(caller.organization_id) in lines:
            break
        assert time.monotonic() < deadline
    figures = await sync_to_async(report)(month_of(now))
    assert figures.period == month_of(now)


def test_lists_of_the_admin_are_read_from_the_replica_and_rows_are_not(
    following: ReplicaService, static_files: None, client: Client
) -> None:
    record(output_tokens=3)
    staff_sign_in(
        client, User.objects.create_user("boss@example.com", is_staff=True, is_superuser=True)
    )
    for address, alias in (
        ("/admin/billing/usagerecord/", REPLICA),
        ("/admin/billing/usagerecord/1/change/", PRIMARY),
    ):
        with queries_of(alias) as asked:
            assert client.get(address).status_code in (200, 302)
        assert any("billing_usagerecord" in one["sql"] for one in asked), alias


def test_replica_that_is_behind_is_not_read(
    following: ReplicaService, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = record(output_tokens=3)
    period = f"{datetime.now(UTC):%Y-%m}"
    assert database_to_read(fresh=True) == REPLICA
    following.pause()
    try:
        monkeypatch.setattr(replica, "CATCH_UP_S", 0.0)
        settings.DATABASE_REPLICA_MAX_LAG_S = 0.0
        with transaction.atomic():
            usage_record_create(facts=factories.facts(caller, output_tokens=4))
        forget(monkeypatch)
        assert database_to_read(fresh=False) == PRIMARY
        forget(monkeypatch)
        assert database_to_read(fresh=True) == PRIMARY
        # Not so far behind that a report could not be made of it.
        settings.DATABASE_REPLICA_MAX_LAG_S = 3600.0
        forget(monkeypatch)
        assert database_to_read(fresh=False) == REPLICA
        found = usage_summary(organization_id=caller.organization_id, period=period)
        assert found.output_tokens == 7, "who wrote finds what they wrote"
    finally:
        following.resume()
    monkeypatch.setattr(replica, "CATCH_UP_S", WAIT_S)
    forget(monkeypatch)
    assert database_to_read(fresh=True) == REPLICA


def test_replica_that_is_down_is_not_asked_again_at_once(
    following: ReplicaService, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = record(output_tokens=3)
    following.kill()
    try:
        for _ in range(3):
            found = usage_summary(
                organization_id=caller.organization_id, period=f"{datetime.now(UTC):%Y-%m}"
            )
            assert found.output_tokens == 3
        assert replica._known.lag_s is None
        with monkeypatch.context() as patch:
            patch.setattr(replica, "_ask", None)  # it is not called
            assert database_to_read(fresh=False) == PRIMARY
            assert database_to_read(fresh=True) == PRIMARY
    finally:
        following.start()
    forget(monkeypatch)
    assert database_to_read(fresh=True) == REPLICA


def test_query_that_the_replica_cancels_is_asked_of_the_primary(following: ReplicaService) -> None:
    """A conflict with recovery, for one."""
    seen: list[str] = []

    @from_replica(fresh=False)
    def read() -> int:
        seen.append(replica._reading.get())
        if seen[-1] == REPLICA:
            raise OperationalError("canceling statement due to conflict with recovery")
        return Organization.objects.count()

    factories.organization_new()
    assert read() == 1
    assert seen == [REPLICA, PRIMARY]


def test_transaction_reads_what_it_has_written(following: ReplicaService) -> None:
    with transaction.atomic():
        made = factories.organization_new("Not seen by others yet")
        assert database_to_read(fresh=True) == PRIMARY
        assert usage_summary(organization_id=made.pk, period="last_30_days").requests == 0


def test_nothing_is_written_through_a_reader(following: ReplicaService) -> None:
    @from_replica(fresh=True)
    def writes() -> Organization:
        assert replica._reading.get() == REPLICA
        return factories.organization_new("Written")

    assert writes()._state.db == PRIMARY
    assert Organization.objects.filter(name="Written").exists()


def test_without_a_replica_the_primary_is_read(transactional_db: None) -> None:
    assert database_to_read(fresh=False) == PRIMARY
    assert set(databases("postgresql://a/b", pool=2)) == {PRIMARY}
