"""A consumer of `usage.recorded` that stores batches and only then commits its offsets.

Dying between the two delivers the batch again, which changes nothing. The same loop serves the
aggregator and the abuse detector: they differ in what they do with a batch.
"""

import struct
import time
from collections.abc import Callable, Sequence

import psycopg
import structlog
from django.db import Error as DatabaseError
from django.db import connection
from kafka import KafkaConsumer
from kafka.errors import CommitFailedError, KafkaError, RebalanceInProgressError

from billing import kafka
from billing.aggregator.ingest import KafkaRecord
from billing.aggregator.instance import MemberName
from billing.events import TOPIC_RECORDED
from billing.service_loop import Backoff, Stop

log = structlog.get_logger(__name__)

_FAILURES = (KafkaError, DatabaseError, psycopg.Error, OSError, struct.error)
"""The last one: a broker that knows no assignment for a member sends an empty one, while others
join and leave, and kafka-python unpacks it without looking."""

BATCH = 5000
JOINING_POLL_MS, POLL_MS = 50, 10
"""A group is joined while the client is polled; once it is, records wait in the client."""
IDLE_FIRST_S, IDLE_LAST_S = 0.05, 1.0
"""Pauses after polls that brought nothing, growing while nothing comes. A broker may answer an
empty fetch at once instead of holding it (`fetch_max_wait_ms`), and the client would then ask it
again without end. Far shorter than what the group allows a silent member."""
LEAVE_TRIES = 3
"""While a member that is gone has not left, its partitions rest: with the embedded broker until
somebody takes its name."""


class Consumer:
    """Feeds batches to `store` and commits what it has stored.

    Args:
        group: the consumer group; its members share the partitions.
        store: stores a batch durably; must bear getting a record again.
        connect: builds the Kafka consumer; called again after every failure, so that reading
            goes on from what is committed.
    """

    def __init__(
        self,
        *,
        group: str,
        store: Callable[[Sequence[KafkaRecord]], object],
        connect: Callable[..., KafkaConsumer] = kafka.consumer,
    ) -> None:
        self._group, self._store, self._connect = group, store, connect
        self._consumer: KafkaConsumer | None = None
        self._member: MemberName | None = None

    def run(self, stop: Stop, *, every: tuple[float, Callable[[], None]] | None = None) -> None:
        """Consume until `stop` is set; the batch at hand is stored and committed first.

        Args:
            every: seconds, and what to do whenever that many have passed.
        """
        failing = Backoff(first=0.2, last=15.0)
        idle = Backoff(first=IDLE_FIRST_S, last=IDLE_LAST_S)
        due = time.monotonic()
        while not stop:
            try:
                if self.consume_batch():
                    idle.reset()
                elif self._has_partitions():
                    stop.wait(idle.next())
                if every is not None and time.monotonic() >= due:
                    due = time.monotonic() + every[0]
                    every[1]()
            except _FAILURES as error:
                pause = failing.next()
                log.warning(
                    "consumer_waits",
                    group=self._group,
                    reason=repr(error),
                    seconds=round(pause, 2),
                )
                self.close()
                connection.close()
                stop.wait(pause)
            else:
                failing.reset()
        self._leave()

    def consume_batch(self) -> int:
        """Read, store, commit. Returns how many records were stored."""
        if self._consumer is None:
            self._join()
        assert self._consumer is not None
        timeout_ms = POLL_MS if self._has_partitions() else JOINING_POLL_MS
        batch = self._consumer.poll(timeout_ms=timeout_ms, max_records=BATCH)
        records = [
            KafkaRecord(polled.topic, polled.partition, polled.offset, polled.value or b"")
            for partition in batch.values()
            for polled in partition
        ]
        if not records:
            return 0
        self._store(records)
        try:
            self._consumer.commit()
        except (CommitFailedError, RebalanceInProgressError) as error:
            # The partitions moved on meanwhile; their new owner gets the batch again.
            log.info("commit_refused", group=self._group, reason=repr(error))
        return len(records)

    def _has_partitions(self) -> bool:
        """Whether joining the group is over: it advances only while the client is polled."""
        return self._consumer is not None and bool(self._consumer.assignment())

    def _join(self) -> None:
        kafka.ensure_topics()
        self._member = MemberName(self._group)
        self._consumer = self._connect(
            group=self._group, member=self._member.name, topics=[TOPIC_RECORDED]
        )
        log.info("consumer_joins", group=self._group, member=self._member.name)

    def _leave(self) -> None:
        """Stop for good: the others take over now and not when the session times out."""
        self._close_consumer()
        if self._member is not None:
            self._leave_group(self._member.name)
        # Only now: who takes the name up before the group has let it go is thrown out with it.
        self._release_name()

    def _leave_group(self, member: str) -> None:
        for _ in range(LEAVE_TRIES):
            try:
                return kafka.leave_group(group=self._group, member=member)
            except (KafkaError, OSError) as error:
                log.warning("leave_failed", group=self._group, reason=repr(error))

    def close(self) -> None:
        """Drop the consumer and its name; what is not committed is read again."""
        self._close_consumer()
        self._release_name()

    def _close_consumer(self) -> None:
        if self._consumer is not None:
            consumer, self._consumer = self._consumer, None
            try:
                consumer.close(autocommit=False)
            except (KafkaError, OSError, struct.error) as error:
                log.info("consumer_close_failed", group=self._group, reason=repr(error))

    def _release_name(self) -> None:
        if self._member is not None:
            self._member.release()
            self._member = None
