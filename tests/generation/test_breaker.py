"""The circuit breaker of a replica, by the clock."""

from backend.generation.pools.breaker import MAX_OPEN_S, MIN_OPEN_S, Breaker


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def tripped(clock: Clock) -> Breaker:
    breaker = Breaker(clock)
    for _ in range(4):
        breaker.failed()
    return breaker


def test_opens_when_half_of_the_last_generations_fail():
    breaker = Breaker(Clock())
    for outcome in (breaker.succeeded, breaker.failed, breaker.succeeded):
        outcome()
    assert breaker.allows()
    breaker.failed()
    assert not breaker.allows()
    assert breaker.state == "open"


def test_failures_long_ago_do_not_count():
    clock = Clock()
    breaker = Breaker(clock)
    for _ in range(3):
        breaker.failed()
    clock.now = 60.0
    breaker.failed()
    assert breaker.allows()


def test_one_trial_decides_when_it_is_half_open():
    clock = Clock()
    breaker = tripped(clock)
    clock.now += MIN_OPEN_S
    assert breaker.state == "half-open" and breaker.allows()
    breaker.sent()
    assert not breaker.allows(), "one trial at a time"
    breaker.succeeded()
    assert breaker.state == "closed" and breaker.allows()


def test_breaker_opens_for_longer_each_time_a_trial_fails_up_to_a_bound():
    clock = Clock()
    breaker = tripped(clock)
    waits = []
    for _ in range(8):
        began = clock.now
        while not breaker.allows():
            clock.now += 0.5
        waits.append(clock.now - began)
        breaker.sent()
        breaker.failed()
    assert waits[:4] == [1.0, 2.0, 4.0, 8.0]
    assert waits[-1] == MAX_OPEN_S


def test_trial_that_never_ends_gives_its_place_to_another():
    clock = Clock()
    breaker = tripped(clock)
    clock.now += MIN_OPEN_S
    breaker.sent()
    clock.now += 31.0
    assert breaker.allows()
