"""One queue for all web processes: rounds of several of them on one Redis."""

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from backend.generation.admission import shared_queue
from backend.generation.admission.queue import Ticket
from backend.generation.admission.shared_queue import Demand, QueueRounds, SharedQueue, keys_of
from backend.platform.redis import async_client
from infra.load.upstream import SyntheticUpstream
from tests.generation.admission_queue import replica_set
from tests.support.gateway import (
    HELD,
    ask,
    caller,
    chat,
    check_billed,
    doomed_gateway,
    kill_gateway,
    pools_of,
    running_gateway,
    start,
    until_ended,
)


class Process:
    """A web process, as far as a queue is concerned."""

    def __init__(self, name: str, *, replicas: int = 1, places: int = 1) -> None:
        self.name = name
        self.queue = SharedQueue(replica_set(replicas, places), max_waiting=100)

    async def round(self) -> None:
        await self.queue.round(async_client(), self.name)

    def begin_line(self) -> Ticket:
        """Of a batch."""
        ticket = self.queue.reserve(priority=1_000, weight=1, affinity=None, is_batch=True)
        self.queue.enter(ticket)
        return ticket

    def join(
        self, name: str, *, organization: str = "o", priority: int = 0, tokens: int = 10
    ) -> Ticket:
        ticket = self.queue.reserve(priority=priority, weight=1, affinity=None)
        self.queue.describe(ticket, Demand(name, organization, priority, tokens))
        self.queue.enter(ticket)
        return ticket


@pytest.fixture(autouse=True)
async def no_queue() -> AsyncIterator[None]:
    yield
    client = async_client()
    keys = [key async for key in client.scan_iter("queue:*")]
    if keys:
        await client.delete(*keys)


async def served_order(processes: list[Process], tickets: dict[str, Ticket]) -> list[str]:
    """Who gets the one place, one after the other."""
    order: list[str] = []
    while len(order) < len(tickets):
        for process in processes * 2:  # one frees the place, another fetches what it was given
            await process.round()
        [name] = [n for n, one in tickets.items() if one.replica is not None and n not in order]
        order.append(name)
        tickets[name].release()
    return order


async def test_places_are_of_all_processes_together() -> None:
    one, two = Process("one", places=3), Process("two", places=3)
    tickets = [process.join(f"{process.name}{n}") for n in range(3) for process in (one, two)]
    for _ in range(3):
        await one.round()
        await two.round()
    running = [ticket for ticket in tickets if ticket.replica is not None]
    assert len(running) == 3
    assert one.queue.depth.waiting == 3
    running[0].release()
    for process in (one, two, one):
        await process.round()
    assert sum(ticket.replica is not None for ticket in tickets) == 3


async def test_better_plan_goes_first_whichever_process_has_it() -> None:
    one, two = Process("one"), Process("two")
    first = one.join("running")
    await one.round()
    tickets = {
        "free": one.join("free", priority=20, organization="a"),
        "premium": two.join("premium", priority=0, organization="b"),
        "standard": one.join("standard", priority=10, organization="c"),
    }
    await one.round()
    await two.round()
    assert first.replica is not None
    first.release()
    assert await served_order([one, two], tickets) == ["premium", "standard", "free"]


async def test_large_organization_does_not_keep_a_small_one_waiting() -> None:
    one, two = Process("one"), Process("two")
    running = one.join("running")
    await one.round()
    tickets = {
        f"large{n}": one.join(f"large{n}", organization="large", tokens=1_000) for n in range(4)
    }
    await one.round()
    tickets["small"] = two.join("small", organization="small")
    await two.round()
    running.release()
    order = await served_order([one, two], tickets)
    assert order.index("small") <= 1, order


async def test_position_and_expected_wait_are_known() -> None:
    one = Process("one")
    running = [one.join("running")]
    await one.round()
    waiting = [one.join(f"w{n}") for n in range(5)]
    await one.round()
    await one.round()
    assert [one.queue.position(f"w{n}") for n in range(5)] == [0, 1, 2, 3, 4]
    for _ in range(3):
        running[0].release()
        await one.round()
        running = [ticket for ticket in waiting if ticket.replica is not None]
        waiting = [ticket for ticket in waiting if ticket.replica is None]
    await one.round()
    assert one.queue.depth.waiting == 2
    assert one.queue.depth.wait_s(1) is not None
    assert 1 <= one.queue.retry_after() <= 30


async def test_ticket_of_a_dead_process_keeps_its_rank_for_the_process_that_continues_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared_queue, "PROCESS_TTL_S", 0.3)
    dead, alive = Process("dead"), Process("alive")
    running = alive.join("running")
    await alive.round()
    dead.join("orphan")
    await dead.round()
    later = alive.join("later")
    await alive.round()
    await asyncio.sleep(0.4)
    running.release()
    await alive.round()
    assert later.replica is not None, "who cannot run keeps nobody from running"
    last = alive.join("last")
    ticket = alive.queue.readmit(priority=0, weight=1, affinity=None)
    alive.queue.describe(ticket, Demand("orphan", is_first=True))
    alive.queue.enter(ticket)
    await alive.round()
    later.release()
    await alive.round()
    assert ticket.replica is not None and last.replica is None


async def test_places_of_a_dead_process_become_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_queue, "PROCESS_TTL_S", 0.3)
    dead, alive = Process("dead"), Process("alive")
    dead.join("running")
    await dead.round()
    waiting = alive.join("waiting")
    await alive.round()
    assert waiting.replica is None
    await asyncio.sleep(0.4)
    await alive.round()
    assert waiting.replica is not None


async def test_emptied_redis_loses_no_ticket_and_ends_nothing_that_runs() -> None:
    one = Process("one")
    running = one.join("running")
    await one.round()
    tickets = {name: one.join(name, priority=n) for n, name in enumerate("abc")}
    await one.round()
    await async_client().delete(*keys_of(one.queue.replicas.pool.id))
    await one.round()
    await one.round()
    assert running.replica is not None and one.queue.depth.waiting == 3
    running.release()
    assert await served_order([one], tickets) == ["a", "b", "c"]


async def test_process_goes_on_alone_while_redis_is_away() -> None:
    one = Process("one", places=2)
    running = one.join("running")
    await one.round()

    class Away:
        async def eval(self, *_: object) -> None:
            raise RedisConnectionError("away")

    waiting = one.join("waiting")
    await QueueRounds(cast(Redis, Away()), "one", {}).round(one.queue)
    third = one.join("third")
    assert [ticket.replica is not None for ticket in (running, waiting, third)] == [
        True,
        True,
        False,
    ]
    running.release()
    await one.round()
    assert third.replica is not None
    assert one.queue.depth.waiting == 0


async def test_idle_pool_gives_a_place_without_asking_redis() -> None:
    one = Process("one", places=4)
    await one.round()
    assert one.join("at once").replica is not None


async def test_place_given_without_redis_is_given_once() -> None:
    one, two = Process("one", places=4), Process("two", places=4)
    tickets: list[Ticket] = []
    for process in (one, two, one, two):
        await process.round()
        tickets += [process.join(f"{process.name}{len(tickets)}{n}") for n in range(3)]
    assert sum(ticket.replica is not None for ticket in tickets) <= 4
    for _ in range(3):
        await one.round()
        await two.round()
    assert sum(ticket.replica is not None for ticket in tickets) == 4


async def test_ticket_that_left_holds_up_no_other() -> None:
    one, two = Process("one"), Process("two")
    running = one.join("running")
    await one.round()
    leaving, staying = one.join("leaving"), two.join("staying")
    await one.round()
    await two.round()
    leaving.release()
    running.release()
    for process in (one, two, one):
        await process.round()
    assert staying.replica is not None
    assert one.queue.depth.waiting == 0


async def test_waiting_generation_outlives_its_process(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """One place. Two processes; the one that holds what waits is killed."""
    pools = pools_of(upstream, max_concurrency=1)
    principal = await caller()
    upstream.behaviour.hang_after = HELD
    async with running_gateway(pools, shared_queue=True) as alive:
        first = await start(chat(principal, max_tokens=60, on_disconnect="go_on"))
        doomed = await doomed_gateway(pools, shared_queue=True)
        second = await start(chat(principal, max_tokens=5, on_disconnect="go_on"))
        queue = cast(SharedQueue, alive.queues[pools.models[0].id])
        try:
            async with asyncio.timeout(20):
                while queue.depth.waiting != 1:
                    await asyncio.sleep(0.02)
        finally:
            await kill_gateway(doomed)
        upstream.behaviour.hang_after = None
        for started, tokens in ((first, 60), (second, 5)):
            await until_ended(started.id)
            await check_billed(started.id, output_tokens=tokens, state="completed")
        _, answer = await ask(chat(principal))
        assert answer.done


async def test_lines_of_batches_keep_no_process_from_a_place() -> None:
    one, two = Process("one", places=2), Process("two", places=2)
    lines = [one.begin_line() for _ in range(3)]
    assert [line.replica is not None for line in lines] == [True, True, False]
    await one.round()
    assert one.queue.depth.free == 2
    requests = [two.join(str(number)) for number in range(3)]
    for _ in range(2):
        await two.round()
        await one.round()
    assert sum(ticket.replica is not None for ticket in requests) == 2
    assert two.queue.depth.waiting == one.queue.depth.waiting == 1
    lines[0].release()
    lines[1].release()
    assert lines[2].replica is None  # a request waits, if not in this process
    for ticket in requests:
        ticket.release()
    await two.round()
    await one.round()
    assert lines[2].replica is not None
