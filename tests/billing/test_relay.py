"""The relay: everything reaches Kafka at least once, in order by key, whoever else works."""

import threading
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from kafka.errors import KafkaError

from billing import kafka
from billing.events import TOPIC_RECORDED
from billing.models import OutboxEvent
from billing.models.outbox import PARTITIONS, partition_of
from billing.relay import outbox
from billing.relay.worker import Relay
from billing.service_loop import Stop
from infra.services.broker import BrokerService
from tests.billing import factories
from tests.billing.topics import read_topic

pytestmark = pytest.mark.django_db(transaction=True)


def fill(keys: list[str], each: int) -> None:
    OutboxEvent.objects.bulk_create(
        OutboxEvent(
            topic=TOPIC_RECORDED,
            key=key,
            partition=partition_of(key),
            event_id=uuid4(),
            payload={"key": key, "n": n},
        )
        for n in range(each)
        for key in keys
    )


def test_rows_are_published_once_and_in_order_by_key(broker: BrokerService):
    keys = [str(factories.uuid(n)) for n in range(5)]
    fill(keys, 50)
    kafka.ensure_topics()
    relay = Relay()
    while relay.publish_batch():
        pass
    relay.close()
    arrived = read_topic(TOPIC_RECORDED, expect=250)
    for key in keys:
        assert [body["n"] for body in arrived if body["key"] == key] == list(range(50))
    assert not OutboxEvent.objects.filter(published_at=None).exists()


def test_two_relays_share_the_work_and_keep_the_order(broker: BrokerService):
    keys = [str(factories.uuid(n)) for n in range(40)]
    fill(keys, 100)
    kafka.ensure_topics()
    published = [0, 0]

    def work(number: int) -> None:
        relay = Relay()
        try:
            while OutboxEvent.objects.filter(published_at=None).exists():
                published[number] += relay.publish_batch()
        finally:
            relay.close()
            connection.close()

    threads = [threading.Thread(target=work, args=[n]) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(published) == 4000
    assert all(published)
    arrived = read_topic(TOPIC_RECORDED, expect=4000)
    assert len(arrived) == 4000
    for key in keys:
        assert [body["n"] for body in arrived if body["key"] == key] == list(range(100))


def test_rows_wait_while_kafka_is_unreachable_and_are_published_later(broker: BrokerService):
    kafka.ensure_topics()
    broker.kill()
    fill(["a"], 3)
    with pytest.raises((KafkaError, OSError)):
        Relay().publish_batch()
    assert OutboxEvent.objects.filter(published_at=None).count() == 3

    stop = Stop()

    def run() -> None:
        Relay().run(stop)
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    broker.start()
    try:
        arrived = read_topic(TOPIC_RECORDED, expect=3)
    finally:
        stop.set()
        thread.join()
    assert [body["n"] for body in arrived] == [0, 1, 2]


def test_row_of_a_rolled_back_transaction_is_not_published(broker: BrokerService):
    with pytest.raises(RuntimeError), transaction.atomic():
        fill(["a"], 1)
        raise RuntimeError
    assert Relay().publish_batch() == 0


def test_claim_reads_only_what_it_takes():
    waiting, limit = 20_000, 100
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO billing_outboxevent (topic, key, lane, event_id, payload)"
            " SELECT 't', n::text, n %% %s, gen_random_uuid(), '{}'"
            " FROM generate_series(1, %s) AS n",
            [PARTITIONS, waiting],
        )
        cursor.execute("ANALYZE billing_outboxevent")
    with transaction.atomic():
        rows = outbox.claim(limit=limit)
        assert limit <= len(rows) < limit + outbox.PARTITIONS_AT_ONCE
        taken = sorted({row.partition for row in rows})
        share = -(-limit // len(taken))
        read = rows_read(outbox.CLAIM_ROWS, {"lanes": taken, "share": share})
        assert read <= limit + outbox.PARTITIONS_AT_ONCE
    with transaction.atomic():
        assert rows_read(outbox.CLAIM_PARTITIONS, outbox.claim_parameters()) <= PARTITIONS


def rows_read(statement: str, parameters: Mapping[str, Any]) -> int:
    """Return how many rows of the outbox the statement reads from its table or an index."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters)
        [(explained,)] = cursor.fetchall()
    plans = [explained[0]["Plan"]]
    read = 0
    while plans:
        plan = plans.pop()
        plans += plan.get("Plans", [])
        if plan.get("Relation Name") == "billing_outboxevent":
            read += plan["Actual Rows"] * plan["Actual Loops"]
    return read
