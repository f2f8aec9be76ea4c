"""relay and aggregate tell Prometheus how far behind they are."""

import time
import urllib.request
from pathlib import Path

import pytest
from django.db import transaction

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


def test_a_relay_that_cannot_reach_kafka_still_tells_what_waits(
    tmp_path: Path, broker: BrokerService
):
    broker.kill()
    with transaction.atomic():
        usage_record_create(facts=factories.facts(factories.principal()))
    port = free_port()
    relay = Command(f"relay --metrics-port {port}", tmp_path / "relay.log").start()
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                if "parley_outbox_waiting 1.0" in scrape(port):
                    break
            except OSError:
                pass
            assert time.monotonic() < deadline
            time.sleep(0.3)
    finally:
        relay.kill()
