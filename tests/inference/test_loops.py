"""An answer that has gone into a loop is seen soon; an honest one that repeats itself, never."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.text.loops import MAX_PERIOD, Cycles, Loop, LoopDetector, room_for_prose
from inference.text.tokenizer import TextTokenizer
from tests.inference.loops.honest import HONEST, Honest

REAL = [
    json.loads(line)
    for line in (Path(__file__).parent / "loops" / "real.jsonl").read_text().splitlines()
]


def detected(tokenizer: TextTokenizer, asked: str, answer: str) -> Loop | None:
    """The loop that a server would have ended `answer` with."""
    detector = LoopDetector(asked, tokenizer.decode)
    ids = tokenizer.encode(answer, add_special_tokens=False)
    texts = [tokenizer.decode([token_id]) for token_id in ids]
    for index, token_id in enumerate(ids):
        loop = detector.feed(token_id, lambda: "".join(texts[: index + 1]))  # noqa: B023
        if loop is not None:
            return loop
    return None


@pytest.mark.model
@pytest.mark.parametrize("honest", HONEST, ids=lambda honest: honest.name)
def test_honest_answer_is_never_ended(tokenizer: TextTokenizer, honest: Honest) -> None:
    assert detected(tokenizer, honest.asked, honest.answer) is None


@pytest.mark.model
@pytest.mark.parametrize("real", REAL, ids=lambda real: f"{real['kind']}: {real['asked'][:40]}")
def test_real_loop_is_ended_soon(tokenizer: TextTokenizer, real: dict) -> None:
    loop = detected(tokenizer, real["asked"], real["answer"])
    assert loop is not None
    ids = tokenizer.encode(real["answer"], add_special_tokens=False)
    assert loop.tokens <= max(160, 4 * real["period"]) * 4, "soon after it began"
    assert loop.end < len(ids), "and before the model would have stopped"


@settings(max_examples=60)
@given(
    before=st.lists(st.integers(0, 50), max_size=60),
    cycle=st.lists(st.integers(0, 6), min_size=1, max_size=40),
    rounds=st.integers(3, 30),
)
def test_cycle_is_found_wherever_it_begins(
    before: list[int], cycle: list[int], rounds: int
) -> None:
    cycles = Cycles()
    found = None
    tokens = before + cycle * rounds
    for token in tokens:
        found = cycles.feed(token)
    if len(cycle) * (rounds - 2) < 16 + len(cycle):
        return  # too short for the eight tokens that must come again
    assert found is not None
    shown = tokens[found.begin : found.end]
    assert found.end == len(tokens)
    assert shown[found.period :] == shown[: -found.period], "it is a cycle"
    assert len(cycle) % found.period == 0 or found.period % len(cycle) == 0 or len(set(cycle)) == 1


def test_cycle_of_the_longest_period_is_found_in_a_long_answer() -> None:
    cycles = Cycles()
    found = None
    tokens = [*range(100_000, 105_000), *(list(range(MAX_PERIOD)) * 5)]
    for token in tokens:
        found = cycles.feed(token)
    assert found is not None and found.period == MAX_PERIOD
    assert found.tokens == 5 * MAX_PERIOD


def test_numbers_that_count_are_no_cycle() -> None:
    cycles = Cycles()
    for i in range(500):
        for token in (1, 2, 3, 1000 + i, 4):
            assert cycles.feed(token) is None


@pytest.mark.model
def test_loop_is_found_when_it_began_at_another_engine(tokenizer: TextTokenizer) -> None:
    ids = tokenizer.encode("The sea is blue. " * 200, add_special_tokens=False)
    period = len(tokenizer.encode(" The sea is blue.", add_special_tokens=False))
    primed = LoopDetector("", tokenizer.decode)
    primed.prime(ids[: room_for_prose(period)])
    taken = next(i for i, one in enumerate(ids[200:]) if primed.feed(one, lambda: "The sea"))
    assert taken <= period + 8
