"""The aggregator's batches: each event counts once, in its hour, whatever is delivered."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing import events
from billing.aggregator.ingest import Ingested, KafkaRecord, ingest
from billing.models import OutboxEvent, UsageEvent, UsageRollup
from tests.billing.factories import uuid

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def event(n: int, **changes: Any) -> dict[str, Any]:
    return {
        "schema": events.SCHEMA_V1,
        "event_id": str(uuid(n)),
        "occurred_at": events.timestamp(NOON + timedelta(minutes=n % 180)),
        "organization_id": str(uuid(1000 + n % 2)),
        "project_id": str(uuid(2000)),
        "user_id": str(uuid(3000)),
        "key_id": None if n % 3 else str(uuid(4000)),
        "model": "m",
        "pool": "m",
        "input_tokens": n,
        "cached_input_tokens": n // 2,
        "output_tokens": 2 * n,
        "state": "completed",
        "ttft_ms": None,
        "duration_ms": 1,
        **changes,
    }


def messages(*bodies: Any, at: int = 0) -> list[KafkaRecord]:
    return [
        KafkaRecord(
            events.TOPIC_RECORDED,
            0,
            at + n,
            body if isinstance(body, bytes) else json.dumps(body).encode(),
        )
        for n, body in enumerate(bodies)
    ]


def rollups() -> set[tuple]:
    return set(
        UsageRollup.objects.values_list(
            "hour", "organization_id", "project_id", "user_id", "key_id", "model",
            "requests", "input_tokens", "cached_input_tokens", "output_tokens",
        )
    )  # fmt: skip


def test_repeated_events_change_nothing_within_and_across_batches():
    assert ingest(messages(event(5), event(5))) == Ingested(new=1, repeated=1)
    assert ingest(messages(event(5), event(7))) == Ingested(new=1, repeated=1)
    assert UsageEvent.objects.count() == 2
    assert sum(UsageRollup.objects.values_list("requests", flat=True)) == 2


def test_late_events_count_in_the_hour_in_which_they_occurred():
    late = event(3, occurred_at="2026-01-01T00:59:59.999999Z")
    ingest(messages(event(4), late))
    assert UsageRollup.objects.get(input_tokens=3).hour == datetime(2026, 1, 1, tzinfo=UTC)


def test_usage_from_the_page_shares_one_rollup():
    ingest(messages(event(2, key_id=None)))
    ingest(messages(event(2 + 360, key_id=None)))
    assert UsageRollup.objects.get().requests == 2


def test_invalid_and_unknown_events_are_rejected_with_a_reason_and_stop_nothing():
    batch = messages(
        event(1),
        b"\xff\x00 no json",
        event(2, schema="usage.recorded.v9"),
        event(3, output_tokens=-1),
        event(4),
    )
    assert ingest(batch) == Ingested(new=2, rejected=3)
    assert ingest(batch) == Ingested(repeated=2, rejected=3)
    rejections = OutboxEvent.objects.filter(topic=events.TOPIC_REJECTED).order_by("payload__offset")
    assert [row.payload["offset"] for row in rejections] == [1, 2, 3]
    reasons = [row.payload["reason"] for row in rejections]
    assert "usage.recorded.v9" in reasons[1]
    assert "output_tokens" in reasons[2]
    assert rejections[2].payload["message"] == json.dumps(event(3, output_tokens=-1))


def test_event_that_the_database_refuses_is_rejected_alone():
    """Valid by the schema, but no time that PostgreSQL holds: the rest of the batch is stored."""
    bad = event(9, occurred_at="0001-01-01T00:00:00Z", model="x")
    odd = [event(n, model="tab\there \\N \r\n 'quote' é 🦜") for n in (1, 2)]
    assert ingest(messages(*odd, bad, event(3))).new >= 3
    assert UsageEvent.objects.get(event_id=uuid(1)).model == "tab\there \\N \r\n 'quote' é 🦜"


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_any_delivery_of_the_same_events_gives_the_same_rollups(data):
    """Repeated, reordered and cut into batches at will, the sums are those of one delivery."""
    numbers = sorted(data.draw(st.sets(st.integers(1, 60), min_size=1, max_size=12)))
    repeats = data.draw(st.lists(st.sampled_from(numbers), max_size=12))
    delivered = data.draw(st.permutations([*numbers, *repeats]))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(delivered)), max_size=4)))
    with transaction.atomic():
        ingest(messages(*map(event, numbers)))
        expected = rollups()
        transaction.set_rollback(True)
    with transaction.atomic():
        for start, end in zip([0, *cuts], [*cuts, len(delivered)], strict=True):
            ingest(messages(*map(event, delivered[start:end])))
        assert rollups() == expected
        transaction.set_rollback(True)
