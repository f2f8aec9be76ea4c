"""The semantics of Apache Kafka that billing builds on, held against the embedded broker.

These are contract tests: they chose the broker (decision 0001), and `make test-kafka` runs them
against Apache Kafka.
"""

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer as ConfluentConsumer
from confluent_kafka import Producer as ConfluentProducer
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import TopicAlreadyExistsError

from infra.services.broker import BrokerService
from tests.kafka.apache import NODES, ApacheKafka

PARTITIONS = 3
TIMEOUT_SECONDS = 60.0


@pytest.fixture
def servers(services: None) -> str:
    return os.environ["KAFKA_BOOTSTRAP_SERVERS"]


@pytest.fixture
def topic(servers: str) -> str:
    """A new topic with three partitions."""
    name = f"contract.{uuid.uuid4().hex}"
    _create_topic(servers, name)
    return name


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[BrokerService]:
    """A broker that the test may end."""
    kind = ApacheKafka if os.environ.get(NODES) else BrokerService
    broker = kind(tmp_path / "broker")
    broker.start()
    yield broker
    broker.destroy()


@pytest.fixture
def consumer_of() -> Iterator[Callable[..., KafkaConsumer]]:
    """Consumers in groups of this test's own: whoever could not leave waits in nobody's way."""
    consumers: list[KafkaConsumer] = []
    test = uuid.uuid4().hex

    def make(servers: str, topic: str, group: str = "aggregator") -> KafkaConsumer:
        consumer = KafkaConsumer(
            topic,
            bootstrap_servers=servers,
            group_id=f"{group}-{test}",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=6000,
            heartbeat_interval_ms=500,
        )
        consumers.append(consumer)
        return consumer

    yield make
    for consumer in consumers:
        consumer.close()


def _create_topic(servers: str, name: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(name, num_partitions=PARTITIONS, replication_factor=1)])
    admin.close()


def _publish(servers: str, topic: str, pairs: list[tuple[bytes, bytes]]) -> None:
    producer = KafkaProducer(bootstrap_servers=servers, acks="all", enable_idempotence=True)
    for key, value in pairs:
        producer.send(topic, key=key, value=value)
    producer.flush()
    producer.close()


def _read(consumer: KafkaConsumer, count: int) -> list:
    """The next `count` records; fewer when no more come for a while."""
    records: list = []
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while len(records) < count and time.monotonic() < deadline:
        for batch in consumer.poll(timeout_ms=200).values():
            records += batch
    return records


def _events(count: int, organizations: int = 5) -> list[tuple[bytes, bytes]]:
    return [(b"org-%d" % (n % organizations), b"event-%d" % n) for n in range(count)]


def test_every_published_event_arrives_once_and_in_order_for_each_key(
    servers, topic, consumer_of
) -> None:
    events = _events(1000)
    _publish(servers, topic, events)

    records = _read(consumer_of(servers, topic), 1000)

    assert sorted(r.value for r in records) == sorted(value for _, value in events)
    for key in {key for key, _ in events}:
        assert [r.value for r in records if r.key == key] == [v for k, v in events if k == key]


def test_one_key_stays_in_one_partition(servers, topic, consumer_of) -> None:
    _publish(servers, topic, _events(300, organizations=20))
    partitions: dict[bytes, set[int]] = {}
    for record in _read(consumer_of(servers, topic), 300):
        partitions.setdefault(record.key, set()).add(record.partition)
    assert all(len(found) == 1 for found in partitions.values())
    assert set().union(*partitions.values()) == set(range(PARTITIONS))


def test_new_member_continues_after_the_committed_offsets(servers, topic, consumer_of) -> None:
    _publish(servers, topic, _events(100))
    first = consumer_of(servers, topic)
    assert len(_read(first, 100)) == 100
    first.commit()
    first.close()

    _publish(servers, topic, [(b"org-1", b"later")])

    second = consumer_of(servers, topic)
    assert [record.value for record in _read(second, 1)] == [b"later"]


def test_uncommitted_records_are_delivered_again(servers, topic, consumer_of) -> None:
    _publish(servers, topic, _events(50))
    first = consumer_of(servers, topic)
    assert len(_read(first, 50)) == 50
    first.close()

    assert len(_read(consumer_of(servers, topic), 50)) == 50


def test_groups_read_independently(servers, topic, consumer_of) -> None:
    _publish(servers, topic, _events(20))
    for group in ("aggregator", "abuse-detector"):
        consumer = consumer_of(servers, topic, group)
        assert len(_read(consumer, 20)) == 20
        consumer.commit()


class Member:
    """One member of a group, polling in a thread of its own as the aggregator's process does."""

    def __init__(self, consumer: KafkaConsumer) -> None:
        self.consumer = consumer
        self.assigned: set[TopicPartition] = set()
        self._leave = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()

    def _poll(self) -> None:
        while not self._leave.is_set():
            self.consumer.poll(timeout_ms=100)
            self.assigned = set(self.consumer.assignment())
        self.consumer.close()

    def leave(self) -> None:
        self._leave.set()
        self._thread.join(TIMEOUT_SECONDS)


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert condition()


def test_two_members_share_the_partitions_and_one_takes_over(servers, topic, consumer_of) -> None:
    everything = {TopicPartition(topic, number) for number in range(PARTITIONS)}
    first = Member(consumer_of(servers, topic))
    _wait_until(lambda: first.assigned == everything)

    second = Member(consumer_of(servers, topic))
    _wait_until(
        lambda: (
            bool(first.assigned and second.assigned)
            and first.assigned | second.assigned == everything
            and not first.assigned & second.assigned
        )
    )

    second.leave()
    _wait_until(lambda: first.assigned == everything)
    first.leave()


def test_lag_is_known_from_end_and_committed_offsets(servers, topic, consumer_of) -> None:
    _publish(servers, topic, _events(90))
    consumer = consumer_of(servers, topic)
    _read(consumer, 90)
    consumer.commit()
    _publish(servers, topic, _events(30))

    partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    ends = consumer.end_offsets(partitions)
    lag = sum(ends[partition] - (consumer.committed(partition) or 0) for partition in partitions)

    assert lag == 30


def test_large_batch_survives_a_clean_restart(own_broker, consumer_of) -> None:
    _create_topic(own_broker.url, "usage")
    _publish(own_broker.url, "usage", _events(2000))
    reader = consumer_of(own_broker.url, "usage")
    assert len(_read(reader, 2000)) == 2000
    reader.commit()
    reader.close()

    own_broker.stop()
    own_broker.start()
    _publish(own_broker.url, "usage", [(b"org-1", b"after")])

    assert [r.value for r in _read(consumer_of(own_broker.url, "usage"), 1)] == [b"after"]
    assert len(_read(consumer_of(own_broker.url, "usage", "another"), 2001)) == 2001


def test_clients_continue_after_the_broker_restarted(own_broker, consumer_of) -> None:
    _create_topic(own_broker.url, "usage")
    producer = KafkaProducer(
        bootstrap_servers=own_broker.url, acks="all", delivery_timeout_ms=30_000
    )
    consumer = consumer_of(own_broker.url, "usage")
    producer.send("usage", key=b"org", value=b"before").get(timeout=10)
    assert [r.value for r in _read(consumer, 1)] == [b"before"]
    consumer.commit()

    own_broker.stop()
    own_broker.start()

    producer.send("usage", key=b"org", value=b"after").get(timeout=30)
    assert [r.value for r in _read(consumer, 1)] == [b"after"]
    producer.close()


def test_clients_continue_after_the_broker_lost_everything(own_broker, consumer_of) -> None:
    """The log may vanish: who publishes again what was lost must be heard again."""
    _create_topic(own_broker.url, "usage")
    consumer = consumer_of(own_broker.url, "usage")
    _publish(own_broker.url, "usage", _events(200))
    assert len(_read(consumer, 200)) == 200
    consumer.commit()

    own_broker.destroy()
    own_broker.start()
    # The consumer that still runs may have asked for the topic first, which makes it.
    with contextlib.suppress(TopicAlreadyExistsError):
        _create_topic(own_broker.url, "usage")
    _publish(own_broker.url, "usage", _events(10))

    fresh = consumer_of(own_broker.url, "usage")
    assert len(_read(fresh, 10)) == 10


def test_another_client_library_reads_what_ours_wrote(servers, topic) -> None:
    _publish(servers, topic, _events(100))
    consumer = ConfluentConsumer(
        {
            "bootstrap.servers": servers,
            "group.id": "second-library",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    values: set[bytes | None] = set()
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while len(values) < 100 and time.monotonic() < deadline:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            values.add(message.value())
    consumer.close()
    assert len(values) == 100


def test_we_read_what_another_client_library_wrote(servers, topic, consumer_of) -> None:
    producer = ConfluentProducer({"bootstrap.servers": servers, "enable.idempotence": True})
    for key, value in _events(100):
        producer.produce(topic, key=key, value=value)
    assert producer.flush(TIMEOUT_SECONDS) == 0
    assert len(_read(consumer_of(servers, topic), 100)) == 100
