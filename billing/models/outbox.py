"""The outbox: what must reach Kafka, written in the transaction of what it announces."""

from zlib import crc32

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

PARTITIONS = 64
"""Outbox rows are spread over partitions by key. A relay owns one while it publishes from it, so
rows of one key leave in order while several relays work."""


def partition_of(key: str) -> int:
    return crc32(key.encode()) % PARTITIONS


class OutboxEvent(models.Model):
    """One message for Kafka. Published at least once; consumers recognise repeats by `event_id`."""

    topic = models.CharField(max_length=100)
    key = models.CharField(max_length=64)
    partition = models.SmallIntegerField(db_column="lane")
    event_id = models.UUIDField()
    payload = models.JSONField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["topic", "event_id"], name="outbox_event_once")
        ]
        indexes = [
            models.Index(
                fields=["partition", "id"], condition=Q(published_at=None), name="outbox_waiting"
            ),
            models.Index(
                fields=["published_at"],
                condition=Q(published_at__isnull=False),
                name="outbox_published",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.event_id}"
