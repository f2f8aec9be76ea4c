"""Each kind of tokens is in every place that the table cannot reach, and something counts it."""

from dataclasses import fields, replace

import msgspec
import pytest
from django.db import transaction

from backend.generation.models import Generation
from backend.generation.pools.config import ReplicaConfig
from backend.generation.request import SamplingParams
from backend.generation.usage import Usage
from billing import events
from billing.aggregator.ingest import ingest
from billing.models import (
    InvoiceLine,
    OutboxEvent,
    UsageDay,
    UsageEvent,
    UsageRecord,
    UsageRollup,
    UsageSum,
)
from billing.quantities import WHOLES, Kind, Quantities, TokenCounts
from billing.services import usage_record_create
from tests.billing import factories
from tests.billing.test_ingest import messages
from tests.support.engine import ENGINE_KEY, Engine
from tests.support.gateway import (
    ask,
    caller,
    chat,
    pools_of,
    running_gateway,
    usage_records,
)

ELSEWHERE = {Kind.AUDIO, Kind.CHARACTERS, Kind.IMAGE, Kind.CACHED_OUTPUT}
"""Counted by what is heard, spoken, seen and reused: `test_audio.py`, `test_image_tokens.py`,
`test_shared_answers.py`."""

_ENDINGS = ("_tokens", "audio_seconds", "spoken_characters")

EACH_ITS_OWN = TokenCounts(
    **{
        kind.value: 1000 * (kind in WHOLES) + position
        for position, kind in enumerate(Kind, start=1)
    }
)
"""Another number for each kind, with no part above its whole."""


@pytest.mark.parametrize("kind", Kind)
def test_kind_is_declared_in_every_place_that_lists_kinds(kind):
    for model in (UsageRecord, UsageEvent, UsageRollup, InvoiceLine, Generation):
        assert kind.column in {f.name for f in model._meta.get_fields()}, model
    for counts in (TokenCounts, Quantities):
        assert kind.value in {f.name for f in fields(counts)}, counts
    assert kind.column in {f.name for f in msgspec.structs.fields(events.UsageRecorded)}
    assert kind.column in events.json_schema()["properties"]
    assert kind.column in Usage.__struct_fields__


@pytest.mark.parametrize(
    "columns",
    [
        {f.name for f in model._meta.get_fields() if f.name.endswith(_ENDINGS)}
        for model in (UsageRecord, UsageEvent, UsageRollup, InvoiceLine, Generation)
    ]
    + [
        {name for name in events.json_schema()["properties"] if name.endswith(_ENDINGS)},
        {name for name in events.UsageRecorded.__struct_fields__ if name.endswith(_ENDINGS)},
        set(Usage.__struct_fields__),
    ],
)
def test_no_place_lists_an_unknown_kind(columns):
    assert columns == {kind.column for kind in Kind}


@pytest.mark.django_db
def test_every_kind_comes_through_the_pipeline_with_its_own_number():
    with transaction.atomic():
        record = usage_record_create(
            facts=replace(factories.facts(factories.principal()), reported=EACH_ITS_OWN)
        )
    payload = OutboxEvent.objects.get(event_id=record.generation_id).payload
    ingest(messages(payload))
    for row in (
        record,
        UsageEvent.objects.get(),
        UsageRollup.objects.get(),
        UsageDay.objects.get(),
        *UsageSum.objects.all(),
    ):
        assert TokenCounts.of(row) == EACH_ITS_OWN, type(row)


@pytest.mark.model
async def test_every_kind_is_counted_by_a_real_generation(
    transactional_db: None, model_engine: Engine
) -> None:
    """The same long prompt twice: the second time the engine has most of it in its cache. It
    thinks, because it is held to."""
    replicas = (ReplicaConfig("e", model_engine.url, ENGINE_KEY),)
    async with running_gateway(pools_of(upstream_model="smollm2-135m", replicas=replicas)):
        principal = await caller()
        text = "Say one word about each of these numbers: " + " ".join(map(str, range(20)))
        written = r"<think>[a-z]{3,9}</think>[a-z]{3,9}"
        params = SamplingParams(max_tokens=30, extra={"guided_regex": written})
        for _ in range(2):
            started, _ = await ask(chat(principal, text=text, params=params))
    [record] = await usage_records(started.id)
    counted = TokenCounts.of(record)
    assert [kind for kind, tokens in counted.items() if not tokens and kind not in ELSEWHERE] == []
    assert counted.cached_input < counted.input
    assert counted.reasoning < counted.output
