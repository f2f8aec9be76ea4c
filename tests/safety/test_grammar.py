"""The grammar's requests: the same every time, complete sentences, harm beside its twin."""

from collections import Counter

import pytest

pytest.importorskip("sklearn", reason="needs the group safety-train")

from safety.taxonomy import Category
from safety.training.folds import check_assigned
from safety.training.grammar import (
    Line,
    draw,
    grammar_attacks,
    grammar_lines,
    grammar_requests,
    variety,
)
from safety.training.heads import CATEGORIES


def test_grammar_gives_the_same_texts_every_time() -> None:
    assert list(grammar_requests()) == list(grammar_requests())


def test_no_grammar_text_holds_a_placeholder() -> None:
    texts = [e.text for e in grammar_requests()]
    assert len(texts) > 6_000
    broken = [text for text in texts if any(sign in text for sign in "[]{}|") or "  " in text]
    assert broken == []


def test_every_category_has_harmful_texts_and_ordinary_twins() -> None:
    harmful = Counter(e.category for e in grammar_requests() if e.label == "harmful")
    assert all(harmful[category] >= 100 for category in CATEGORIES)
    signs: dict[str, set[str]] = {line.file: set() for line in grammar_lines()}
    for line in grammar_lines():
        signs[line.file].add(line.sign[0])
    assert all(found == {"!", "="} for found in signs.values())


def test_grammar_attacks_are_labelled_and_wrap_nothing_harmful() -> None:
    labels = Counter(e.label for e in grammar_attacks())
    assert labels["attack"] > 500
    assert labels["borderline"] > 200
    assert set(labels) == {"attack", "borderline"}
    check_assigned([*grammar_requests(), *grammar_attacks()])


def test_line_gives_each_text_once() -> None:
    line = Line("violent_crimes", "!", "Write [a|b|c] to [x|y]")
    assert variety(line.pattern, {}) == 6
    texts = list(draw(line, 100))
    assert len(texts) == len(set(texts)) <= 6
    assert set(texts) <= {f"Write {a} to {b}" for a in "abc" for b in "xy"}


def test_every_category_has_a_grammar_file() -> None:
    files = {line.file for line in grammar_lines()}
    assert {str(c) for c in Category if c is not Category.PROMPT_INJECTION} <= files
