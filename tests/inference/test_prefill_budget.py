"""What prompts may cost the streams beside them, learned from steps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.scheduler.prefill_budget import PrefillBudget

MOST = 512


LONG = 6_000


def settled(
    pace: PrefillBudget, streams: int, alone_s: float, token_s: float, left: int = LONG
) -> tuple[int, float]:
    """Prompt tokens and seconds of the thirtieth step on a machine where tokens cost so much."""
    for _ in range(30):
        pace.step_done(streams, 0, alone_s)
    for _ in range(30):
        tokens = pace.prompt_tokens(streams, left)
        seconds = alone_s + tokens * token_s
        pace.step_done(streams, tokens, seconds)
    return tokens, seconds


def test_nothing_is_held_back_before_anything_is_known():
    pace = PrefillBudget(most=128, slowdown=2.0)
    assert pace.prompt_tokens(8, LONG) == 128
    pace.step_done(0, 128, 1.0)  # a prompt alone: nobody waited
    assert pace.prompt_tokens(8, LONG) == 128


@given(
    streams=st.integers(1, 64),
    alone_s=st.floats(0.001, 1.0),
    token_s=st.floats(0.000_01, 0.05),
    left_and_least=st.sampled_from([(LONG, 8), (40, 32)]),
)
def test_a_step_is_as_long_as_it_may_be(streams, alone_s, token_s, left_and_least):
    left, least = left_and_least
    tokens, seconds = settled(PrefillBudget(MOST, slowdown=2.0), streams, alone_s, token_s, left)
    allowed = max(2 * alone_s, 0.04)
    if least < tokens < MOST:
        assert allowed - 1.01 * token_s <= seconds <= allowed + token_s
    elif tokens == MOST:
        assert seconds <= allowed + token_s
    else:
        assert tokens == least


@pytest.mark.parametrize("most", [4, 32, 128])
@pytest.mark.parametrize(("left", "least"), [(6_000, 8), (512, 8), (511, 32), (40, 32)])
def test_a_slow_machine_still_makes_way_and_soon_for_a_short_prompt(most, left, least):
    tokens, _ = settled(PrefillBudget(most, slowdown=2.0), 8, alone_s=0.1, token_s=10.0, left=left)
    assert tokens == min(most, least)


def test_a_step_that_was_held_up_is_forgotten():
    pace = PrefillBudget(MOST, slowdown=2.0)
    before, _ = settled(pace, 8, 0.1, 0.001)
    pace.step_done(8, before, 30.0)
    assert pace.prompt_tokens(8, LONG) < before
    after, _ = settled(pace, 8, 0.1, 0.001)
    assert abs(after - before) <= 2


def test_the_nearest_number_of_streams_tells():
    pace = PrefillBudget(MOST, slowdown=2.0)
    settled(pace, 2, 0.05, 0.001)
    settled(pace, 32, 0.3, 0.001)
    assert pace.prompt_tokens(1, LONG) < pace.prompt_tokens(30, LONG)
