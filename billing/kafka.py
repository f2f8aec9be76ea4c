"""Kafka clients as billing uses them. Built by long-running commands only, never in a request:
a constructor can hang for half a minute against a broker that does not answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from django.conf import settings
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import MemberToRemove, NewTopic
from kafka.errors import NoError, TopicAlreadyExistsError, UnknownMemberIdError

from billing.events import TOPIC_RECORDED, TOPIC_REJECTED
from billing.kafka_durability import warn_of_losses
from billing.kafka_failures import explained
from billing.periods import RECONCILED

log = structlog.get_logger(__name__)

TOPICS = (TOPIC_RECORDED, TOPIC_REJECTED)
PARTITIONS = 6
"""Of a new topic; how many aggregators can share the work. An operator may add more later."""


@contextmanager
def _brokers() -> Iterator[dict[str, Any]]:
    """Where the brokers are and how they are reached, for a client that is made in the block.

    Raises OSError where a file of TLS is unusable, KafkaUnusableError where brokers refuse us.
    """
    servers, access = settings.KAFKA_BOOTSTRAP_SERVERS, settings.KAFKA_ACCESS
    with explained(servers, access):
        yield {"bootstrap_servers": servers, **access.options()}


def producer() -> KafkaProducer:
    """Idempotent, waits for all replicas, gives up within 30 s so that its user can back off."""
    with _brokers() as brokers:
        return KafkaProducer(
            **brokers,
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


def consumer(*, group: str, member: str, topics: list[str]) -> KafkaConsumer:
    """A member of `group` that commits by hand and starts at the beginning.

    `member` is its name for static membership: who comes back under it takes its partitions
    up at once. From the beginning also where the log was lost: repeats are harmless, gaps are not.
    """
    with _brokers() as brokers:
        return KafkaConsumer(
            *topics,
            **brokers,
            client_id=f"parley-{group}",
            group_id=group,
            group_instance_id=member,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=10_000,
            heartbeat_interval_ms=2_000,
            # A batch takes well under a second. This is also how long a rebalance may wait for a
            # member that died and does not come back.
            max_poll_interval_ms=20_000,
            metadata_max_age_ms=30_000,
            bootstrap_timeout_ms=10_000,
            reconnect_backoff_max_ms=2_000,
            fetch_max_wait_ms=200,
            max_partition_fetch_bytes=8 * 1024 * 1024,
            # The embedded broker sends all that is behind in one frame, whatever it is asked for:
            # with the client's own limit, 100 MB, nobody could read on after 190,000 events.
            receive_message_max_bytes=2**31 - 1,
        )


def leave_group(*, group: str, member: str) -> None:
    """Take a named member out of its group, so that others get its partitions at once.

    A static member says nothing when it closes; without this its partitions would wait until
    its session times out. A member that the group does not know is out already. Raises KafkaError.
    """
    with _brokers() as brokers:
        admin = KafkaAdminClient(
            **brokers,
            client_id=f"parley-{group}",
            bootstrap_timeout_ms=5_000,
        )
    try:
        left = admin.remove_group_members(group, [MemberToRemove(group_instance_id=member)])
        for error in left.values():
            if error not in (NoError, UnknownMemberIdError):
                raise error(member)
    finally:
        admin.close()


def ensure_topics() -> None:
    """Create the topics that do not exist; leave the settings of others alone, and warn of those
    that can lose records."""
    with _brokers() as brokers:
        admin = KafkaAdminClient(
            **brokers,
            client_id="parley-topics",
            bootstrap_timeout_ms=10_000,
        )
    try:
        known = set(admin.list_topics())
        for topic in TOPICS:
            if topic in known:
                continue
            try:
                # -1: the broker's own default, which production sets to 3.
                admin.create_topics([NewTopic(topic, PARTITIONS, -1)])
                log.info("topic_created", topic=topic, partitions=PARTITIONS)
            except TopicAlreadyExistsError:
                continue
        warn_of_losses(
            admin,
            list(known.intersection(TOPICS)),
            servers=settings.KAFKA_BOOTSTRAP_SERVERS,
            kept_for=RECONCILED,
        )
    finally:
        admin.close()
