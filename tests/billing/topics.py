"""Reading a topic from its beginning, as any other consumer would."""

import json
import time
from typing import Any

from django.conf import settings
from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError


def read_topic(topic: str, *, expect: int, timeout_s: float = 60.0) -> list[dict[str, Any]]:
    """All messages, partition after partition; waits until there are `expect` or time is up."""
    deadline = time.monotonic() + timeout_s
    by_partition: dict[int, list[dict[str, Any]]] = {}
    consumer = None
    try:
        while time.monotonic() < deadline:
            try:
                consumer = consumer or _whole_topic(topic)
                if consumer is None:  # nobody has created it yet
                    time.sleep(0.2)
                    continue
                for place, records in consumer.poll(timeout_ms=300).items():
                    by_partition.setdefault(place.partition, []).extend(
                        json.loads(record.value) for record in records
                    )
            except (KafkaError, OSError):
                time.sleep(0.2)
            if sum(map(len, by_partition.values())) >= expect:
                break
    finally:
        if consumer is not None:
            consumer.close()
    return [body for number in sorted(by_partition) for body in by_partition[number]]


def _whole_topic(topic: str) -> KafkaConsumer | None:
    consumer = KafkaConsumer(
        bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    )
    partitions = consumer.partitions_for_topic(topic)
    if not partitions:
        consumer.close()
        return None
    consumer.assign([TopicPartition(topic, number) for number in partitions])
    consumer.seek_to_beginning()
    return consumer
