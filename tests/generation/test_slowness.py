"""A replica that is much slower than its peers gets what those have no room for, and no more."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from backend.generation.pools.breaker import MIN_OPEN_S
from backend.generation.pools.replicas import Replica, ReplicaSet
from backend.generation.pools.slowness import MIN_SLOW_S, AnswerPace, TokenPace, is_slow
from infra.load.upstream import SyntheticUpstream
from tests.generation.admission_queue import Clock, join, queue_of, replica_set
from tests.support.gateway import ask, caller, chat, pools_of, running_gateway

QUICK_S, SLOW_S = 0.03, 0.6


@pytest.fixture
async def limping() -> AsyncIterator[SyntheticUpstream]:
    made = SyntheticUpstream()
    made.behaviour.rate = 4.0
    await made.start()
    yield made
    await made.stop()


def _judged(pool: ReplicaSet, answers: int = 4) -> tuple[Replica, Replica]:
    """A quick and a slow replica, after so many answers of each."""
    quick, slow = pool.replicas
    for _ in range(answers):
        pool.note_pace(quick, QUICK_S)
        pool.note_pace(slow, SLOW_S)
    return quick, slow


def _pace(clock: Clock, *token_s: float) -> TokenPace:
    pace = TokenPace(clock)
    for one in token_s:
        pace.note(one)
    return pace


def test_pace_of_an_answer_is_without_its_first_token() -> None:
    clock = Clock()
    pace = AnswerPace(clock)
    assert pace.token_s(1) is None
    clock.now += 4
    assert pace.token_s(8) is None
    assert pace.token_s(9) == 0.5


def test_answer_is_slow_beside_its_peers_only() -> None:
    clock = Clock()
    quick, slow = _pace(clock, 0.03, 0.02, 0.04), _pace(clock, 0.5, 0.7)
    assert is_slow(0.6, [quick])
    assert is_slow(0.6, [quick, quick, slow])
    assert not is_slow(0.6, [slow]), "all are slow: that is load, or we are"
    assert not is_slow(0.6, []), "there is nothing to compare with"
    assert not is_slow(MIN_SLOW_S - 0.01, [quick]), "quick enough for any reader"
    clock.now += 3600
    assert not is_slow(0.6, [quick]), "nothing is known of how quick it is now"


def test_slow_replica_gets_nothing_while_another_has_room() -> None:
    pool = replica_set(2, 4)
    quick, slow = _judged(pool)
    assert slow.slow_breaker.state == "open" and slow.available
    for _ in range(4):
        assert pool.choose(weight=1, affinity=None) is quick
        quick.outstanding += 1
    assert pool.choose(weight=1, affinity=None) is slow, "slow is better than refused"


async def test_no_request_waits_while_a_slow_replica_has_places() -> None:
    queue, _ = queue_of(replicas=2, places=3)
    _judged(queue.replicas)
    tickets = [join(queue) for _ in range(6)]
    assert all(ticket.replica is not None for ticket in tickets)


def test_replica_that_was_slow_is_tried_again_by_one_answer() -> None:
    pool = replica_set(2, 4)
    quick, slow = pool.replicas
    clock = Clock()
    slow.slow_breaker._clock = clock
    _judged(pool)
    quick.outstanding = 2
    assert pool.choose(weight=1, affinity=None) is quick
    clock.now += MIN_OPEN_S
    assert pool.choose(weight=1, affinity=None) is slow
    assert pool.choose(weight=1, affinity=None) is quick, "one trial at a time"
    pool.note_pace(slow, SLOW_S)
    clock.now += MIN_OPEN_S
    assert pool.choose(weight=1, affinity=None) is quick, "the trial failed: it waits for longer"
    clock.now += MIN_OPEN_S
    assert pool.choose(weight=1, affinity=None) is slow
    pool.note_pace(slow, QUICK_S)
    assert slow.slow_breaker.state == "closed"


def test_only_replica_is_never_slow() -> None:
    pool = replica_set(1, 4)
    for _ in range(20):
        pool.note_pace(pool.replicas[0], 3.0)
    assert pool.replicas[0].slow_breaker.state == "closed"


async def test_requests_avoid_a_replica_that_limps(
    transactional_db: None, upstream: SyntheticUpstream, limping: SyntheticUpstream
) -> None:
    upstream.behaviour.rate = 100.0
    principal = await caller()
    pools = pools_of(upstream, limping, routing="round_robin")
    async with running_gateway(pools) as gateway:
        replicas = gateway.queues[pools.models[0].id].replicas
        slow = next(one for one in replicas.replicas if one.config.url == limping.url)
        async with asyncio.timeout(60):
            while slow.slow_breaker.state != "open":
                await asyncio.gather(*(ask(chat(principal, max_tokens=10)) for _ in range(8)))
        began_there = len(limping.served)
        for _ in range(8):
            await ask(chat(principal, max_tokens=10))
        # Half of them without the breaker; now those that try whether it is still slow.
        assert len(limping.served) - began_there <= 2
