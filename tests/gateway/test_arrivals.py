"""Who is refused before a request is looked at, and that nobody else is."""

from contextlib import ExitStack

import pytest

from backend.errors import Overloaded
from backend.gateway.arrivals import KNOWN_FOR_S, MOST_STRANGERS, Arrivals, arrival_over
from backend.gateway.pools import Pools
from tests.gateway.queues import Clock, join, queue_of

FREE, PREMIUM = 10, 1


def arrivals_of(*, places: int = 1, most_waiting: int = 1) -> tuple[Arrivals, Clock, ExitStack]:
    """Arrivals before one pool, `synthetic`, and what fills its queue with free callers."""
    queue, clock = queue_of(places=places, most_waiting=most_waiting)
    pool = queue.replicas.pool
    full = ExitStack()
    for _ in range(places + most_waiting):
        full.callback(join(queue, FREE).release)
    arrivals = Arrivals(Pools((pool,)), {pool.id: queue}, clock=clock)
    return arrivals, clock, full


def come(arrivals: Arrivals, credential: bytes | None, model: str | None, priority: int) -> None:
    """A request that gets as far as its queue, whatever becomes of it there."""
    with arrivals.arriving(credential, model):
        arrival_over(priority)


async def test_who_is_known_is_refused_where_the_queue_is_full_of_those_before_it() -> None:
    arrivals, _, full = arrivals_of()
    model = arrivals._pools.models[0].id
    come(arrivals, b"free", model, FREE)
    come(arrivals, b"premium", model, PREMIUM)
    with pytest.raises(Overloaded) as caught, arrivals.arriving(b"free", model):
        pass
    assert caught.value.retry_after
    come(arrivals, b"premium", model, PREMIUM)
    full.close()
    come(arrivals, b"free", model, FREE)


async def test_of_those_on_their_way_no_more_are_let_in_than_there_is_room_for() -> None:
    arrivals, _, full = arrivals_of(places=2, most_waiting=1)
    model = arrivals._pools.models[0].id
    come(arrivals, b"free", model, FREE)
    full.close()
    with ExitStack() as coming:
        for _ in range(3):
            coming.enter_context(arrivals.arriving(b"free", model))
        with pytest.raises(Overloaded):
            coming.enter_context(arrivals.arriving(b"free", model))
    come(arrivals, b"free", model, FREE)


@pytest.mark.parametrize("model", [None, "another"])
async def test_who_asks_for_something_else_is_not_refused_here(model: str | None) -> None:
    arrivals, _, _ = arrivals_of()
    come(arrivals, b"free", model, FREE)
    come(arrivals, b"free", model, FREE)


async def test_a_plan_is_forgotten_after_some_seconds() -> None:
    arrivals, clock, _ = arrivals_of()
    model = arrivals._pools.models[0].id
    come(arrivals, b"free", model, FREE)
    clock.now += KNOWN_FOR_S + 1
    come(arrivals, b"free", model, PREMIUM)
    come(arrivals, b"free", model, PREMIUM)


async def test_of_strangers_a_number_is_let_in_at_once() -> None:
    arrivals, _, full = arrivals_of()
    model = arrivals._pools.models[0].id
    come(arrivals, b"known", model, FREE)
    full.close()
    with ExitStack() as coming:
        for number in range(MOST_STRANGERS):
            coming.enter_context(arrivals.arriving(b"%d" % number, model))
        with pytest.raises(Overloaded):
            coming.enter_context(arrivals.arriving(None, model))
        come(arrivals, b"known", model, FREE)
    come(arrivals, None, model, FREE)


async def test_who_fails_on_the_way_leaves_no_trace() -> None:
    arrivals, _, full = arrivals_of()
    model = arrivals._pools.models[0].id
    full.close()
    for _ in range(3 * MOST_STRANGERS):
        with pytest.raises(ZeroDivisionError), arrivals.arriving(b"forged", model):
            raise ZeroDivisionError
    assert not +arrivals._coming and not arrivals._known
