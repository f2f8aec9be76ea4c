"""A process that stalls anywhere between a request and its end, and goes on when another one has
ended or continued what it held: what is delivered, stored and billed are the same tokens."""

import asyncio
from collections import Counter
from itertools import count
from uuid import UUID

from backend.accounts.principal import Principal
from backend.generation.models import Generation
from backend.generation.request import GenerationRequest
from backend.generation.service import generation_events, generation_start
from backend.platform.database import in_database
from backend.platform.errors import ParleyError
from billing.models import UsageRecord
from infra.load.upstream import SyntheticUpstream
from tests.support.gateway import Answer, caller, chat, pools_of, running_gateway
from tests.support.stalling import StallingProcess, stalled_after

TOKENS = 3
TIMEOUT_S = 30.0
TIMES = {"lease_s": 0.5, "reap_after_s": 0.2}


async def test_stalled_process_delivers_what_is_billed(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """It is stopped at each step of its event loop in turn, until a request ends before that."""
    principal = await caller()
    pools = pools_of(upstream)
    upstream.behaviour.rate = 2000.0
    process = StallingProcess()
    await process.start(pools, **TIMES)
    outcomes: Counter[str] = Counter()
    request = chat(principal, max_tokens=TOKENS, stream_usage=True)
    try:
        async with running_gateway(pools, **TIMES):
            for steps in count(1):
                before = await _ids(principal)
                with stalled_after(process, steps):
                    asking = asyncio.wrap_future(process.run(_ask(process, request)))
                    was_stalled = await _stall(process, asking)
                    if was_stalled:
                        await _others_have_it(principal, before)
                answer = await asyncio.wait_for(asking, TIMEOUT_S)
                outcomes[await _check(principal, before, answer)] += 1
                if not was_stalled:
                    break
    finally:
        await process.stop()
    assert set(outcomes) == {"refused", "completed"}, "some were reaped, some failed over"


async def _ask(process: StallingProcess, request: GenerationRequest) -> Answer | ParleyError:
    try:
        started = await generation_start(process.gateway, request)
        stream = generation_events(process.gateway, started.id, principal=request.principal)
        return Answer([event async for event in stream])
    except ParleyError as error:
        return error


async def _stall(process: StallingProcess, asking: "asyncio.Future[Answer | ParleyError]") -> bool:
    while not asking.done():
        if process.is_stalled:
            return True
        await asyncio.sleep(0.002)
    return False


async def _ids(principal: Principal) -> set[UUID]:
    rows = Generation.objects.filter(organization_id=principal.organization_id)
    return await in_database(lambda: set(rows.values_list("pk", flat=True)))


async def _others_have_it(principal: Principal, before: set[UUID]) -> None:
    """Wait until what the stalled process has begun is ended by another one."""
    await asyncio.sleep(0.05)  # its row may be on its way to the server
    rows = Generation.objects.filter(organization_id=principal.organization_id)
    new = rows.exclude(pk__in=before)
    async with asyncio.timeout(TIMEOUT_S):
        while any(await in_database(lambda: [row.is_open for row in new.all()])):
            await asyncio.sleep(0.05)


async def _check(principal: Principal, before: set[UUID], answer: Answer | ParleyError) -> str:
    """Delivered, stored and billed are the same; how it ended."""
    ids = await _ids(principal) - before
    rows = await in_database(lambda: list(Generation.objects.filter(pk__in=ids)))
    records = await in_database(lambda: list(UsageRecord.objects.filter(generation_id__in=ids)))
    if isinstance(answer, ParleyError):
        assert not any(row.is_open or row.output_tokens for row in rows)
        assert not any(record.output_tokens for record in records)
        assert answer.code == "overloaded"
        return "refused"
    answer.check_order()
    [row], [record] = rows, records
    delivered = len(answer.text.split())
    assert (delivered, delivered) == (row.output_tokens, record.output_tokens), answer
    assert row.state == record.state
    assert (row.state == "completed") == (answer.error is None)
    for usage in [chunk["usage"] for chunk in answer.chunks if chunk.get("usage")]:
        assert usage["completion_tokens"] == delivered
    return str(row.state)
