"""The trained layer: harm of a request, attack on the product, harm of an answer.

Runs the network of `safety.training.network` in NumPy from one small file,
`data/classifier.npz` (docs/safety-model-card.md says what it was trained on). Three
calibrated probabilities and a distribution over hazard categories; a text longer than a window
is scored window by window and the worst counts.

Source of the network: Kim 2014, "Convolutional Neural Networks for Sentence Classification".
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from safety.artefacts import read_checked
from safety.features import ngram_buckets, spoken_words, word_rows
from safety.normalise import Vocabulary
from safety.taxonomy import Category

MODEL_FILE = Path(__file__).parent / "data" / "classifier.npz"
WINDOW_WORDS = 128
STRIDE_WORDS = 96
MAX_WINDOWS = 64
"""Beyond ~6,000 words windows are spread evenly instead of overlapping."""


class TooLate(TimeoutError):
    """A text was so long that its classification passed the deadline."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the classifier thinks of a text; each value a calibrated probability.

    Attributes:
        categories: share of each hazard category in the harm, summing to 1.
    """

    harmful: float
    attack: float
    harmful_output: float
    categories: dict[Category, float]

    def scores(self, harm: float | None = None) -> dict[Category, float]:
        """Scores by category: the likeliest category carries the whole harm.

        Args:
            harm: the probability to share out; `harmful` where absent.
        """
        harm = self.harmful if harm is None else harm
        largest = max(self.categories.values())
        scores = {c: harm * share / largest for c, share in self.categories.items()}
        scores[Category.PROMPT_INJECTION] = self.attack
        return scores


class Classifier:
    """The network's forward pass. Immutable after construction; shared by all threads."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        vocabulary = str(arrays["vocabulary"]).split("\n")
        self.vocabulary = Vocabulary(vocabulary)
        self._rows = {word: index + 2 for index, word in enumerate(vocabulary)}
        self._vectors = arrays["vectors"].astype(np.float32) * arrays["vector_scale"]
        self._filters = [
            (arrays[f"filter{width}"].astype(np.float32), arrays[f"filter{width}_bias"], width)
            for width in (1, 2, 3)
        ]
        self._hidden = arrays["hidden"].astype(np.float32), arrays["hidden_bias"]
        self._heads = arrays["heads"].astype(np.float32), arrays["heads_bias"]
        self._category = arrays["category"].astype(np.float32), arrays["category_bias"]
        self._ngrams = arrays["ngrams"].astype(np.float32) * arrays["ngram_scale"]
        self._calibration = arrays["calibration"].astype(np.float32)
        self._names = [Category(name) for name in str(arrays["categories"]).split("\n")]

    def spoken(self, text: str) -> list[str]:
        return spoken_words(text, self.vocabulary)

    def estimate(self, spoken: Sequence[str], *, deadline: float | None = None) -> Estimate:
        """The worst window of a text's folded words, head by head.

        Args:
            deadline: `time.monotonic()` after which no further window is begun.
        Raises:
            TooLate: the deadline passed; what was found until then is lost.
        """
        estimates: list[Estimate] = []
        for window in windows(spoken):
            if estimates and deadline is not None and time.monotonic() > deadline:
                raise TooLate(f"{len(spoken)} words took longer than allowed.")
            estimates.append(self.estimate_words(window))
        worst = max(estimates, key=lambda e: e.harmful)
        return Estimate(
            harmful=worst.harmful,
            attack=max(e.attack for e in estimates),
            harmful_output=max(e.harmful_output for e in estimates),
            categories=worst.categories,
        )

    def estimate_words(self, spoken: Sequence[str]) -> Estimate:
        """One window of folded words; see `logits`."""
        logits, category_logits = self.logits(spoken)
        slope, shift = self._calibration
        probabilities = 1.0 / (1.0 + np.exp(-(slope * logits + shift)))
        shares = np.exp(category_logits - category_logits.max())
        shares /= shares.sum()
        return Estimate(
            float(probabilities[0]),
            float(probabilities[1]),
            float(probabilities[2]),
            {name: float(share) for name, share in zip(self._names, shares, strict=True)},
        )

    def logits(self, spoken: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Uncalibrated logits [3] and category logits [14] of at most WINDOW_WORDS words."""
        rows = word_rows(spoken[:WINDOW_WORDS], self._rows)
        vectors = self._vectors[rows]
        pooled = [self._pooled(vectors, *filters) for filters in self._filters]
        mean = vectors.sum(axis=0) / max(1, len(rows))
        weights, bias = self._hidden
        hidden = np.maximum(weights @ np.concatenate([*pooled, mean]) + bias, 0.0)
        buckets = ngram_buckets(spoken[:WINDOW_WORDS])
        spelled = self._ngrams[buckets].sum(axis=0) / np.sqrt(max(1, len(buckets)))
        heads, heads_bias = self._heads
        category, category_bias = self._category
        return heads @ hidden + heads_bias + spelled, category @ hidden + category_bias

    @staticmethod
    def _pooled(
        vectors: np.ndarray, weights: np.ndarray, bias: np.ndarray, width: int
    ) -> np.ndarray:
        """The maximum over positions of one filter width, zeros on both sides."""
        size = vectors.shape[1]
        padded = np.zeros((len(vectors) + 2 * width, size), dtype=np.float32)
        padded[width : width + len(vectors)] = vectors
        count = len(padded) - width + 1
        seen = np.concatenate([padded[i : i + count] for i in range(width)], axis=1)
        highest: np.ndarray = np.maximum((seen @ weights.T + bias).max(axis=0), 0.0)
        return highest


def windows(spoken: Sequence[str]) -> list[Sequence[str]]:
    """Overlapping windows that cover `spoken`; at most MAX_WINDOWS."""
    if len(spoken) <= WINDOW_WORDS:
        return [spoken]
    starts = list(range(0, len(spoken) - (WINDOW_WORDS - STRIDE_WORDS), STRIDE_WORDS))
    if len(starts) > MAX_WINDOWS:
        starts = [int(s) for s in np.linspace(0, len(spoken) - WINDOW_WORDS, MAX_WINDOWS)]
    return [spoken[start : start + WINDOW_WORDS] for start in starts]


@lru_cache(maxsize=1)
def classifier() -> Classifier:
    """The classifier that ships with the product, loaded and checked once.

    Raises:
        ModelCorrupt: the file is missing, or its SHA-256 is not the card's.
    """
    return Classifier(read_checked(MODEL_FILE))
