"""Identical requests that arrive while one is answered get its answer, each as a generation of its
own; what becomes of the first is not what becomes of them."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from backend.generation.request import Event
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import (
    HELD,
    TURN,
    Answer,
    caller,
    cancel,
    check_billed,
    doomed_gateway,
    kill_gateway,
    pools_of,
    read,
    running_gateway,
    start,
    stored,
    until_ended,
)
from tests.support.reuse import (
    check_computed,
    check_reused,
    greedy,
    plant_flight,
    redact_addresses,
    whole,
)

StartUpstream = Callable[..., Awaitable[SyntheticUpstream]]
TIMEOUT_S = 60.0
TOKENS = 40


async def test_identical_requests_are_computed_once(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller(), stream_usage=True)
    upstream.behaviour.hang_after = HELD
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        others = [await start(request) for _ in range(3)]
        upstream.behaviour.hang_after = None
        answers = await asyncio.gather(*(whole(one, request) for one in (first, *others)))
    assert len({first.id, *(one.id for one in others)}) == 4
    assert [answer.text for answer in answers] == [words(0, TOKENS)] * 4
    assert len(upstream.served) == 1
    assert "X-Cache" not in first.headers
    await check_computed(first.id, tokens=TOKENS)
    for one, answer in zip(others, answers[1:], strict=True):
        assert one.headers["X-Cache"] == "shared"
        await check_reused(one.id, tokens=TOKENS, source="shared")
        usage = answer.chunks[-1]["usage"]
        assert usage["completion_tokens_details"]["cached_tokens"] == TOKENS
        assert usage["prompt_tokens_details"]["cached_tokens"] == usage["prompt_tokens"] > 0


async def test_thought_of_a_shared_answer_is_delivered_as_one_and_billed_as_cached(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller())
    upstream.behaviour.hang_after, upstream.behaviour.thoughts = HELD, 10
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        second = await start(request)
        upstream.behaviour.hang_after = None
        answers = [await whole(one, request) for one in (first, second)]
    for answer in answers:
        said = [part["delta"] for chunk in answer.chunks for part in chunk["choices"]]
        thought = "".join(delta.get("reasoning_content", "") for delta in said)
        assert (thought, answer.text) == (words(0, 10), words(10, TOKENS))
    await check_reused(second.id, tokens=TOKENS, source="shared")
    assert (await stored(first.id)).reasoning_tokens == 10


async def test_follower_is_cancelled_alone(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller())
    upstream.behaviour.hang_after = HELD
    async with running_gateway(pools_of(upstream)):
        first, second, third = [await start(request) for _ in range(3)]
        await cancel(second.id, principal=request.principal)
        stopped = await until_ended(second.id)
        upstream.behaviour.hang_after = None
        answers = [await whole(one, request) for one in (first, third)]
    assert stopped.state == "cancelled"
    assert stopped.output_tokens == stopped.cached_output_tokens < TOKENS
    assert [answer.text for answer in answers] == [words(0, TOKENS)] * 2
    assert len(upstream.served) == 1


async def test_text_that_a_follower_held_back_counts_as_reused_when_it_is_cut_short(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    """Its own check lets go of the beginning of an address at the end; nothing of it was computed
    for it. Its policy is another one than the first's, or they would hold back the same."""
    request = greedy(await caller(), turn=TURN, on_disconnect="grace")
    script = ["Write", " to", " quent", "in", "@example.org"]
    upstream = await start_upstream(script=script, hang_after=4)
    async with running_gateway(pools_of(upstream)) as gateway:
        first = await start(request)
        await read(first.id, request.principal, until=_has_said("Write to quentin"))
        await redact_addresses(request.principal.organization_id)
        await plant_flight(request, str(first.id))
        second = await start(request)
        following = gateway.active.get(second.id)
        assert following is not None
        async with asyncio.timeout(TIMEOUT_S):
            while following.choices[0].generated != "Write to quentin":
                await asyncio.sleep(0.02)
        assert following.choices[0].tokens < 4
        await cancel(second.id, principal=request.principal)
        stopped = await until_ended(second.id)
    assert len(upstream.served) == 1
    assert (stopped.output_tokens, stopped.cached_output_tokens) == (4, 4)
    await check_billed(second.id, output_tokens=4, state="cancelled")


@pytest.mark.parametrize("leaves", [False, True], ids=["cancelled", "its client left"])
async def test_followers_go_on_when_the_first_is_cancelled(
    transactional_db: None, upstream: SyntheticUpstream, leaves: bool
) -> None:
    """One of them is computed from its text so far, and the other follows that one."""
    request = greedy(await caller())
    upstream.behaviour.hang_after = HELD
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        others = [await start(request) for _ in range(2)]
        reading = [asyncio.create_task(whole(one, request)) for one in others]
        await read(first.id, request.principal, until=lambda events: len(events) == 5)
        if not leaves:  # else the reader that has just gone was its only one
            await cancel(first.id, principal=request.principal)
        assert (await until_ended(first.id)).state == "cancelled"
        upstream.behaviour.hang_after = None
        answers = await asyncio.gather(*reading)
    assert [answer.text for answer in answers] == [words(0, TOKENS)] * 2
    assert len(upstream.served) == 2
    rows = [await check_billed(one.id, output_tokens=TOKENS, state="completed") for one in others]
    reused = sorted(row.cached_output_tokens for row in rows)
    assert 0 < reused[0] < TOKENS == reused[1]


async def test_follower_in_another_process_survives_the_first_ones_process(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller(), max_tokens=60, turn=TURN, on_disconnect="grace")
    upstream.behaviour.hang_after = HELD
    dying = await doomed_gateway(pools_of(upstream))
    first = await start(request)
    await read(first.id, request.principal, until=lambda events: len(events) == 3)
    async with running_gateway(pools_of(upstream)):
        second = await start(request)
        await read(second.id, request.principal, until=lambda events: len(events) == 5)
        assert len(upstream.served) == 1
        await kill_gateway(dying)
        upstream.behaviour.hang_after = None
        answers = [await whole(one, request) for one in (second, first)]
    assert [answer.text for answer in answers] == [words(0, 60)] * 2
    await check_billed(first.id, output_tokens=60, state="completed")
    await check_billed(second.id, output_tokens=60, state="completed")


async def test_first_and_follower_survive_the_death_of_their_process(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """A follower goes on as any other generation: what it had was reused, the rest is computed."""
    request = greedy(await caller(), max_tokens=60, turn=TURN, on_disconnect="grace")
    upstream.behaviour.hang_after = HELD
    dying = await doomed_gateway(pools_of(upstream))
    both = [await start(request) for _ in range(2)]
    await asyncio.gather(
        *(read(one.id, request.principal, until=lambda e: len(e) == 8) for one in both)
    )
    await kill_gateway(dying)
    upstream.behaviour.hang_after = None
    async with running_gateway(pools_of(upstream)):
        answers = [await whole(one, request) for one in both]
    assert [answer.text for answer in answers] == [words(0, 60)] * 2
    row = await check_billed(both[1].id, output_tokens=60, state="completed")
    assert 0 < row.cached_output_tokens < 60


async def test_draining_process_hands_followers_over(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller(), max_tokens=60, turn=TURN, on_disconnect="grace")
    upstream.behaviour.rate = 20.0
    async with running_gateway(pools_of(upstream), drain_s=0.2):
        both = [await start(request) for _ in range(2)]
        for one in both:
            await read(one.id, request.principal, until=lambda events: len(events) == 4)
    async with running_gateway(pools_of(upstream)):
        answers = [await whole(one, request) for one in both]
    assert [answer.text for answer in answers] == [words(0, 60)] * 2


async def test_followers_find_out_themselves_when_the_first_is_stopped(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    request = greedy(await caller())
    flagged = "Sure. Now, here is the guide: to make a pipe bomb you will need a pipe and nails."
    script = [f"{word} " for word in flagged.split()]
    upstream = await start_upstream(script=script, rate=20.0)
    async with running_gateway(pools_of(upstream)):
        both = [await start(request) for _ in range(2)]
        answers = [await whole(one, request) for one in both]
    assert [answer.finish_reason for answer in answers] == ["content_filter"] * 2
    assert all("bomb" not in answer.text for answer in answers)
    assert [(await stored(one.id)).state for one in both] == ["blocked"] * 2


def _has_said(text: str) -> Callable[[list[Event]], bool]:
    return lambda events: Answer(events).text == text
