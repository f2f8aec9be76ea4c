"""Which requests are refused before they are read, and that no others are."""

from contextlib import ExitStack

import pytest

from backend.generation.admission.shed import KNOWN_FOR_S, MAX_UNKNOWN_KEYS, LoadShedder
from backend.generation.pools.config import Pools
from backend.platform.errors import Overloaded
from tests.generation.admission_queue import join, queue_of

FREE, PREMIUM = 10, 1


class Pool:
    """A pool whose queue is full of free callers until `empty`, and its load shedder."""

    def __init__(self, *, places: int = 1, max_waiting: int = 1) -> None:
        self.queue, self.clock = queue_of(places=places, max_waiting=max_waiting)
        config = self.queue.replicas.pool
        self.model = config.id
        self.shedder = LoadShedder(Pools((config,)), {config.id: self.queue}, clock=self.clock)
        self._waiting = [join(self.queue, FREE) for _ in range(places + max_waiting)]

    def empty(self) -> None:
        for ticket in self._waiting:
            ticket.release()

    def request(self, key: bytes, priority: int) -> None:
        """A request that gets as far as its queue, whatever becomes of it there."""
        with self.shedder.pending(key, self.model) as pending:
            assert pending is not None
            pending.over(priority)


@pytest.fixture
async def pool() -> Pool:
    return Pool()


async def test_known_key_is_shed_when_queue_is_full(
    pool: Pool,
) -> None:
    pool.request(b"free", FREE)
    pool.request(b"premium", PREMIUM)
    with pytest.raises(Overloaded) as caught:
        pool.request(b"free", FREE)
    assert caught.value.retry_after
    pool.request(b"premium", PREMIUM)
    pool.empty()
    pool.request(b"free", FREE)


async def test_admitted_requests_count_against_the_free_places() -> None:
    pool = Pool(places=2, max_waiting=1)
    pool.request(b"free", FREE)
    pool.request(b"premium", PREMIUM)
    pool.empty()
    with ExitStack() as coming:
        for _ in range(3):
            coming.enter_context(pool.shedder.pending(b"free", pool.model))
        with pytest.raises(Overloaded):
            pool.request(b"free", FREE)
        for _ in range(3):  # they would stand before those
            coming.enter_context(pool.shedder.pending(b"premium", pool.model))
        with pytest.raises(Overloaded):
            pool.request(b"premium", PREMIUM)
    pool.request(b"free", FREE)


@pytest.mark.parametrize("model", [None, "another"])
async def test_unknown_model_is_not_shed(pool: Pool, model: str | None) -> None:
    pool.request(b"free", FREE)
    with pool.shedder.pending(b"free", model) as pending:
        assert pending is None


async def test_plan_of_a_key_is_forgotten_after_a_minute(pool: Pool) -> None:
    pool.request(b"free", FREE)
    with pytest.raises(Overloaded):
        pool.request(b"free", FREE)
    pool.clock.now += KNOWN_FOR_S + 1
    pool.request(b"free", FREE)


async def test_unknown_keys_are_bounded_while_queue_is_full(
    pool: Pool,
) -> None:
    with ExitStack() as coming:
        for number in range(MAX_UNKNOWN_KEYS):
            coming.enter_context(pool.shedder.pending(b"%d" % number, pool.model))
        with pytest.raises(Overloaded):
            pool.request(b"another", FREE)
        pool.empty()
        pool.request(b"another", FREE)
        pool.request(b"another", FREE)


async def test_failed_request_frees_its_slot(pool: Pool) -> None:
    for _ in range(3 * MAX_UNKNOWN_KEYS):
        with pytest.raises(ZeroDivisionError), pool.shedder.pending(b"forged", pool.model):
            raise ZeroDivisionError


async def test_draining_queue_gives_its_own_reason(pool: Pool) -> None:
    pool.request(b"free", FREE)
    pool.queue.draining = True
    with pytest.raises(Overloaded, match="restarting"), pool.shedder.pending(b"free", pool.model):
        join(pool.queue, FREE)
