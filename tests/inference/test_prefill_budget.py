"""What prompts may cost the decode requests beside them, learned from steps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.scheduler.prefill_budget import PrefillBudget

MAX = 512


LONG = 6_000


def settled(
    budget: PrefillBudget, decode_tokens: int, alone_s: float, token_s: float, left: int = LONG
) -> tuple[int, float]:
    """Prompt tokens and seconds of the thirtieth step on a machine where tokens cost so much."""
    for _ in range(30):
        budget.step_done(decode_tokens, 0, alone_s)
    for _ in range(30):
        tokens = budget.tokens(decode_tokens, left)
        seconds = alone_s + tokens * token_s
        budget.step_done(decode_tokens, tokens, seconds)
    return tokens, seconds


def test_budget_is_the_maximum_before_anything_is_measured():
    budget = PrefillBudget(max_tokens=128, slowdown=2.0)
    assert budget.tokens(8, LONG) == 128
    budget.step_done(0, 128, 1.0)  # a prompt alone: no decode request waited
    assert budget.tokens(8, LONG) == 128


@given(
    decode_tokens=st.integers(1, 64),
    alone_s=st.floats(0.001, 1.0),
    token_s=st.floats(0.000_01, 0.05),
    left_and_least=st.sampled_from([(LONG, 8), (40, 32)]),
)
def test_step_is_as_long_as_the_slowdown_allows(decode_tokens, alone_s, token_s, left_and_least):
    left, least = left_and_least
    tokens, seconds = settled(
        PrefillBudget(MAX, slowdown=2.0), decode_tokens, alone_s, token_s, left
    )
    allowed = max(2 * alone_s, 0.04)
    if least < tokens < MAX:
        assert allowed - 1.01 * token_s <= seconds <= allowed + token_s
    elif tokens == MAX:
        assert seconds <= allowed + token_s
    else:
        assert tokens == least


@pytest.mark.parametrize("max_tokens", [4, 32, 128])
@pytest.mark.parametrize(("left", "least"), [(6_000, 8), (512, 8), (511, 32), (40, 32)])
def test_budget_has_a_minimum_when_machine_is_slow(max_tokens, left, least):
    tokens, _ = settled(
        PrefillBudget(max_tokens, slowdown=2.0), 8, alone_s=0.1, token_s=10.0, left=left
    )
    assert tokens == min(max_tokens, least)


def test_slow_step_is_forgotten():
    budget = PrefillBudget(MAX, slowdown=2.0)
    before, _ = settled(budget, 8, 0.1, 0.001)
    budget.step_done(8, before, 30.0)
    assert budget.tokens(8, LONG) < before
    after, _ = settled(budget, 8, 0.1, 0.001)
    assert abs(after - before) <= 2


def test_nearest_number_of_decode_tokens_is_used():
    budget = PrefillBudget(MAX, slowdown=2.0)
    settled(budget, 2, 0.05, 0.001)
    settled(budget, 32, 0.3, 0.001)
    assert budget.tokens(1, LONG) < budget.tokens(30, LONG)
