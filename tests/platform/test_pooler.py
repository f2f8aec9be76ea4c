"""The product behind pgbouncer in transaction mode: a turn, usage, a lock, a migration, pages."""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import connection, transaction

from backend.accounts.models import Organization
from backend.databases import databases
from backend.platform.database import in_database, session_connect
from backend.platform.pages import in_pages
from billing.aggregator.ingest import KafkaRecord, ingest
from billing.aggregator.instance import MemberName
from billing.models import OutboxEvent, UsageEvent, UsageRecord
from billing.reconciliation.compare import differences
from billing.relay import outbox
from billing.services import usage_record_create
from infra.load.upstream import Behaviour, SyntheticUpstream
from infra.services.ports import LOOPBACK
from tests.billing import factories
from tests.billing.commands import Command, database_url
from tests.support.debian_programs import debian_program
from tests.support.gateway import ask, caller, chat, check_billed, pools_of, running_gateway
from tests.support.pgbouncer import (
    SERVER_CONNECTIONS,
    PgBouncer,
    default_connection,
)
from tests.support.processes import run_python

pytestmark = pytest.mark.django_db(transaction=True)
WAIT_S = 120.0


@pytest.fixture(scope="module")
def program() -> str:
    found = debian_program("pgbouncer", "pgbouncer")
    if found is None:
        pytest.skip("pgbouncer is not installed, and only root on Debian can install it here")
    return found


@pytest.fixture
def pooler(
    transactional_db: None, program: str, scratch: Path, settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PgBouncer]:
    """Django of this process goes through it, and what the test starts does."""
    direct = database_url()
    directory = Path(tempfile.mkdtemp(dir=scratch))
    server = PgBouncer(program, directory, connection.settings_dict)
    server.start()
    try:
        deadline = time.monotonic() + WAIT_S
        while not server.is_up():
            assert time.monotonic() < deadline, (directory / "pgbouncer.log").read_text()
            time.sleep(0.05)
        server.open_all(connection.settings_dict["NAME"])
        settings.DATABASE_DIRECT_URL = direct
        monkeypatch.setenv("DATABASE_DIRECT_URL", direct)
        ours = databases("postgresql://pooler/any", pool=10, direct_url=direct)["default"]
        with default_connection(
            HOST=LOOPBACK,
            PORT=server.port,
            OPTIONS=ours["OPTIONS"],
            DISABLE_SERVER_SIDE_CURSORS=ours["DISABLE_SERVER_SIDE_CURSORS"],
        ):
            yield server
    finally:
        server.stop()


def test_transactions_are_on_different_connections_of_the_server(pooler: PgBouncer) -> None:
    """Else nothing below would prove anything."""
    seen = []
    with connection.cursor() as cursor:
        for _ in range(SERVER_CONNECTIONS * 2):
            cursor.execute("SELECT pg_backend_pid()")
            seen.append(cursor.fetchone()[0])
    assert len(set(seen)) == SERVER_CONNECTIONS
    assert pooler.transactions() >= len(seen)


async def test_turns_are_answered_stored_and_billed(pooler: PgBouncer) -> None:
    upstream = SyntheticUpstream(Behaviour(rate=0.0))
    await upstream.start()
    principal = await caller()
    try:
        async with running_gateway(pools_of(upstream)):
            answers = await asyncio.wait_for(
                asyncio.gather(*(ask(chat(principal, max_tokens=5)) for _ in range(24))), WAIT_S
            )
    finally:
        await upstream.stop()
    for started, answer in answers:
        answer.check_order()
        await check_billed(started.id, output_tokens=5, state="completed")
    assert await in_database(UsageRecord.objects.count) == 24


def test_usage_is_aggregated_once_while_an_aggregator_is_killed(
    pooler: PgBouncer, tmp_path: Path
) -> None:
    commands = [
        Command(name, tmp_path / f"{n}.log")
        for n, name in enumerate(("relay", "aggregate", "aggregate"))
    ]
    principal = factories.principal()
    now = datetime.now(UTC)
    try:
        for command in commands:
            command.start()
        for n in range(150):
            if n == 75:
                commands[1].kill()
                commands[1].start()
            facts = factories.facts(principal, occurred_at=now - timedelta(minutes=n % 90))
            with transaction.atomic():
                usage_record_create(facts=facts)
        deadline = time.monotonic() + WAIT_S
        # The log has events of other tests too, whose records are gone.
        mine = UsageEvent.objects.filter(organization_id=principal.organization_id)
        while mine.count() < 150:
            logs = "".join(path.read_text()[-1500:] for path in tmp_path.glob("*.log"))
            assert time.monotonic() < deadline, logs
            time.sleep(0.2)
    finally:
        for command in commands:
            command.kill()
    compared = differences(start=_hour(now, -12), end=_hour(now, 1))
    assert [one for one in compared if one.organization_id == principal.organization_id] == []
    assert pooler.transactions() > 150


def _hour(moment: datetime, hours: int) -> datetime:
    """The beginning of the hour that lies so many after `moment`'s."""
    return moment.replace(minute=0, second=0, microsecond=0) + timedelta(hours=hours)


def test_staging_table_of_another_release_is_not_taken_for_ours(pooler: PgBouncer) -> None:
    """The pooler's connections outlive a release, and with them what it left in a session."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE billing_staging (event_id uuid)")
    facts = factories.facts(factories.principal())
    with transaction.atomic():
        usage_record_create(facts=facts)
    with transaction.atomic():
        (row,) = outbox.claim(limit=1)
        outbox.mark_published([row.id])
    for _ in range(SERVER_CONNECTIONS + 1):
        ingest([KafkaRecord(row.topic, 0, 0, row.value)])
    assert UsageEvent.objects.count() == 1
    assert not OutboxEvent.objects.filter(published_at=None).exists()


def test_lock_of_a_member_lasts_as_long_as_it_does(pooler: PgBouncer) -> None:
    first, second = MemberName("pooled"), MemberName("pooled")
    names = {first.name, second.name}
    first.release()
    third = MemberName("pooled")
    assert names == {"pooled-1", "pooled-2"}
    assert third.name == "pooled-1"
    for one in (second, third):
        one.release()
    with session_connect() as session:
        assert session.info.port != pooler.port


def test_pages_hold_all_rows_in_their_order(pooler: PgBouncer) -> None:
    made = {factories.organization_new(f"Acme {n}").pk for n in range(7)}
    rows = Organization.objects.filter(pk__in=made)
    assert [row.pk for row in in_pages(rows, size=3)] == sorted(made)
    gone = 0
    for row in in_pages(rows, size=2):
        row.delete()  # its key is None from here on
        gone += 1
    assert gone == 7
    # Django's own is read whole, as there is no cursor outside a transaction.
    factories.organization_new()
    assert len(list(Organization.objects.iterator(chunk_size=1))) == Organization.objects.count()


def test_migrations_go_to_the_server_itself(pooler: PgBouncer) -> None:
    """DATABASE_URL names a port where nothing listens: a pooler that would not bear them."""
    away = {**os.environ, "DATABASE_URL": f"postgresql://parley@{LOOPBACK}:1/parley"}
    done = run_python("manage.py", "migrate", "--check", environment=away)
    assert done.returncode == 0, done.stdout


def test_unpooled_database_keeps_its_cursors() -> None:
    name = f"postgresql://{uuid4().hex}/db"
    plain = databases(name, pool=4, direct_url="")["default"]
    pooled = databases(name, pool=4, direct_url=name)["default"]
    assert not plain.get("DISABLE_SERVER_SIDE_CURSORS", False)
    assert pooled["DISABLE_SERVER_SIDE_CURSORS"] is True
