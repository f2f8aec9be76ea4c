"""How harmful an answer has become, word by word: a cheap suspicion, and a judge to settle it.

The suspicion: each word adds the weight of the words, pairs and triples that end with it to a
running sum that never falls below zero. Ordinary text keeps it low, harmful text lets it climb.
The weights are a logistic regression's over stretches of `STRETCH` words
(`safety.training.answers`), so the sum is a log-likelihood ratio and this the classic test for a
change in a stream. It is made to miss little, and is often wrong: it decides nothing.

The judge: a linear model over the encoder's vector of the words up to there.

Source: Page 1954, "Continuous inspection schemes" (CUSUM).
"""

import time
from array import array
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from math import exp

import numpy as np

from safety.score.artefacts import DATA, read_checked
from safety.score.classifier import STRETCH_WORDS, Classifier, TooLate, by_category
from safety.score.grams import gram_rows
from safety.taxonomy import Category

ANSWERS_FILE = DATA / "answers.npz"

STRETCH = 32
"""Words over which the regression was fitted; its constant is spread over as many."""

CEILING = 2
"""How many times the level of a look the sum may reach: what ended is soon forgotten."""


class AnswerModel:
    """The weights. Immutable after construction; shared by all answers.

    Args:
        weights: int16 [2 ** GRAM_BITS], by bucket.
        drift: added for each word, negative.
        look_at: the sum from which the judge looks.
        judge: float [SIZE + 1], the judge's weights and its constant.
        calibration: slope and shift that turn the judge's logit into a score.
    """

    def __init__(
        self,
        weights: np.ndarray,
        drift: int,
        look_at: int,
        judge: np.ndarray,
        calibration: tuple[float, float],
    ) -> None:
        self._weights = array("h", weights.astype(np.int16).tobytes())
        self._drift = drift
        self._judge = judge.astype(np.float32)
        self._slope, self._shift = calibration
        self.look_at = look_at
        self._ceiling = CEILING * look_at

    def step(self, evidence: int, before2: str, before: str, word: str) -> int:
        """The sum after `word`, from the sum after the word before it."""
        weights = self._weights
        one, two, three = gram_rows(before2, before, word)
        evidence += weights[one] + weights[two] + weights[three] + self._drift
        return 0 if evidence < 0 else min(evidence, self._ceiling)

    def peak(self, spoken: Sequence[str]) -> int:
        """The highest sum that a text's folded words reach."""
        evidence = highest = 0
        before2 = before = ""
        for word in spoken:
            evidence = self.step(evidence, before2, before, word)
            before2, before = before, word
            highest = max(highest, evidence)
        return highest

    def looks(self, spoken: Sequence[str]) -> list[int]:
        """The words at which the judge looks while it dismisses each suspicion, by index."""
        found: list[int] = []
        evidence = 0
        before2 = before = ""
        for index, word in enumerate(spoken):
            evidence = self.step(evidence, before2, before, word)
            before2, before = before, word
            if evidence >= self.look_at:
                found.append(index)
                evidence = 0
        return found

    def logit(self, vector: np.ndarray) -> float:
        """What the judge says of a stretch, by the encoder's vector of it."""
        return float(self._judge[:-1] @ vector + self._judge[-1])

    def score(self, logit: float) -> float:
        """The calibrated score in 0..1 of a logit."""
        return 1.0 / (1.0 + exp(-max(-50.0, min(50.0, self._slope * logit + self._shift))))


def judged(
    stretch: Collection[str], model: AnswerModel, reader: Classifier
) -> dict[Category, float]:
    """The judge's scores by category for the last words of an answer."""
    vector, shares = reader.look(list(stretch))
    return by_category(model.score(model.logit(vector)), shares)


def answer_scores(
    spoken: Sequence[str], model: AnswerModel, reader: Classifier, deadline: float
) -> Iterator[dict[Category, float]]:
    """What the judge says of a whole answer, wherever it looks; once at its end at least.

    Raises:
        TooLate: `deadline`, a value of `time.monotonic()`, passed before a look.
    """
    for last in dict.fromkeys((*model.looks(spoken), len(spoken) - 1)):
        if time.monotonic() > deadline:
            raise TooLate(f"{len(spoken)} words of an answer took longer than allowed.")
        yield judged(spoken[max(0, last + 1 - STRETCH_WORDS) : last + 1], model, reader)


@lru_cache(maxsize=1)
def answer_model() -> AnswerModel:
    """The weights that ship with the product, loaded and checked once.

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
