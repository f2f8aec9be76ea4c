"""How harmful an answer has become, word by word: a cheap score, and a verifier behind it.

The cheap score: each word adds the weights of the words, pairs and triples that end with it to a
running sum that never falls below zero. Ordinary text keeps it low, harmful text lets it climb.
The weights are a logistic regression's over windows of `REGRESSION_WORDS` words
(`safety.training.answers`), so the sum is a log-likelihood ratio and this the classic test for a
change in a stream. It misses little and is often wrong, so it decides nothing: it says when the
verifier is asked.

The verifier: a linear model over the encoder's vector of the last words.

Source: Page 1954, "Continuous inspection schemes" (CUSUM).
"""

import time
from array import array
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from math import exp

import numpy as np

from safety.score.artefacts import DATA, read_checked
from safety.score.classifier import Classifier, TooLate, by_category
from safety.score.grams import GramReader
from safety.score.screens import WINDOW_WORDS
from safety.taxonomy import Category

ANSWERS_FILE = DATA / "answers.npz"

REGRESSION_WORDS = 32
"""Words of a window in the regression; its constant is spread over as many."""

CEILING = 2
"""How many times `verify_from` the sum may reach, so that it falls soon after the harm ended."""


class AnswerModel:
    """The weights. Immutable after construction; shared by all answers.

    Args:
        weights: int16 [2 ** GRAM_BITS], by bucket.
        drift: added for each word, negative.
        verify_from: the sum from which the verifier is asked.
        verifier: float [SIZE + 1], the verifier's weights and its constant.
        calibration: slope and shift that turn the verifier's logit into a score.
    """

    def __init__(
        self,
        weights: np.ndarray,
        drift: int,
        verify_from: int,
        verifier: np.ndarray,
        calibration: tuple[float, float],
    ) -> None:
        self._weights = array("h", weights.astype(np.int16).tobytes())
        self._drift = drift
        self._verifier = verifier.astype(np.float32)
        self._slope, self._shift = calibration
        self.verify_from = verify_from
        self._ceiling = CEILING * verify_from

    def step(self, cheap_score: int, rows: tuple[int, int, int]) -> int:
        """The sum after a word with these rows, from the sum after the word before it."""
        weights = self._weights
        one, two, three = rows
        cheap_score += weights[one] + weights[two] + weights[three] + self._drift
        return 0 if cheap_score < 0 else min(cheap_score, self._ceiling)

    def peak(self, words: Sequence[str]) -> int:
        """The highest sum that a text's folded words reach."""
        cheap_score = highest = 0
        grams = GramReader()
        for word in words:
            cheap_score = self.step(cheap_score, grams.rows(word))
            highest = max(highest, cheap_score)
        return highest

    def verified_at(self, words: Sequence[str]) -> list[int]:
        """The indices of the words at which the verifier is asked, if it dismisses each time."""
        found: list[int] = []
        cheap_score = 0
        grams = GramReader()
        for index, word in enumerate(words):
            cheap_score = self.step(cheap_score, grams.rows(word))
            if cheap_score >= self.verify_from:
                found.append(index)
                cheap_score = 0
        return found

    def logit(self, vector: np.ndarray) -> float:
        """What the verifier says of a window, by the encoder's vector of it."""
        return float(self._verifier[:-1] @ vector + self._verifier[-1])

    def score(self, logit: float) -> float:
        """The calibrated score in 0..1 of a logit."""
        return 1.0 / (1.0 + exp(-max(-50.0, min(50.0, self._slope * logit + self._shift))))


def verifier_scores(
    window: Collection[str], model: AnswerModel, classifier: Classifier
) -> dict[Category, float]:
    """The verifier's scores by category for the last words of an answer."""
    vector, shares = classifier.evaluate(list(window))
    return by_category(model.score(model.logit(vector)), shares)


def answer_scores(
    words: Sequence[str], model: AnswerModel, classifier: Classifier, deadline: float
) -> Iterator[dict[Category, float]]:
    """What the verifier says of a whole answer, wherever it is asked; at its end in any case.

    Raises:
        TooLate: `deadline`, a value of `time.monotonic()`, passed before an evaluation.
    """
    for last in dict.fromkeys((*model.verified_at(words), len(words) - 1)):
        if time.monotonic() > deadline:
            raise TooLate(f"{len(words)} words of an answer took longer than allowed.")
        window = words[max(0, last + 1 - WINDOW_WORDS) : last + 1]
        yield verifier_scores(window, model, classifier)


@lru_cache(maxsize=1)
def answer_model() -> AnswerModel:
    """The weights that ship with the product, loaded and checked once.

    Two arrays keep the names of the file's first version: `look_at` and `judge`.

    Raises:
        ModelCorrupt: the file is missing, or its SHA-256 is not the card's.
    """
    arrays = read_checked(ANSWERS_FILE)
    slope, shift = (float(value) for value in arrays["calibration"])
    return AnswerModel(
        arrays["weights"],
        int(arrays["drift"]),
        int(arrays["look_at"]),
        arrays["judge"],
        (slope, shift),
    )
