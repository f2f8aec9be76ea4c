"""The trained layer for prompts: harm of a request, attack on the product, hazard category.

Harm is the meaning of a window of words: an encoder, and a small network over its vector. The
encoder costs milliseconds, so it reads what two screens leave of a text (`safety.score.screens`).
An attack is also known by its wording: a linear model over the grams of the whole text is added to
the network's logit.

Weights: `data/classifier.npz` and `data/encoder.onnx`; docs/safety-model-card.md says from what.
The names of the arrays in them (`gate`, for the embedding screen) are those of the first version.
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

import numpy as np

from safety.read.normalise import Vocabulary
from safety.score.artefacts import DATA, read_checked, read_checked_bytes
from safety.score.encoder import Encoder, WordPieces, mean_embedding
from safety.score.features import NormalizedText, normalized
from safety.score.grams import text_rows
from safety.score.screens import (
    candidates,
    embedding_screen_logits,
    length_penalty,
    word_screen,
    worth_reading,
)
from safety.taxonomy import Category

MODEL_FILE = DATA / "classifier.npz"
ENCODER_FILE = DATA / "encoder.onnx"

SCREENED_OUT_LOGIT = -3.9
"""The logits of a window that ends at the embedding screen: as sure as training ever is of a label
(`finetune.CERTAINTY`)."""

FAST_ENCODING_S = 4.5e-3
SLOW_CPU_PENALTY = (0.0, 3.0)
"""By how much the embedding screen is stricter for each unit of a text's `length_penalty`: on a
processor that encodes a window within FAST_ENCODING_S, and on a slower one. There most long texts
end at that screen, so that a prompt does not wait for its check. The calibration differs, too:
arrays that depend on it hold both, in this order."""


class LongTexts(StrEnum):
    """Whether SLOW_CPU_PENALTY applies: as the measured cost of an encoding says, never, always."""

    AUTO = "auto"
    READ = "read"
    SPARE = "spare"


LONG_TEXTS = LongTexts(os.environ.get("PARLEY_LONG_TEXTS") or "auto")
"""Machines of different speed decide alike where it is not `auto`."""

ATTACK_WORDS = 256
ATTACK_STEP = 128
ATTACK_SCALE = 500.0
"""By how much the weights of an attack's wording are larger than the regression's."""

WORDS_BETWEEN_CLOCK_CHECKS = 4_096


class TooLate(TimeoutError):
    """A text was so long that its classification passed the deadline."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the classifier thinks of a text; `harmful` and `attack` calibrated, in 0..1.

    Attributes:
        categories: share of each hazard category in the harm, summing to 1.
    """

    harmful: float
    attack: float
    categories: dict[Category, float]

    def scores(self) -> dict[Category, float]:
        """Scores by category, an attack's among them."""
        return {
            **by_category(self.harmful, self.categories),
            Category.PROMPT_INJECTION: self.attack,
        }


def by_category(harm: float, shares: Mapping[Category, float]) -> dict[Category, float]:
    """`harm` shared out: the likeliest category carries the whole of it."""
    largest = max(shares.values())
    return {category: harm * share / largest for category, share in shares.items()}


class Classifier:
    """Immutable after construction; shared by all threads."""

    def __init__(self, arrays: dict[str, np.ndarray], encoder: Encoder, *, is_slow: bool) -> None:
        """
        Args:
            is_slow: whether SLOW_CPU_PENALTY applies.
        """
        self.encoder = encoder
        self.is_slow = is_slow
        self._slow_cpu_penalty = SLOW_CPU_PENALTY[int(is_slow)]
        self.vocabulary = Vocabulary(str(arrays["vocabulary"]).split("\n"))
        self._word_screen = arrays["screen"].astype(np.int32)
        self._word_screen_drift = int(arrays["screen_drift"])
        self._levels: list[float] = arrays["screen_levels"].tolist()
        self._embedding_screen = arrays["gate"]
        self._embedding_screen_from = float(arrays["gate_from"])
        self._attack = arrays["attack"].astype(np.int32)
        self._attack_weight = float(arrays["attack_weight"][int(is_slow)])
        self._hidden = arrays["hidden"].astype(np.float32), arrays["hidden_bias"]
        self._heads = arrays["heads"].astype(np.float32), arrays["heads_bias"]
        self._calibration = arrays["calibration"][int(is_slow)].astype(np.float64)
        self._names = [Category(name) for name in str(arrays["categories"]).split("\n")]
        self._no_category = np.full(len(self._names), 1.0 / len(self._names))

    def normalized(self, text: str) -> NormalizedText:
        return normalized(text, self.vocabulary)

    def estimate(self, text: NormalizedText, *, deadline: float | None = None) -> Estimate:
        """The harm of the text's worst window, and whether it attacks.

        Args:
            deadline: `time.monotonic()` after which no further words are read.
        Raises:
            TooLate: the deadline passed; what was found until then is lost.
        """
        rows = _rows_in_time(text.words, deadline)
        worst = Meaning(-np.inf, -np.inf, self._no_category)
        attack = -np.inf
        # A slow processor pays for long texts with the encoder's time, so there fewer get that far.
        penalty = length_penalty(len(text.words))
        screen_from = self._embedding_screen_from + self._slow_cpu_penalty * penalty
        named = candidates(text, word_screen(self._word_screen, self._word_screen_drift, rows))
        for candidate in compress(named, worth_reading(named, self._levels)):
            found = self._screened(candidate.words, screen_from)
            attack = max(attack, found.attack)
            if found.harm > worst.harm:  # its shares count: those of other windows name other harm
                worst = found
        # Attacks are long and known by their wording, of which a window shows a part only.
        attack = attack_logit(self._attack, rows) + self._attack_weight * attack
        return Estimate(
            harmful=self._calibrated(worst.harm - penalty, 0),
            attack=self._calibrated(attack, 1),
            categories=self._by_name(worst.shares),
        )

    def _screened(self, window: Sequence[str], screen_from: float) -> "Meaning":
        """The meaning of a window, if the embedding screen lets it through."""
        vectors = self.encoder.begin(window)
        if embedding_screen_logits(mean_embedding(vectors), self._embedding_screen) < screen_from:
            return Meaning(SCREENED_OUT_LOGIT, SCREENED_OUT_LOGIT, self._no_category)
        return self._meaning(self.encoder.finish(vectors))

    def cheap_score(self, text: NormalizedText) -> int:
        """Return the word screen's score of a text; the higher, the more it looks like harm."""
        if not text.words:
            return 0
        rows = text_rows(text.words)
        return int(word_screen(self._word_screen, self._word_screen_drift, rows).sum())

    def evaluate(self, window: Sequence[str]) -> tuple[np.ndarray, dict[Category, float]]:
        """The encoder's vector of a window of at most a few dozen words, and the share of each
        hazard category in it."""
        vector = self.encoder.encode(window)
        return vector, self._by_name(self._meaning(vector).shares)

    def attack_wording(self, rows: np.ndarray) -> float:
        """How much the wording of a passage, by its `grams.text_rows`, is an attack's."""
        return attack_logit(self._attack, rows) / ATTACK_SCALE

    def _by_name(self, shares: np.ndarray) -> dict[Category, float]:
        return dict(zip(self._names, shares.tolist(), strict=True))

    def _meaning(self, vector: np.ndarray) -> "Meaning":
        return meaning(vector, self._hidden, self._heads)

    def _calibrated(self, logit: float, head: int) -> float:
        slope, shift = self._calibration[:, head]
        return float(1.0 / (1.0 + np.exp(-np.clip(slope * logit + shift, -50.0, 50.0))))


class Meaning(NamedTuple):
    """Uncalibrated logits of harm and of an attack, and the shares of the hazard categories."""

    harm: float
    attack: float
    shares: np.ndarray


def meaning(
    vector: np.ndarray,
    hidden: tuple[np.ndarray, np.ndarray],
    heads: tuple[np.ndarray, np.ndarray],
) -> Meaning:
    """The small network over an encoder's vector.

    Args:
        hidden, heads: weights [outputs, inputs] and biases [outputs] of the two layers.
    """
    inner = np.maximum(hidden[0] @ vector + hidden[1], 0.0)
    harm, attack, *named = heads[0] @ inner + heads[1]
    shares = np.exp(np.array(named) - max(named))
    return Meaning(float(harm), float(attack), shares / shares.sum())


def attack_logit(weights: np.ndarray, rows: np.ndarray) -> float:
    """The highest value of any window of a text: the sum of its grams' weights over the square
    root of their number, so that neither short nor long texts are favoured.

    Each gram of a window counts once, however often it is repeated (binary features, as in Wang and
    Manning 2012, "Baselines and Bigrams").

    Args:
        weights: int32 by row of the table.
        rows: the text's `grams.text_rows`.
    """
    highest = -np.inf
    for window in attack_windows(rows):
        distinct = np.unique(window)
        highest = max(highest, float(weights[distinct].sum()) / max(1, len(distinct)) ** 0.5)
    return highest


def attack_windows(rows: np.ndarray) -> list[np.ndarray]:
    """`rows` of a text, int [words, 3], as overlapping windows; at least one."""
    starts = range(0, max(1, len(rows) - ATTACK_STEP), ATTACK_STEP)
    return [rows[start : start + ATTACK_WORDS] for start in starts]


def _rows_in_time(words: Sequence[str], deadline: float | None) -> np.ndarray:
    """`text_rows` with a look at the clock between parts; grams across their borders are left out.

    Raises:
        TooLate: see `Classifier.estimate`.
    """
    parts: list[np.ndarray] = []
    for start in range(0, max(1, len(words)), WORDS_BETWEEN_CLOCK_CHECKS):
        if start and deadline is not None and time.monotonic() > deadline:
            raise TooLate(f"{len(words)} words took longer than allowed.")
        parts.append(text_rows(words[start : start + WORDS_BETWEEN_CLOCK_CHECKS]))
    return np.concatenate(parts)


@lru_cache(maxsize=1)
def classifier() -> Classifier:
    """The classifier that ships with the product, loaded and checked once.

    Raises:
        ModelCorrupt: a file is missing, or its SHA-256 is not the card's.
    """
    arrays = read_checked(MODEL_FILE)
    encoder = Encoder(word_pieces_in(arrays), read_checked_bytes(ENCODER_FILE))
    if LONG_TEXTS is LongTexts.AUTO:
        is_slow = encoder.cost_s() > FAST_ENCODING_S
    else:
        is_slow = LONG_TEXTS is LongTexts.SPARE
    return Classifier(arrays, encoder, is_slow=is_slow)


def word_pieces_in(arrays: dict[str, np.ndarray]) -> WordPieces:
    """The word pieces that stand in `arrays`."""
    return WordPieces(
        str(arrays["pieces"]).split("\n"),
        arrays["piece_vectors"],
        arrays["piece_scales"],
        arrays["positions"],
    )
