"""Batches take every place that is left over, and no other request waits for one of theirs."""

import pytest

from backend.generation.admission import queue as queues
from backend.generation.admission.queue import BATCH_WAITED, AdmissionQueue, Ticket
from backend.platform.errors import Overloaded
from tests.generation.admission_queue import join, queue_of


def line_of(queue: AdmissionQueue, *, weight: int = 1) -> Ticket:
    ticket = queue.reserve(priority=1_000, weight=weight, affinity=None, is_batch=True)
    queue.enter(ticket)
    return ticket


def running(tickets: list[Ticket]) -> list[bool]:
    return [ticket.replica is not None for ticket in tickets]


async def test_batch_has_every_place_and_keeps_no_request_from_one() -> None:
    queue, _ = queue_of(places=3)
    lines = [line_of(queue) for _ in range(5)]
    assert running(lines) == [True, True, True, False, False]
    requests = [join(queue) for _ in range(4)]
    assert running(requests) == [True, True, True, False]
    assert queue.waiting == 1 and queue.replicas.free_places == 0


async def test_next_line_has_the_place_in_the_moment_in_which_it_is_free() -> None:
    queue, _ = queue_of(places=2)
    lines = [line_of(queue) for _ in range(3)]
    lines[0].release()
    assert running(lines) == [False, True, True]


async def test_lines_wait_while_a_request_waits_and_while_places_are_taken() -> None:
    queue, _ = queue_of(places=2)
    lines = [line_of(queue) for _ in range(3)]
    first, second, third = (join(queue) for _ in range(3))
    lines[0].release()
    lines[1].release()
    assert running([lines[2], third]) == [False, False]
    first.release()  # the third request's place
    assert running([lines[2], third]) == [False, True]
    second.release()
    assert running([lines[2]]) == [True]
    assert queue.replicas.replicas[0].outstanding == 2


async def test_all_is_given_back() -> None:
    queue, _ = queue_of(places=2)
    tickets = [*(line_of(queue) for _ in range(4)), *(join(queue) for _ in range(3))]
    for ticket in tickets:
        ticket.release()
    [replica] = queue.replicas.replicas
    assert (replica.outstanding, replica.batch_choices, len(queue.batches)) == (0, 0, 0)


async def test_line_that_waits_too_long_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "MAX_WAIT_S", 0.01)
    queue, _ = queue_of(places=1)
    join(queue)
    ticket = queue.reserve(priority=1_000, weight=1, affinity=None, is_batch=True)
    with pytest.raises(Overloaded) as given_back:
        await ticket.granted()
    assert given_back.value.code == BATCH_WAITED
    ticket.release()
    assert len(queue.batches) == 0
