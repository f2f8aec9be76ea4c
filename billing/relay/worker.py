"""The relay process: takes rows from the outbox to Kafka, at least once, in order by key.

A row is marked as published in the transaction that claimed it, after the broker acknowledged
it. Dying in between publishes it again; consumers tell repeats by `event_id`. While Kafka is
away rows wait in PostgreSQL, and the product does not notice.
"""

from collections.abc import Callable, Iterable

import structlog
from django.db import Error as DatabaseError
from django.db import connection, transaction
from kafka import KafkaProducer
from kafka.errors import KafkaError

from billing import kafka, metrics
from billing.relay import outbox
from billing.relay.outbox import OutboxRow
from billing.service_loop import Backoff, Stop

log = structlog.get_logger(__name__)

BATCH = 1000
FLUSH_S = 25.0


class Relay:
    """One relay; any number of them may run.

    Args:
        connect: builds the producer; called again after every failure, because an idempotent
            producer cannot go on with a broker that has forgotten it.
    """

    def __init__(self, *, connect: Callable[[], KafkaProducer] = kafka.producer) -> None:
        self._connect = connect
        self._producer: KafkaProducer | None = None

    def run(self, stop: Stop) -> None:
        """Publish until `stop` is set; the batch at hand is finished first."""
        failing = Backoff(first=0.2, last=15.0)
        idle = Backoff(first=0.02, last=0.5)
        while not stop:
            try:
                published = self.publish_batch()
            except (KafkaError, DatabaseError, OSError) as error:
                pause = failing.next()
                log.warning("relay_waits", reason=repr(error), seconds=round(pause, 2))
                self.close()
                connection.close()
                stop.wait(pause)
                continue
            failing.reset()
            if published:
                idle.reset()
            else:
                stop.wait(idle.next())
        self.close()

    def publish_batch(self) -> int:
        """Publish what waits, up to a batch. Returns how many rows went out.

        Raises:
            KafkaError: some did not; those that did are marked.
        """
        with transaction.atomic():
            rows = outbox.claim(limit=BATCH)
            if not rows:
                return 0
            published, error = self._send(rows)
            outbox.mark_published(published)
        metrics.OUTBOX_PUBLISHED.inc(len(published))
        if error is not None:
            raise error
        return len(published)

    def close(self) -> None:
        if self._producer is not None:
            producer, self._producer = self._producer, None
            producer.close(timeout=1.0)

    def _send(self, rows: Iterable[OutboxRow]) -> tuple[list[int], KafkaError | None]:
        """Send, wait, and say which rows may be marked.

        Once a row of a partition failed, later ones of that partition are not marked even if
        they arrived: they go out again behind it, so that order by key holds.
        """
        if self._producer is None:
            self._producer = self._connect()
        producer = self._producer
        sent = []
        failure: KafkaError | None = None
        for row in rows:
            try:
                sent.append((row, producer.send(row.topic, value=row.value, key=row.key)))
            except KafkaError as error:
                failure = error
                break
        try:
            producer.flush(timeout=FLUSH_S)
        except KafkaError as error:
            failure = failure or error
        published: list[int] = []
        failed_partitions: set[int] = set()
        for row, future in sent:
            if row.partition in failed_partitions:
                continue
            if future.is_done and future.succeeded():
                published.append(row.id)
            else:
                failed_partitions.add(row.partition)
                failure = failure or _reason(future.exception)
        return published, failure


def _reason(exception: BaseException | None) -> KafkaError:
    if isinstance(exception, KafkaError):
        return exception
    return KafkaError(f"not acknowledged within {FLUSH_S:g} s: {exception!r}")
