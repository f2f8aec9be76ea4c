"""Who is served first, who is refused, and that nobody starves."""

import asyncio
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.generation.admission.margins import HALVES_S, Margins
from backend.generation.admission.pipeline import AdmissionPipeline
from backend.generation.admission.queue import AGEING_S, Ticket
from backend.platform.errors import Overloaded
from tests.generation.admission_queue import join, queue_of

LARGE, SMALL = uuid4(), uuid4()


async def test_higher_plans_go_first() -> None:
    queue, _ = queue_of()
    running = join(queue)
    free, standard, premium = join(queue, 10), join(queue, 5), join(queue, 1)

    order = []
    for _ in range(3):
        running.release()
        running = next(t for t in (free, standard, premium) if t.replica is not None)
        order.append(running)
    assert order == [premium, standard, free]


async def test_oldest_request_goes_first_when_it_waited_long_enough() -> None:
    queue, clock = queue_of()
    running = join(queue)
    free = join(queue, 10)
    clock.now += 10 * AGEING_S
    premium = join(queue, 1)
    running.release()
    assert free.replica is not None
    assert premium.replica is None


async def test_lowest_priority_request_is_shed_when_queue_is_full() -> None:
    queue, _ = queue_of(max_waiting=2)
    join(queue)
    first, last = join(queue, 5), join(queue, 10)
    with pytest.raises(Overloaded) as caught:
        queue.reserve(priority=10, weight=1, affinity=None)
    assert caught.value.retry_after

    premium = join(queue, 1)
    with pytest.raises(Overloaded):
        await asyncio.wait_for(last._granted, 60)
    assert not first.settled and not premium.settled


async def test_request_that_loses_its_room_is_refused_while_it_waits_to_be_admitted() -> None:
    queue, _ = queue_of(places=0, max_waiting=1)
    pipeline = AdmissionPipeline({}, *[cast(Any, None)] * 4, request_ttl_ms=1)
    pipeline._slots = asyncio.Semaphore(1)
    await pipeline._take_slot(join(queue_of()[0]))  # the only slot is taken
    free = queue.reserve(priority=10, weight=1, affinity=None)
    waiting = asyncio.create_task(pipeline._take_slot(free))
    await asyncio.sleep(0)
    premium = queue.reserve(priority=1, weight=1, affinity=None)
    with pytest.raises(Overloaded):
        await asyncio.wait_for(waiting, 1)

    pipeline._slots.release()
    await asyncio.wait_for(pipeline._take_slot(premium), 1)
    with pytest.raises(Overloaded):  # whoever was refused holds no slot, had it one already or not
        await asyncio.wait_for(pipeline._take_slot(free), 1)
    pipeline._slots.release()
    await asyncio.wait_for(pipeline._take_slot(premium), 1)


def _served(running: Ticket, waiting: list[Ticket]) -> list[Ticket]:
    """`waiting` in the order in which they get the one place."""
    order: list[Ticket] = []
    while len(order) < len(waiting):
        running.release()
        running = next(t for t in waiting if t.replica is not None and t not in order)
        order.append(running)
    return order


async def test_customer_with_many_requests_does_not_keep_back_one_with_one() -> None:
    queue, clock = queue_of()
    running = join(queue, of=LARGE)
    many = [join(queue, of=LARGE) for _ in range(50)]
    clock.now += 60
    one, other = join(queue, of=SMALL), join(queue, of=SMALL)
    premium = join(queue, 1, of=uuid4())

    order = _served(running, [*many, one, other, premium])

    assert order.index(one) <= 2 and order.index(other) <= 5
    assert [t for t in order if t in many] == many


async def test_newcomers_without_end_do_not_keep_back_what_waits() -> None:
    queue, _ = queue_of()
    running, many = join(queue, of=LARGE), [join(queue, of=LARGE) for _ in range(5)]
    waiting = list(many)
    for _ in range(40):
        waiting.append(join(queue, of=uuid4()))
        running.release()
        running = next(t for t in waiting if t.replica is not None)
        waiting.remove(running)
    assert sum(t in waiting for t in many) <= 2


async def test_full_queue_refuses_the_customer_with_most_and_no_better_plan() -> None:
    queue, clock = queue_of(max_waiting=4)
    join(queue)
    many = [join(queue, 10, of=LARGE) for _ in range(3)]
    clock.now += 10 * AGEING_S
    premium = join(queue, 1, of=LARGE)
    assert queue.refuses(10, LARGE) and not queue.refuses(10, SMALL)

    one = join(queue, 10, of=SMALL)

    assert [t.settled for t in (*many, premium, one)] == [False, False, True, False, False]


async def test_customer_that_lost_a_place_leaves_the_last_one_to_others_for_a_while() -> None:
    queue, clock = queue_of(max_waiting=16)
    running = join(queue)
    many = [join(queue, of=LARGE) for _ in range(16)]
    join(queue, of=SMALL)
    assert [t.settled for t in many] == [False] * 15 + [True]

    running.release()  # now there is room for one
    assert queue.refuses(5, LARGE) and not queue.refuses(5, SMALL)
    join(queue, of=SMALL)
    assert sum(t.settled for t in many) == 2, "of those that waited one was granted, none refused"

    next(t for t in many if t.replica is not None).release()
    clock.now += 2 * HALVES_S
    assert not queue.refuses(5, LARGE)


async def test_margin_of_a_customer_grows_with_each_loss_up_to_its_bound() -> None:
    now = 0.0
    margins = Margins(lambda: now)
    found = []
    for _ in range(5):
        margins.lost((10, LARGE), at_most=4)
        found.append(margins.of((10, LARGE)))
    assert found == [1, 2, 4, 4, 4]
    assert margins.of((10, SMALL)) == 0
    now += HALVES_S
    assert margins.of((10, LARGE)) == 2
    margins.lost((1, SMALL), at_most=0)
    assert margins.of((1, SMALL)) == 0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([1, 5, 10]), st.integers(0, 3)), max_size=30))
def test_fairness_within_plans_changes_no_order_between_plans(
    joined: list[tuple[int, int]],
) -> None:
    async def plans(organizations: list[UUID | None]) -> list[int]:
        queue, clock = queue_of()
        running, waiting = join(queue), []
        for priority, organization in joined:
            waiting.append(join(queue, priority, of=organizations[organization]))
            clock.now += 1.0
        return [ticket.priority for ticket in _served(running, waiting)]

    fair = asyncio.run(plans([uuid4() for _ in range(4)]))
    assert fair == asyncio.run(plans([None] * 4))


async def test_cancelled_request_frees_its_queue_place() -> None:
    queue, _ = queue_of(max_waiting=1)
    join(queue)
    waiting = join(queue)
    waiting.release()
    assert queue.waiting == 0
    join(queue)


async def test_least_loaded_replica_is_chosen() -> None:
    queue, _ = queue_of(replicas=3, places=2)
    tickets = [join(queue) for _ in range(6)]
    loads = [replica.outstanding for replica in queue.replicas.replicas]
    assert loads == [2, 2, 2]
    for ticket in tickets:
        ticket.release()
        ticket.release()
    assert [replica.outstanding for replica in queue.replicas.replicas] == [0, 0, 0]


async def test_conversation_stays_at_its_replica_when_that_is_free() -> None:
    queue, _ = queue_of(replicas=4, places=100)
    home = {join(queue, affinity="conversation").replica for _ in range(3)}
    assert len(home) == 1
    crowd = [join(queue, affinity="conversation").replica for _ in range(20)]
    assert len(set(crowd)) > 1


async def test_processes_share_places_of_a_replica() -> None:
    queue, _ = queue_of(places=4)
    queue.replicas.processes = 2
    tickets = [join(queue) for _ in range(4)]
    assert sum(ticket.replica is not None for ticket in tickets) == 2


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 10), st.floats(0, 5)), min_size=1, max_size=40))
def test_every_ticket_is_served_and_places_are_never_exceeded(
    requests: list[tuple[int, float]],
) -> None:
    async def run() -> None:
        queue, clock = queue_of(replicas=2, places=2)
        tickets = []
        for priority, pause in requests:
            clock.now += pause
            tickets.append(join(queue, priority))
        served = 0
        while running := [ticket for ticket in tickets if ticket.replica is not None]:
            assert len(running) <= 4
            running[0].release()
            served += 1
        assert served == len(tickets)
        assert queue.waiting == 0

    asyncio.run(run())
