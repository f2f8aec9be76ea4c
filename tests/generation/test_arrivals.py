"""Who is refused before a request is looked at, and that nobody else is."""

from contextlib import ExitStack

import pytest

from backend.generation.admission.shed import KNOWN_FOR_S, MOST_STRANGERS, Arrivals, arrival_over
from backend.generation.pools.config import Pools
from backend.platform.errors import Overloaded
from tests.generation.queues import join, queue_of

FREE, PREMIUM = 10, 1


class Door:
    """Arrivals before one pool, whose queue is full of free callers until `empty`."""

    def __init__(self, *, places: int = 1, most_waiting: int = 1) -> None:
        self.queue, self.clock = queue_of(places=places, most_waiting=most_waiting)
        pool = self.queue.replicas.pool
        self.model = pool.id
        self.arrivals = Arrivals(Pools((pool,)), {pool.id: self.queue}, clock=self.clock)
        self._waiting = [join(self.queue, FREE) for _ in range(places + most_waiting)]

    def empty(self) -> None:
        for ticket in self._waiting:
            ticket.release()

    def come(self, key: bytes, priority: int) -> None:
        """A request that gets as far as its queue, whatever becomes of it there."""
        with self.arrivals.arriving(key, self.model):
            arrival_over(priority)


@pytest.fixture
async def door() -> Door:
    return Door()


async def test_who_is_known_is_refused_where_the_queue_is_full_of_those_before_it(
    door: Door,
) -> None:
    door.come(b"free", FREE)
    door.come(b"premium", PREMIUM)
    with pytest.raises(Overloaded) as caught:
        door.come(b"free", FREE)
    assert caught.value.retry_after
    door.come(b"premium", PREMIUM)
    door.empty()
    door.come(b"free", FREE)


async def test_of_those_on_their_way_no_more_are_let_in_than_there_is_room_for() -> None:
    door = Door(places=2, most_waiting=1)
    door.come(b"free", FREE)
    door.come(b"premium", PREMIUM)
    door.empty()
    with ExitStack() as coming:
        for _ in range(3):
            coming.enter_context(door.arrivals.arriving(b"free", door.model))
        with pytest.raises(Overloaded):
            door.come(b"free", FREE)
        for _ in range(3):  # they would stand before those
            coming.enter_context(door.arrivals.arriving(b"premium", door.model))
        with pytest.raises(Overloaded):
            door.come(b"premium", PREMIUM)
    door.come(b"free", FREE)


@pytest.mark.parametrize("model", [None, "another"])
async def test_who_asks_for_something_else_is_not_refused_here(
    door: Door, model: str | None
) -> None:
    door.come(b"free", FREE)
    with door.arrivals.arriving(b"free", model):
        arrival_over(FREE)


async def test_a_plan_is_forgotten_after_a_while(door: Door) -> None:
    door.come(b"free", FREE)
    with pytest.raises(Overloaded):
        door.come(b"free", FREE)
    door.clock.now += KNOWN_FOR_S + 1
    door.come(b"free", FREE)


async def test_while_the_queue_is_full_a_number_of_strangers_is_let_in_at_once(
    door: Door,
) -> None:
    with ExitStack() as coming:
        for number in range(MOST_STRANGERS):
            coming.enter_context(door.arrivals.arriving(b"%d" % number, door.model))
        with pytest.raises(Overloaded):
            door.come(b"another", FREE)
        door.empty()
        door.come(b"another", FREE)
        door.come(b"another", FREE)


async def test_who_fails_on_the_way_leaves_no_trace(door: Door) -> None:
    for _ in range(3 * MOST_STRANGERS):
        with pytest.raises(ZeroDivisionError), door.arrivals.arriving(b"forged", door.model):
            raise ZeroDivisionError


async def test_whom_a_queue_that_takes_nobody_refuses_is_told_why(door: Door) -> None:
    door.come(b"free", FREE)
    door.queue.draining = True
    with pytest.raises(Overloaded, match="restarting"), door.arrivals.arriving(b"free", door.model):
        join(door.queue, FREE)
