"""A line of a batch whose process is killed or stalls as it begins the line: answered all the
same, and what its customer pays is one answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from backend.accounts.authentication import principal_for_key_id
from backend.accounts.principal import Principal
from backend.api.batches import answers, loop
from backend.api.batches.answers import line_run
from backend.api.batches.lines import generation_id_of, lines_claim
from backend.api.models import Batch, BatchLine, BatchState, StoredFile
from backend.generation.admission.prompt_check import generation_check_and_create
from backend.generation.embeddings import EmbeddingRequest
from backend.generation.gateway import Gateway
from backend.generation.models import Generation
from backend.generation.records import usage_facts
from backend.generation.request import GenerationRequest, admitted_now
from backend.generation.service import generation_start
from backend.platform.cancellation import end_tasks
from backend.platform.database import in_database
from backend.platform.errors import Conflict, UpstreamFailed
from billing.models import UsageRecord
from billing.prices.book import PriceBook, PriceEntry, Tier
from billing.quantities import TOKEN_COLUMNS, Kind
from billing.services import usage_cost
from billing.tiers import BATCH, priced_model
from infra.load.upstream import SyntheticUpstream, words
from tests.factories import MODEL, api_key_of
from tests.support.gateway import (
    HELD,
    chat,
    doomed_gateway,
    kill_gateway,
    pools_of,
    running_gateway,
    stored,
)

TOKENS = 30


@pytest.fixture(autouse=True)
def soon(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody answers any more is another's within a second, and tried again at once."""
    settings.GENERATION_LEASE_S = 0.3
    monkeypatch.setattr(loop, "_WAIT", timedelta())


async def test_line_killed_before_its_lease_is_begun_anew_and_the_first_costs_nothing(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """It has its row, and Redis knows nothing of it: no engine has been asked."""
    line = await in_database(_line)
    first = generation_id_of(line)
    request = _request(line, await in_database(_claimed, line))
    admitted = admitted_now(request, generation_id=first, timeout_s=60.0)
    await in_database(generation_check_and_create, admitted, model=MODEL)

    async with running_gateway(pools_of(upstream), reap_after_s=0.1) as gateway, _batches(gateway):
        answered_by = await _answered(line)

    assert answered_by != first
    assert (await stored(first)).error_code == "lost"
    by_id = {record.generation_id: record for record in await in_database(_billed, line)}
    assert set(by_id) == {first, answered_by}
    assert not any(getattr(by_id[first], count) for count in TOKEN_COLUMNS)
    assert by_id[answered_by].output_tokens == TOKENS
    assert len(upstream.served) == 1
    costs = [await in_database(_cost, one) for one in (first, answered_by)]
    assert costs == [0, Decimal("0.061")]


async def test_line_killed_after_its_lease_goes_on_as_the_same_generation(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    line = await in_database(_line)
    first = generation_id_of(line)
    upstream.behaviour.hang_after = HELD
    killed = await doomed_gateway(pools_of(upstream))
    await generation_start(killed, _request(line, await in_database(_claimed, line)))
    async with asyncio.timeout(60):
        while not any(one.sent >= HELD for one in upstream.served):
            await asyncio.sleep(0.02)
    await kill_gateway(killed)
    upstream.behaviour.hang_after = None

    async with running_gateway(pools_of(upstream), reap_after_s=0.1) as gateway, _batches(gateway):
        answered_by = await _answered(line)

    assert answered_by == first
    [record] = await in_database(_billed, line)
    assert (record.generation_id, record.output_tokens) == (first, TOKENS)


async def test_line_that_a_stalled_process_gives_up_is_begun_and_billed_under_one_id(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """It stalls until another one has claimed the line, and gives it up before that one begins."""
    line = await in_database(_line)
    principal = await in_database(_claimed, line)
    stalled = await in_database(BatchLine.objects.get, pk=line.pk)
    slow = await in_database(_claimed_when_lapsed, line)
    error = UpstreamFailed("No replica could serve this.")
    await in_database(loop._not_answered, stalled, error)
    next_one = await in_database(_claimed_when_lapsed, line)
    assert (slow.attempt, next_one.attempt) == (0, 1)

    async with running_gateway(pools_of(upstream)) as gateway:
        with suppress(Conflict):
            await line_run(gateway, line.batch, slow, principal)
        await in_database(loop._not_answered, slow, error)
        await line_run(gateway, line.batch, next_one, principal)
        async with _batches(gateway):
            answered_by = await _answered(line)

    [record] = await in_database(_billed, line)
    assert (record.generation_id, record.output_tokens) == (answered_by, TOKENS)
    assert answered_by == generation_id_of(next_one)


async def test_vectors_of_a_line_that_is_tried_anew_elsewhere_are_not_billed(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is billed at once with its answer has no row before: the answer itself is refused."""
    line = await in_database(_line, endpoint="/v1/embeddings", input="Hm.")
    principal = await in_database(_claimed, line)
    await in_database(loop._not_answered, line, UpstreamFailed("No replica could serve this."))

    async def answered(_: object, wanted: EmbeddingRequest) -> None:
        """By a replica: what follows is the transaction that bills it."""
        assert wanted.stores is not None
        await in_database(transaction.atomic(wanted.stores), {"object": "list", "data": []})

    monkeypatch.setattr(answers, "embeddings_create", answered)
    nowhere: Any = None
    with pytest.raises(Conflict):
        await line_run(nowhere, line.batch, line, principal)
    left = await in_database(BatchLine.objects.get, pk=line.pk)
    assert (left.is_done, left.attempt) == (False, 1)


def _line(endpoint: str = "/v1/chat/completions", **body: Any) -> BatchLine:
    """The only one of a new batch, which nobody has claimed."""
    key, _ = api_key_of()
    batch = Batch.objects.create(
        organization_id=key.organization_id,
        user_id=key.created_by_id,
        api_key=key,
        endpoint=endpoint,
        model=MODEL,
        input_file_id=uuid4(),
        state=BatchState.IN_PROGRESS,
        total=1,
        expires_at=timezone.now() + timedelta(days=1),
    )
    chat_body = {"max_tokens": TOKENS, "messages": [{"role": "user", "content": "Hm."}]}
    asked: dict[str, Any] = {"custom_id": "a", "method": "POST", "url": endpoint}
    asked["body"] = {"model": MODEL, **(body or chat_body)}
    text = orjson.dumps(asked).decode()
    return BatchLine.objects.create(batch=batch, number=1, custom_id="a", body=text)


def _claimed(line: BatchLine) -> Principal:
    """By the process that is to be killed; for whom it answers."""
    [claimed] = lines_claim(line.batch, limit=1)
    assert claimed.pk == line.pk and line.batch.api_key_id is not None
    return principal_for_key_id(line.batch.api_key_id)


def _claimed_when_lapsed(line: BatchLine) -> BatchLine:
    BatchLine.objects.filter(pk=line.pk).update(claimed_until=timezone.now())
    [claimed] = lines_claim(line.batch, limit=1)
    return claimed


def _request(line: BatchLine, principal: Principal) -> GenerationRequest:
    """As `backend/api/batches/answers.py` asks for it."""
    return chat(
        principal,
        "Hm.",
        max_tokens=TOKENS,
        generation_id=generation_id_of(line),
        on_disconnect="go_on",
        stores_answer=True,
        service_tier=BATCH,
    )


@asynccontextmanager
async def _batches(gateway: Gateway) -> AsyncIterator[None]:
    """The loop of a web process that is alive."""
    running = asyncio.create_task(loop.BatchLoop(gateway).run())
    try:
        yield
    finally:
        await end_tasks([running])


async def _answered(line: BatchLine) -> UUID:
    """Wait for the batch's file, whose one answer is whole; which generation's it is."""
    async with asyncio.timeout(60):
        while (file := await in_database(_output, line)) is None:
            await asyncio.sleep(0.05)
    [said] = (orjson.loads(one) for one in file.splitlines())
    body = said["response"]["body"]
    assert body["choices"][0]["message"]["content"] == words(0, TOKENS)
    return UUID(body["id"].removeprefix("chatcmpl-"))


def _output(line: BatchLine) -> bytes | None:
    """None until the batch has ended."""
    batch = Batch.objects.get(pk=line.batch_id)
    if batch.is_open:
        return None
    assert (batch.state, batch.completed, batch.failed) == (BatchState.COMPLETED, 1, 0)
    assert batch.output_file_id is not None
    file = StoredFile.objects.get(pk=batch.output_file_id)
    with default_storage.open(file.file, "rb") as source:
        return bytes(source.read())


def _billed(line: BatchLine) -> list[UsageRecord]:
    return list(UsageRecord.objects.filter(organization_id=line.batch.organization_id))


def _cost(generation_id: UUID) -> Decimal:
    """At a price of 1 for a thousand input tokens and 2 for a thousand output tokens."""
    begins = datetime(2026, 1, 1, tzinfo=UTC)
    entries = [
        PriceEntry(priced_model(MODEL, BATCH), kind, begins, (Tier(0, Decimal(price)),))
        for kind, price in ((Kind.INPUT, 1), (Kind.OUTPUT, 2))
    ]
    facts = usage_facts(Generation.objects.get(pk=generation_id))
    return usage_cost(facts=facts, book=PriceBook("USD", entries))
