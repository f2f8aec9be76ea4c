"""The two screens before the encoder: which parts of a prompt it reads.

The word screen, a linear model over grams, names the windows of a long text that look worst, and
its worst sentence by itself. The embedding screen, a linear model over the mean of a window's word
vectors, ends many of those. Neither decides anything but what is read.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from safety.score.features import NormalizedText

WINDOW_WORDS = 24
MAX_WINDOWS = 3
"""Of a text; beside them its worst sentence."""

MIN_SENTENCE_WORDS = 3

LENGTH_PENALTY, MAX_LENGTH_PENALTY = 0.3, 0.9
"""Taken from the harm of a text for each doubling of its length beyond a window, and at most."""


class CandidateWindow(NamedTuple):
    """A window or sentence that the word screen names, and the sum of its words' scores."""

    words: Sequence[str]
    value: int
    is_sentence: bool = False


def candidates(text: NormalizedText, word_scores: np.ndarray) -> list[CandidateWindow]:
    """What the encoder could read of a text: all of a short one, the worst of a long one.

    Args:
        word_scores: of each word, as `word_screen` gives them.
    Returns:
        The worst window; the worst sentence, which a window would show amid other words; and
        further windows, the worst first. None overlap but for the sentence, and all but the
        first have positive values. MAX_WINDOWS and a sentence at most.
    """
    words = text.words
    if len(words) <= WINDOW_WORDS:
        return [CandidateWindow(words, int(word_scores.sum()))]
    before = np.concatenate([[0], np.cumsum(word_scores, dtype=np.int64)])
    sums = before[WINDOW_WORDS:] - before[:-WINDOW_WORDS]
    found: list[CandidateWindow] = []
    while len(found) < MAX_WINDOWS:
        start = int(sums.argmax())
        if found and sums[start] <= 0:
            break
        found.append(CandidateWindow(words[start : start + WINDOW_WORDS], int(sums[start])))
        sums[max(0, start - WINDOW_WORDS + 1) : start + WINDOW_WORDS] = np.iinfo(np.int64).min
    found[1:1] = _worst_sentence(text, before)
    return found


def _worst_sentence(text: NormalizedText, before: np.ndarray) -> list[CandidateWindow]:
    """The sentence that the word screen finds worst, of those no longer than a window.

    Args:
        before: the sum of the word scores before each word, int [words + 1].
    """
    ends = [*text.starts[1:], len(text.words)]
    fitting = [
        (int(before[end] - before[start]), start, end)
        for start, end in zip(text.starts, ends, strict=True)
        if MIN_SENTENCE_WORDS <= end - start <= WINDOW_WORDS
    ]
    value, start, end = max(fitting, default=(0, 0, 0))
    return [CandidateWindow(text.words[start:end], value, is_sentence=True)] if value > 0 else []


def worth_reading(found: Sequence[CandidateWindow], levels: Sequence[float]) -> list[bool]:
    """Which candidates the encoder reads: the first always, the others from a level on.

    Args:
        levels: of further windows, and of sentences.
    """
    return [
        place == 0 or candidate.value >= levels[candidate.is_sentence]
        for place, candidate in enumerate(found)
    ]


def length_penalty(words: int) -> float:
    """What is taken from the harm of a text of so many words: the more windows there are to choose
    from, the more the worst of them looks like harm, whatever the text says."""
    return min(MAX_LENGTH_PENALTY, LENGTH_PENALTY * math.log2(max(1.0, words / WINDOW_WORDS)))


def embedding_screen_logits(mean_embeddings: np.ndarray, screen: np.ndarray) -> np.ndarray:
    """What the embedding screen says of windows, float [n]: positive speaks of harm.

    Args:
        mean_embeddings: the `encoder.mean_embedding` of each, float [n, SIZE].
        screen: weights and constant, float [SIZE + 1].
    """
    return np.asarray(mean_embeddings @ screen[:-1] + screen[-1])


def word_screen(weights: np.ndarray, drift: int, rows: np.ndarray) -> np.ndarray:
    """What the word screen says of each word of a text, int [words]; positive speaks of harm.

    Args:
        weights: int32 by row of the table.
        rows: the text's `grams.text_rows`.
    """
    return np.asarray(weights[rows].sum(axis=1) + drift)
