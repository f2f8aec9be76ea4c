"""After an outage: replicas get what they bear, and clients come back at times of their own."""

import pytest

from backend.generation.admission.queue import AdmissionQueue, Ticket
from backend.generation.admission.retry_after import Outage, spread
from backend.generation.pools.ramp import FIRST_PLACES, Ramp
from backend.platform.errors import Overloaded
from tests.generation.admission_queue import Clock, join, queue_of, replica_set

PREMIUM, FREE = 1, 10


def _running(tickets: list[Ticket]) -> list[Ticket]:
    return [ticket for ticket in tickets if ticket.replica is not None]


def _came_back(places: int = 32) -> AdmissionQueue:
    """A queue whose one replica was away and has just come back."""
    queue, _ = queue_of(places=places, max_waiting=100)
    (replica,) = queue.replicas.replicas
    replica.mark(False, "away")
    replica.mark(True, "")
    return queue


async def test_returning_replica_takes_more_with_each_round_of_answers() -> None:
    queue = _came_back()
    tickets = [join(queue) for _ in range(60)]
    seen: list[int] = []
    answered: set[int] = set()
    while not seen or len(_running(tickets)) > seen[-1]:
        running = _running(tickets)
        seen.append(len(running))
        for ticket in running:
            if id(ticket) not in answered:
                answered.add(id(ticket))
                ticket.answered()
    assert seen == [4, 12, 28, 32]


async def test_paid_plans_are_first_at_a_returning_replica() -> None:
    queue = _came_back()
    free = [join(queue, FREE) for _ in range(FIRST_PLACES)]
    for ticket in free:
        ticket.release()
    blocked = [join(queue) for _ in range(FIRST_PLACES)]
    free, premium = [join(queue, FREE) for _ in range(8)], [join(queue, PREMIUM) for _ in range(8)]
    for ticket in blocked:
        ticket.answered()
    assert len(_running(premium)) == 8
    assert not _running(free)


async def test_replica_that_never_was_away_takes_all_it_can_at_once() -> None:
    queue, _ = queue_of(places=32)
    assert len(_running([join(queue) for _ in range(40)])) == 32


async def test_replica_that_was_missed_for_a_moment_goes_on_beside_what_runs_there() -> None:
    """One failed answer marks it until the next probe; the others run on."""
    queue, _ = queue_of(places=32)
    running = [join(queue) for _ in range(20)]
    (replica,) = queue.replicas.replicas
    replica.failed("one answer broke off")
    assert len(_running(running)) == 20
    replica.mark(True, "")
    assert len(_running([join(queue) for _ in range(12)])) == FIRST_PLACES


async def test_all_processes_share_what_a_returning_replica_may_take() -> None:
    pool = replica_set(1, 32)
    pool.processes = 4
    (replica,) = pool.replicas
    replica.mark(False, "away")
    replica.mark(True, "")
    assert pool.places_of(replica) == 4 * FIRST_PLACES


def test_failures_halve_what_a_replica_may_take() -> None:
    ramp = Ramp()
    ramp.begin(running=0)
    for _ in range(12):
        ramp.answered()
    assert ramp.limit(64) == 28
    ramp.failed()
    assert ramp.limit(64) == 14
    ramp.failed()
    ramp.failed()
    ramp.failed()
    assert ramp.limit(64) == FIRST_PLACES
    for _ in range(60):
        ramp.answered()
    assert (ramp.limit(64), ramp.is_under_way) == (64, False)


async def test_retry_after_grows_with_an_outage_and_begins_anew_with_the_next() -> None:
    queue, clock = queue_of()
    (replica,) = queue.replicas.replicas

    def retry_after() -> float:
        with pytest.raises(Overloaded) as caught:
            join(queue)
        assert caught.value.retry_after is not None
        return caught.value.retry_after

    replica.mark(False, "away")
    assert retry_after() <= 2.5
    clock.now += 20
    assert 15 <= retry_after() <= 25
    clock.now += 3600
    assert 45 <= retry_after() <= 60
    replica.mark(True, "")
    join(queue).release()
    replica.mark(False, "away")
    assert retry_after() <= 2.5


def test_clients_of_one_moment_get_different_times() -> None:
    seconds_of_clients = [spread(20) for _ in range(200)]
    assert all(15 <= seconds <= 25 for seconds in seconds_of_clients)
    assert max(seconds_of_clients) - min(seconds_of_clients) > 5
    outage = Outage(Clock())
    assert len({outage.retry_after() for _ in range(20)}) > 1
