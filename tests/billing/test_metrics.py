"""relay, aggregate and detect_abuse tell Prometheus what they do, and how far behind they are."""

import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.db import transaction

from billing.models import AbuseFlag
from billing.services import usage_record_create
from infra.services.broker import BrokerService
from infra.services.ports import free_port
from tests.billing import factories
from tests.billing.commands import Command

pytestmark = pytest.mark.django_db(transaction=True)


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text: str = answer.read().decode()
    return text


def wait_for(text: str, port: int) -> None:
    """Until the metrics at `port` have the line."""
    deadline = time.monotonic() + 60
    while True:
        try:
            if text in scrape(port):
                return
        except OSError:
            pass
        assert time.monotonic() < deadline
        time.sleep(0.3)


def test_relay_reports_waiting_rows_while_kafka_is_unreachable(
    tmp_path: Path, broker: BrokerService
):
    broker.kill()
    with transaction.atomic():
        usage_record_create(facts=factories.facts(factories.principal()))
    port = free_port()
    relay = Command(f"relay --metrics-port {port}", tmp_path / "relay.log").start()
    try:
        wait_for("parley_outbox_waiting 1.0", port)
    finally:
        relay.kill()


def test_detector_reports_open_flags(tmp_path: Path, broker: BrokerService):
    broker.kill()
    AbuseFlag.objects.create(
        kind="organization",
        subject_id=factories.uuid(1),
        organization_id=factories.uuid(1),
        reason="spike",
        score=2.0,
        details={},
        last_seen=datetime.now(UTC),
    )
    port = free_port()
    detector = Command(f"detect_abuse --metrics-port {port}", tmp_path / "detector.log").start()
    try:
        wait_for("parley_abuse_open_flags 1.0", port)
    finally:
        detector.kill()
