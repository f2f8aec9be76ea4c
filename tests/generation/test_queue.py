"""Who is served first, who is refused, and that nobody starves."""

import asyncio
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.generation.admission.pipeline import AdmissionPipeline
from backend.generation.admission.queue import AGEING_S, PLAN_MAY_HOLD, Ticket
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


async def test_better_plan_comes_into_a_full_queue_and_takes_no_others_place() -> None:
    queue, _ = queue_of(max_waiting=2)
    running = join(queue)
    first, last = join(queue, 5), join(queue, 10)
    with pytest.raises(Overloaded) as caught:
        queue.reserve(priority=10, weight=1, affinity=None)
    assert caught.value.retry_after

    premium = join(queue, 1)

    assert _served(running, [first, last, premium]) == [premium, first, last]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([-1, 1, 5, 10]), st.integers(0, 8), st.floats(0, 2)), max_size=80
    )
)
def test_request_that_is_let_in_is_served_and_no_plan_passes_its_bound(
    events: list[tuple[int, int, float]],
) -> None:
    async def run() -> None:
        queue, clock = queue_of(max_waiting=4)
        organizations = [uuid4() for _ in range(9)]
        let_in = [join(queue)]
        for priority, organization, pause in events:
            clock.now += pause
            if priority < 0:
                next((t for t in let_in if t.replica is not None), let_in[0]).release()
                continue
            has_room = not queue.refuses(priority, organizations[organization])
            try:
                let_in.append(join(queue, priority, of=organizations[organization]))
                assert has_room
            except Overloaded:
                assert not has_room
            waiting = [t for t in let_in if t.waiting and t.priority == priority]
            assert len(waiting) <= PLAN_MAY_HOLD * 4
        for _ in let_in:
            next((t for t in let_in if t.replica is not None), let_in[0]).release()
        assert all(ticket.settled and not ticket.waiting for ticket in let_in)
        assert queue.waiting == 0

    asyncio.run(run())


async def test_request_without_replicas_is_refused_while_it_waits_to_be_admitted() -> None:
    queue, _ = queue_of(places=0, max_waiting=1)
    pipeline = AdmissionPipeline({}, *[cast(Any, None)] * 4, request_ttl_ms=1)
    pipeline._slots = asyncio.Semaphore(1)
    await pipeline._take_slot(join(queue_of()[0]))  # the only slot is taken
    stranded = queue.reserve(priority=10, weight=1, affinity=None)
    waiting = asyncio.create_task(pipeline._take_slot(stranded))
    await asyncio.sleep(0)
    queue.replicas.replicas[0].mark(False, "")
    queue.refuse_waiting()
    with pytest.raises(Overloaded):
        await asyncio.wait_for(waiting, 1)

    other = queue_of()[0].reserve(priority=1, weight=1, affinity=None)
    pipeline._slots.release()
    await asyncio.wait_for(pipeline._take_slot(other), 1)
    with pytest.raises(Overloaded):  # whoever was refused holds no slot, had it one already or not
        await asyncio.wait_for(pipeline._take_slot(stranded), 1)
    pipeline._slots.release()
    await asyncio.wait_for(pipeline._take_slot(other), 1)


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
    running = join(queue)
    many = [join(queue, 10, of=LARGE) for _ in range(3)]
    clock.now += 10 * AGEING_S
    premium = join(queue, 1, of=LARGE)
    assert queue.refuses(10, LARGE) and not queue.refuses(10, SMALL)

    one = join(queue, 10, of=SMALL)

    order = _served(running, [*many, premium, one])
    assert order.index(one) < order.index(many[1]), "it was let in late, and goes before the second"


async def test_plan_with_a_queue_of_its_own_keeps_no_better_one_out() -> None:
    queue, _ = queue_of(max_waiting=4)
    running = join(queue)
    waiting = [join(queue, priority, of=LARGE) for priority in (20, 10, 5, 1) for _ in range(4)]
    with pytest.raises(Overloaded):
        join(queue, 1, of=LARGE)
    order = _served(running, waiting)
    assert [ticket.priority for ticket in order] == [1] * 4 + [5] * 4 + [10] * 4 + [20] * 4


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
