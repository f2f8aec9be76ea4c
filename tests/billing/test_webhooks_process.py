"""Webhooks are sent by the process `webhooks` of the Procfile, and by no other worker."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.celery import app
from billing.tasks import deliver_webhooks, purge_outbox
from infra.launcher import procfile
from tests.billing.commands import database_url
from tests.billing.receivers import DrippingReceiver, Receiver
from tests.billing.test_webhooks import queue
from tests.support.processes import ProductProcess

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Starts a process of the Procfile on this test's database."""
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "PARLEY_BILLING_WEBHOOKS_TO_PRIVATE": "1",
    }
    started: list[ProductProcess] = []

    def start(name: str) -> None:
        process = ProductProcess(name, procfile.read()[name], environment, tmp_path / name)
        process.start()
        started.append(process)

    yield start
    for process in started:
        process.kill()


def tasks_in(queue_name: str) -> int:
    with app.connection_for_read() as connection:
        channel: Any = connection.default_channel  # of the Redis transport
        return int(channel.client.llen(queue_name))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within a minute"
        time.sleep(0.1)


@pytest.mark.timeout(180)
def test_webhooks_are_sent_by_their_own_process_while_other_receivers_drip(
    start, receiver: Receiver, dripping: DrippingReceiver
):
    for _ in range(6):
        queue(dripping.url, count=3)
    good = queue(receiver.url)
    deliver_webhooks.delay()
    purge_outbox.delay()
    start("money")
    wait_until(lambda: tasks_in("money") == 0)
    assert tasks_in("webhooks") == 1

    start("webhooks")
    wait_until(lambda: bool(receiver.requests))
    assert receiver.event_ids == [str(good.deliveries.get().event_id)]
    assert tasks_in("webhooks") == 0
