"""Promise 7: under many times the load that can be served, what is served is served at full
speed, the rest is told at once, and better plans go first."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from backend.accounts.principal import PlanLimits, Principal
from backend.platform.errors import Overloaded
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import (
    TURN,
    caller,
    chat,
    check_billed,
    pools_of,
    read,
    running_gateway,
    start,
)

StartUpstream = Callable[..., Awaitable[SyntheticUpstream]]

FREE = PlanLimits("free", 10, 100_000, 100_000_000, 10_000)
PREMIUM = PlanLimits("premium", 1, 100_000, 100_000_000, 10_000)


async def test_excess_load_is_shed_and_premium_is_served_first(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    upstream = await start_upstream(rate=100.0)
    free = await caller(FREE)
    premium = replace(free, plan=PREMIUM)
    busiest = 0
    async with running_gateway(pools_of(upstream, max_concurrency=4), max_queued=8):

        async def client(principal: Principal) -> tuple[Principal, float, object]:
            nonlocal busiest
            started_at = time.monotonic()
            try:
                started = await start(chat(principal, max_tokens=20))
            except Overloaded as error:
                return principal, time.monotonic() - started_at, error
            busiest = max(busiest, upstream.running)
            answer = await read(started.id, principal)
            assert answer.text == words(0, 20)
            return principal, time.monotonic() - started_at, started.id

        crowd = [asyncio.create_task(client(free)) for _ in range(60)]
        await asyncio.sleep(0.2)
        better = [asyncio.create_task(client(premium)) for _ in range(6)]
        results = await asyncio.gather(*crowd, *better)

    served = [result for result in results if not isinstance(result[2], Overloaded)]
    refused = [result for result in results if isinstance(result[2], Overloaded)]
    assert busiest <= 4  # the replica never has more than it can serve
    assert len(served) >= 12  # its places, and the queue
    assert all(result[2].retry_after for result in refused)  # type: ignore[attr-defined]
    assert {principal.plan.slug for principal, *_ in refused} == {"free"}
    for _, _, generation_id in served:
        await check_billed(generation_id, output_tokens=20, state="completed")  # type: ignore[arg-type]


async def test_waiting_free_request_is_served_under_premium_load(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    upstream = await start_upstream(rate=200.0)
    free = await caller(FREE)
    premium = replace(free, plan=PREMIUM)
    async with running_gateway(pools_of(upstream, max_concurrency=1), max_queued=50):
        requests = [premium] * 5 + [free] + [premium] * 10
        started = await asyncio.gather(*(start(chat(p, max_tokens=5, turn=TURN)) for p in requests))
        answers = await asyncio.gather(
            *(read(s.id, p) for s, p in zip(started, requests, strict=True))
        )
    assert all(answer.text == words(0, 5) for answer in answers)
