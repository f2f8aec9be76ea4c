"""Batches of a model that is out hold up nobody, and no customer's batch another customer's."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.api.batches.lines import generation_id_of
from backend.api.batches.rows import batches_count, batches_list
from backend.api.batches.turns import Turns, open_batches, owner_of
from backend.api.models import Batch, BatchLine, BatchState
from backend.platform.ids import derived_id, time_of_id, time_ordered_id
from tests.factories import MODEL, member

pytestmark = pytest.mark.django_db

OUT = "a-model-that-is-out"


def batch_of(principal: Principal, *, model: str = MODEL, minutes_ago: int = 0) -> Batch:
    now = timezone.now()
    batch = Batch.objects.create(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        endpoint="/v1/chat/completions",
        model=model,
        input_file_id=uuid4(),
        state=BatchState.IN_PROGRESS,
        total=1,
        created_at=now - timedelta(minutes=minutes_ago),
        expires_at=now + timedelta(hours=22),
    )
    BatchLine.objects.create(batch=batch, number=1, custom_id="x", body="{}")
    return batch


def looked_at() -> set[UUID]:
    return {batch.row.pk for batch in open_batches()}


def test_batches_of_a_model_that_is_out_hide_no_others() -> None:
    waiting = [member() for _ in range(4)]
    for number in range(120):
        batch_of(waiting[number % 4], model=OUT, minutes_ago=100)
    young = batch_of(member())
    assert young.pk in looked_at()


def test_many_batches_of_one_customer_hide_no_others() -> None:
    busy = member()
    for _ in range(120):
        batch_of(busy, minutes_ago=100)
    young = batch_of(member())
    assert young.pk in looked_at()


def test_every_organization_comes_round() -> None:
    """More of them than one round looks at."""
    expected = {batch_of(member()).pk for _ in range(60)}
    seen: set[UUID] = set()
    for _ in range(60):
        seen |= looked_at()
    assert seen == expected


def test_organization_with_fewest_running_lines_is_next() -> None:
    busy, quiet = (batch_of(member(), minutes_ago=age) for age in (10, 1))
    turns = Turns()
    running = {owner_of(busy): 3}
    assert turns.order([busy, quiet], running) == [[quiet], [busy]]


def test_organizations_without_running_lines_take_turns() -> None:
    first, second = (batch_of(member(), minutes_ago=age) for age in (10, 1))
    turns = Turns()
    turns.served(first)
    assert turns.order([first, second], {}) == [[second], [first]]
    turns.served(second)
    assert turns.order([first, second], {}) == [[first], [second]]


def test_list_counts_no_lines() -> None:
    principal = member()
    for _ in range(3):
        batch = batch_of(principal)
        batch.lines.update(is_done=True)
    batches_count(list(Batch.objects.values_list("pk", flat=True)))
    with CaptureQueriesContext(connection) as queries:
        page = batches_list(principal=principal, limit=100, after=None)
    assert not any("api_batchline" in query["sql"] for query in queries)
    assert [one["request_counts"]["completed"] for one in page["data"]] == [1, 1, 1]


def test_line_has_the_time_of_its_batch() -> None:
    batch = batch_of(member())
    line = batch.lines.get()
    generation_id = generation_id_of(line)
    assert time_of_id(generation_id) == time_of_id(batch.pk) is not None
    line.attempt += 1
    assert generation_id_of(line) != generation_id


def test_id_derived_from_one_without_a_time_is_stable() -> None:
    source, timed = uuid4(), time_ordered_id()
    assert derived_id(source, "1") == derived_id(source, "1") != derived_id(source, "2")
    assert time_of_id(derived_id(source, "1")) is None
    assert derived_id(timed, "1") == derived_id(timed, "1") != derived_id(timed, "2")
