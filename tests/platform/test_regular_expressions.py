"""Every regular expression of the product takes time in proportion to its text."""

import re
import time

import pytest

from backend.tools.web.calls import typed_address
from tests.support.regular_expressions import Expression, expressions, worst_texts

EXPRESSIONS, MADE_WHEN_RUN = expressions()
LENGTHS = (26, 100, 500, 2_000, 8_000, 20_000)
LONGEST = 100_000

# One second of a processor for the longest text. A linear expression takes some milliseconds of it,
# a quadratic one minutes, so that neither load nor a slow machine decides.
BUDGET_S = 1.0
PER_CHARACTER_S = BUDGET_S / LONGEST
AT_LEAST_S = 0.1

# Put together of what a text holds: an example of each.
SAMPLES = {
    "backend/conversations/memory_words.py: f'^{_POLITE}{phrase}(?P<what>.+)$'": None,
    "backend/conversations/search.py: re.escape(words[0])": re.compile("aab", re.IGNORECASE),
    "backend/conversations/sources.py: f'(?<!\\\\w){re.escape(place)}(?!\\\\w)'": re.compile(
        r"(?<!\w)section a(?!\w)"
    ),
    "backend/tools/web/calls.py: "
    "f'(?<![\\\\w.@/-])(?:https?://)?{re.escape(plain)}/?{sentence_end}'": typed_address("!"),
}


def seconds(expression: Expression, text: str | bytes) -> float:
    begun = time.process_time()
    expression.run(text)
    return time.process_time() - begun


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda one: one.place)
def test_expression_is_linear(expression: Expression) -> None:
    assert_linear(expression)


@pytest.mark.parametrize("place", [place for place, one in SAMPLES.items() if one])
def test_expression_made_of_a_text_is_linear(place: str) -> None:
    pattern = SAMPLES[place]
    assert pattern is not None
    assert_linear(Expression(place, pattern, scans=True))


def test_expressions_made_when_run_are_known() -> None:
    """Those of `memory_words` are made once, and tried among the others."""
    assert SAMPLES.keys() == MADE_WHEN_RUN


@pytest.mark.parametrize("pattern", [r"(a+)+$", "<a.*?</a>", r"#\s+(.+?)\s*$"])
def test_expression_that_is_not_linear_is_found(pattern: str) -> None:
    with pytest.raises(AssertionError, match="seconds"):
        assert_linear(Expression("here", re.compile(pattern), scans=True))


def assert_linear(expression: Expression) -> None:
    """Shorter texts first: of an expression that is not, a long one would take for ever."""
    for length in LENGTHS:
        slowest, worst = 0.0, 0
        for number, text in enumerate(worst_texts(expression.pattern, length)):
            took = seconds(expression, text)
            if took > slowest:
                slowest, worst = took, number
            allowed = AT_LEAST_S + length * PER_CHARACTER_S
            assert took < allowed, f"{took:.2f} seconds for {length} characters: {text[:60]!r}"
    for number, text in enumerate(worst_texts(expression.pattern, LONGEST)):
        if number == worst:
            assert seconds(expression, text) < BUDGET_S, f"seconds for {LONGEST}: {text[:60]!r}"
