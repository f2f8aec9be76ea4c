"""Kafka clients as billing uses them. Built by long-running commands only, never in a request:
a constructor can hang for half a minute against a broker that does not answer.
"""

import structlog
from django.conf import settings
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import TopicAlreadyExistsError

from billing.events import TOPIC_RECORDED, TOPIC_REJECTED

log = structlog.get_logger(__name__)

PARTITIONS = 6
"""Of a new topic; how many aggregators can share the work. An operator may add more later."""


def producer() -> KafkaProducer:
    """Idempotent, waits for all replicas, gives up within 30 s so that its user can back off."""
    return KafkaProducer(
        bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS,
        client_id="parley-relay",
        enable_idempotence=True,
        acks="all",
        linger_ms=5,
        batch_size=256 * 1024,
        max_block_ms=10_000,
        request_timeout_ms=10_000,
        delivery_timeout_ms=20_000,
        bootstrap_timeout_ms=10_000,
        reconnect_backoff_max_ms=2_000,
    )


def consumer(*, group: str, topics: list[str]) -> KafkaConsumer:
    """A member of `group` that commits by hand and starts at the beginning.

    From the beginning also where the log was lost: repeats are harmless, gaps are not.
    """
    return KafkaConsumer(
        *topics,
        bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS,
        client_id=f"parley-{group}",
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        session_timeout_ms=15_000,
        heartbeat_interval_ms=3_000,
        max_poll_interval_ms=300_000,
        metadata_max_age_ms=30_000,
        bootstrap_timeout_ms=10_000,
        reconnect_backoff_max_ms=2_000,
        fetch_max_wait_ms=200,
        max_partition_fetch_bytes=8 * 1024 * 1024,
    )


def ensure_topics() -> None:
    """Create the topics that do not exist; their settings are left alone where they do."""
    admin = KafkaAdminClient(
        bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS,
        client_id="parley-topics",
        bootstrap_timeout_ms=10_000,
    )
    try:
        known = set(admin.list_topics())
        for topic in (TOPIC_RECORDED, TOPIC_REJECTED):
            if topic in known:
                continue
            try:
                # -1: the broker's own default, which production sets to 3.
                admin.create_topics([NewTopic(topic, PARTITIONS, -1)])
                log.info("topic_created", topic=topic, partitions=PARTITIONS)
            except TopicAlreadyExistsError:
                continue
    finally:
        admin.close()
