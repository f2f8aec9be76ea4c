"""A model that cannot serve is stood in for by the chain that the pools file names."""

from dataclasses import replace

import pytest

from backend.generation.admission.fallback import (
    FALLBACK_HEADER,
    can_serve,
    narrowed,
    needed_capabilities,
)
from backend.generation.pools.config import PoolConfig, Pools
from backend.generation.request import SamplingParams
from backend.generation.tools import Tools
from backend.platform.errors import Overloaded, ParleyError
from infra.load.upstream import SyntheticUpstream
from tests.support.gateway import (
    caller,
    chat,
    check_billed,
    pools_of,
    read,
    running_gateway,
    start,
    stored,
)


def _pool(upstream: SyntheticUpstream, name: str, **changes: object) -> PoolConfig:
    """A model of that name; without the alias that all others have."""
    (pool,) = pools_of(upstream).models
    return replace(pool, id=name, aliases=(), **changes)  # type: ignore[arg-type]


@pytest.fixture
def dead() -> SyntheticUpstream:
    """One that nobody has started: nothing answers there."""
    upstream = SyntheticUpstream()
    upstream.port = 1
    return upstream


async def test_another_model_serves_and_says_so(
    transactional_db: None, upstream: SyntheticUpstream, dead: SyntheticUpstream
) -> None:
    """Past one that is away too, one that does not exist and one that cannot do it."""
    (pool,) = pools_of(dead).models
    chain = ("away-too", "unknown", "only-completes", "small")
    pools = Pools(
        (
            replace(pool, fallback=chain),
            _pool(dead, "away-too"),
            _pool(upstream, "only-completes", capabilities=("completions",)),
            _pool(upstream, "small"),
        )
    )
    principal = await caller()
    async with running_gateway(pools):
        started = await start(chat(principal, max_tokens=5))
        assert (started.model, started.headers[FALLBACK_HEADER]) == ("small", pool.id)
        answer = await read(started.id, principal)
    assert {event["model"] for event in answer.chunks} == {"small"}
    row = await check_billed(started.id, output_tokens=5, state="completed")
    assert row.model == "small"


async def test_without_one_that_can_stand_in_the_refusal_is_of_the_model_asked_for(
    transactional_db: None, upstream: SyntheticUpstream, dead: SyntheticUpstream
) -> None:
    (pool,) = pools_of(dead).models
    small = _pool(upstream, "small", context_window=16)
    pools = Pools((replace(pool, fallback=("small",)), small))
    principal = await caller()
    async with running_gateway(pools):
        with pytest.raises(ParleyError) as refused:
            await start(chat(principal, text="a long prompt " * 20))
    assert isinstance(refused.value, Overloaded)
    assert repr(pool.id) in refused.value.message


async def test_model_that_serves_is_not_stood_in_for(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    (pool,) = pools_of(upstream).models
    pools = Pools((replace(pool, fallback=("small",)), _pool(upstream, "small")))
    principal = await caller()
    async with running_gateway(pools):
        started = await start(chat(principal, max_tokens=5))
        assert FALLBACK_HEADER not in started.headers
        await read(started.id, principal)
    assert (await stored(started.id)).model == pool.id


async def test_needed_capabilities_follow_the_request(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = chat(
        await caller(),
        params=SamplingParams(logprobs=True, response_format={"type": "json_object"}),
        tools=Tools(tools=[], tool_choice="auto"),
        reasoning_effort="low",
    )
    assert needed_capabilities(request) == {
        *("chat", "logprobs", "structured_output", "tools", "reasoning"),
    }
    able = _pool(upstream, "able", capabilities=tuple(needed_capabilities(request)))
    assert can_serve(able, request)
    assert not can_serve(replace(able, capabilities=able.capabilities[1:]), request)


async def test_chat_is_cut_for_the_widest_of_those_that_stand_in(
    transactional_db: None, upstream: SyntheticUpstream, dead: SyntheticUpstream
) -> None:
    """Not for one that is away too, and never for a wider window than its own model's."""
    (pool,) = pools_of(dead).models
    own = pool.context_window
    chain = {
        "away": _pool(dead, "away", context_window=own // 2),
        "narrow": _pool(upstream, "narrow", context_window=own // 8),
        "middle": _pool(upstream, "middle", context_window=own // 4),
        "wide": _pool(upstream, "wide", context_window=own * 2),
    }
    principal = await caller()

    async def window(*fallback: str, asked_for: PoolConfig = pool) -> int:
        asked_for = replace(asked_for, fallback=fallback)
        pools = Pools((asked_for, *chain.values()))
        async with running_gateway(pools) as gateway:
            found = await narrowed(gateway.pools, gateway.queues, asked_for, principal)
        return found.context_window

    assert await window("away", "narrow", "middle") == own // 4
    assert await window("narrow", "wide") == own
    assert await window("away") == own
    assert await window("narrow", asked_for=_pool(upstream, pool.id)) == own
