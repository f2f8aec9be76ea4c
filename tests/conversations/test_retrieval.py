"""The benchmark of retrieval: its figures beside values computed by hand, and its questions."""

import math
from collections import Counter

import pytest

from backend.conversations.retrieval.corpus import KINDS, handbook, questions
from backend.conversations.retrieval.figures import figures_of
from documents.passages import text_passages


def test_figures_are_those_computed_by_hand() -> None:
    """Answers first, third, eleventh, and not found: 1 + 1/3 + 1/11 of four; log2(1 + 3) is 2."""
    got = figures_of([1, 3, 11, None])

    assert got.recall_at_1 == 0.25
    assert got.recall_at_5 == 0.5
    assert got.reciprocal_rank == pytest.approx((1 + 1 / 3 + 1 / 11) / 4)
    assert got.ndcg_at_10 == pytest.approx((1 + 1 / 2) / 4)


def test_fifth_counts_for_recall_and_tenth_for_ndcg() -> None:
    got = figures_of([5, 6, 10])

    assert got.recall_at_5 == pytest.approx(1 / 3)
    gains = [1 / math.log2(6), 1 / math.log2(7), 1 / math.log2(11)]
    assert got.ndcg_at_10 == pytest.approx(sum(gains) / 3)


def test_answer_that_is_always_first_is_worth_one_in_every_figure() -> None:
    got = figures_of([1, 1])

    assert (got.recall_at_1, got.recall_at_5, got.reciprocal_rank, got.ndcg_at_10) == (1, 1, 1, 1)


def test_each_question_has_one_passage_that_answers_it() -> None:
    """More than one of the same name would count as found whichever was."""
    held = Counter(
        (filename, passage.place)
        for filename, text in handbook()
        for passage in text_passages(text, filename=filename)
    )

    assert {one.question: held[one.answer] for one in questions() if held[one.answer] != 1} == {}


def test_questions_are_of_the_known_kinds_and_asked_once() -> None:
    asked = questions()

    assert {one.kind for one in asked} == set(KINDS)
    assert [
        said for said, times in Counter(one.question for one in asked).items() if times > 1
    ] == []
