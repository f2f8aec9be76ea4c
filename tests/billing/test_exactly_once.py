"""Processes die, the broker forgets: usage is counted once all the same.

Relay and aggregators run as they do in production, as processes, and are killed in the middle
of their work.
"""

import random
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import Sum
from kafka.errors import KafkaTimeoutError
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from billing import kafka
from billing.aggregator.ingest import ingest
from billing.aggregator.instance import MemberName
from billing.aggregator.worker import Consumer
from billing.management.commands.aggregate import GROUP
from billing.models import OutboxEvent, UsageDay, UsageEvent, UsageRecord, UsageRollup
from billing.reconciliation.compare import differences
from billing.service_loop import Stop
from billing.services import usage_record_create
from infra.services.broker import BrokerService
from tests.billing import factories
from tests.billing.commands import Command

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.chaos,
    pytest.mark.timeout(300),
]


@pytest.fixture
def commands(tmp_path: Path, broker: BrokerService) -> Iterator[dict[str, Command]]:
    processes = {
        name: Command(name.split()[0], tmp_path / f"{name}.log")
        for name in ("relay", "relay 2", "aggregate", "aggregate 2")
    }
    yield processes
    for process in processes.values():
        process.kill()


def record_usage(count: int, *, callers: int = 5) -> None:
    principals = [factories.principal() for _ in range(callers)]
    now = datetime.now(UTC)
    for n in range(count):
        with transaction.atomic():
            usage_record_create(
                facts=factories.facts(
                    principals[n % callers],
                    output_tokens=n,
                    occurred_at=now - timedelta(minutes=n % 300),
                )
            )


def wait_until_aggregated(timeout_s: float = 120) -> None:
    deadline = time.monotonic() + timeout_s
    while UsageEvent.objects.count() < UsageRecord.objects.count():
        assert time.monotonic() < deadline, (
            f"{UsageEvent.objects.count()} of {UsageRecord.objects.count()} events arrived, "
            f"{OutboxEvent.objects.filter(published_at=None).count()} wait in the outbox"
        )
        time.sleep(0.2)


def span() -> dict[str, Any]:
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    return {"start": now - timedelta(hours=12), "end": now + timedelta(hours=1)}


def assert_exact() -> None:
    assert differences(**span()) == []
    ledger = UsageRecord.objects.aggregate(Sum("output_tokens"))
    assert UsageRollup.objects.aggregate(Sum("output_tokens")) == ledger
    assert UsageDay.objects.aggregate(Sum("output_tokens")) == ledger


@pytest.mark.parametrize(
    "count",
    [
        50,
        pytest.param(
            100,
            marks=pytest.mark.nightly(
                beside="tests/billing/test_exactly_once.py"
                "::test_usage_is_counted_once_when_relay_and_aggregator_are_killed"
            ),
        ),
    ],
)
def test_usage_is_counted_once_when_relay_and_aggregator_are_killed(commands, count):
    """SIGKILL at random moments while four times `count` records flow; each is counted once."""
    choose = random.Random(4)
    for name in ("relay", "aggregate"):
        commands[name].start()
    for name in ("relay", "aggregate", "relay", "aggregate"):
        record_usage(count)
        time.sleep(choose.uniform(0.0, 0.8))
        commands[name].kill()
        commands[name].start()
    wait_until_aggregated()
    assert_exact()


def test_usage_is_counted_once_when_relays_and_aggregators_are_replaced(commands):
    for name in ("relay", "relay 2", "aggregate"):
        commands[name].start()
    record_usage(50)
    commands["aggregate 2"].start()
    record_usage(50)
    wait_until_aggregated()
    assert commands["aggregate"].stop() == 0
    assert commands["relay"].stop() == 0
    record_usage(50)
    wait_until_aggregated()
    assert_exact()


def test_consumer_leaves_its_group_when_the_first_try_fails(
    commands, broker: BrokerService, monkeypatch
):
    """Else nobody would get its partitions: the other waits for it in vain."""
    leave, refusals = kafka.leave_group, iter([KafkaTimeoutError(), OSError()])

    def leave_at_last(**member: str) -> None:
        for error in refusals:
            raise error
        leave(**member)

    monkeypatch.setattr(kafka, "leave_group", leave_at_last)
    stop = Stop()

    def aggregate() -> None:
        Consumer(group=GROUP, store=ingest).run(stop)
        connection.close()

    thread = threading.Thread(target=aggregate)
    thread.start()
    commands["relay"].start()
    record_usage(50)
    wait_until_aggregated()
    stop.set()
    thread.join()
    assert next(refusals, None) is None
    # The next one gets another name: with that of the one who left it would get its partitions.
    taken = MemberName(GROUP)
    commands["aggregate"].start()
    record_usage(50)
    wait_until_aggregated()
    taken.release()
    assert_exact()


def test_member_without_an_assignment_joins_anew(commands):
    """The broker's answer to it is empty, which kafka-python takes for a broken message."""
    stop = Stop()
    joined = []

    def connect(**options):
        consumer = kafka.consumer(**options)
        joined.append(consumer)
        if len(joined) == 1:
            consumer.poll = lambda **_: ConsumerProtocolAssignment.decode(b"")
        return consumer

    def aggregate() -> None:
        Consumer(group=GROUP, store=ingest, connect=connect).run(stop)
        connection.close()

    thread = threading.Thread(target=aggregate)
    thread.start()
    commands["relay"].start()
    record_usage(5)
    wait_until_aggregated()
    stop.set()
    thread.join()
    assert len(joined) == 2
    assert_exact()


def test_usage_is_complete_when_the_broker_loses_everything(commands, broker: BrokerService):
    """Records reach the broker, and vanish with it before anybody has read them."""
    commands["relay"].start()
    record_usage(150)
    deadline = time.monotonic() + 60
    while OutboxEvent.objects.filter(published_at=None).exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    broker.kill()
    broker.destroy()
    broker.start()
    commands["aggregate"].start()
    record_usage(50)

    day = timedelta(days=1)
    first, last = (f"{m:%Y-%m-%d}" for m in (span()["start"], span()["end"] + day))
    with pytest.raises(SystemExit):
        call_command("reconcile", "--from", first, "--to", last, stdout=StringIO())
    call_command("reconcile", "--from", first, "--to", last, "--repair", stdout=StringIO())
    wait_until_aggregated()
    assert_exact()
