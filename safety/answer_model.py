"""How harmful an answer has become, word by word: a few additions and look-ups for each word.

Each word adds the weight of the words, pairs and triples that end with it to a running sum that
never falls below zero: ordinary text keeps it there, harmful text lets it climb. The weights
are a logistic regression's over stretches of `STRETCH` words (`safety.training.answers`), so
the sum is a log-likelihood ratio and this the classic test for a change in a stream. All
weights are whole numbers: the sum is the same on every machine.

Source: Page 1954, "Continuous inspection schemes" (CUSUM).
"""

from array import array
from collections.abc import Sequence
from functools import lru_cache
from math import exp
from pathlib import Path

import numpy as np

from safety.artefacts import read_checked
from safety.grams import gram_rows

ANSWERS_FILE = Path(__file__).parent / "data" / "answers.npz"

STRETCH = 32
"""Words over which the regression was fitted; its constant is spread over as many."""

CEILING = 2
"""How many times the level of a score of 0.8 the sum may reach: what ended is soon forgotten."""


class AnswerModel:
    """The weights. Immutable after construction; shared by all answers.

    Args:
        weights: int16 [2 ** GRAM_BITS], by bucket.
        drift: added for each word, negative.
        calibration: slope and shift that turn the sum into a score.
    """

    def __init__(self, weights: np.ndarray, drift: int, calibration: tuple[float, float]) -> None:
        self._weights = array("h", weights.astype(np.int16).tobytes())
        self._drift = drift
        self._slope, self._shift = calibration
        self.ceiling = CEILING * self.level(0.8)

    def step(self, evidence: int, before2: str, before: str, word: str) -> int:
        """The sum after `word`, from the sum after the word before it."""
        weights = self._weights
        one, two, three = gram_rows(before2, before, word)
        evidence += weights[one] + weights[two] + weights[three] + self._drift
        return 0 if evidence < 0 else min(evidence, self.ceiling)

    def peak(self, spoken: Sequence[str]) -> int:
        """The highest sum that a text's folded words reach."""
        evidence = highest = 0
        before2 = before = ""
        for word in spoken:
            evidence = self.step(evidence, before2, before, word)
            before2, before = before, word
            highest = max(highest, evidence)
        return highest

    def score(self, evidence: int) -> float:
        """The calibrated score in 0..1 of a sum."""
        return 1.0 / (1.0 + exp(-(self._slope * evidence + self._shift)))

    def level(self, score: float) -> int:
        """The lowest sum whose score is at least `score`, which lies in 0..1, both excluded."""
        odds = float(np.log(score / (1.0 - score)))
        return max(1, int(np.ceil((odds - self._shift) / self._slope)))


@lru_cache(maxsize=1)
def answer_model() -> AnswerModel:
    """The weights that ship with the product, loaded and checked once.

    Raises:
        ModelCorrupt: the file is missing, or its SHA-256 is not the card's.
    """
    arrays = read_checked(ANSWERS_FILE)
    slope, shift = (float(value) for value in arrays["calibration"])
    return AnswerModel(arrays["weights"], int(arrays["drift"]), (slope, shift))
