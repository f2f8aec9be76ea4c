"""The trained layer for prompts: harm of a request, attack on the product, hazard category.

Both are read from the meaning of a stretch of words: an encoder and a small network over its
vector. The encoder costs milliseconds, so of a long text it reads only what a linear
screen over words finds worst: stretches, and the worst sentence by itself. A second
screen, over the mean of a stretch's word pieces, spares many stretches the encoder. An attack is
also known by its wording: a linear model over the same grams, over the whole text, has its say
beside the network.

Weights: `data/classifier.npz` and `data/encoder.onnx`; docs/safety-model-card.md says from what.
"""

import math
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
from safety.score.encoder import Encoder, Pieces, gist
from safety.score.features import Spoken, spoken
from safety.score.grams import text_rows
from safety.taxonomy import Category

MODEL_FILE = DATA / "classifier.npz"
ENCODER_FILE = DATA / "encoder.onnx"

STRETCH_WORDS = 24
MAX_STRETCHES = 3
"""Of a text; beside them its worst sentence."""

MIN_SENTENCE_WORDS = 3

UNSUSPECTED = -3.9
"""The logits of a stretch that ends at the second screen: as sure as training ever is of a label
(`finetune.CERTAINTY`)."""

CROWDING, MOST_CROWDING = 0.3, 0.9
"""Taken from the harm of a text for each doubling of its length beyond a stretch, and at most."""

QUICK_ENCODING_S = 4.5e-3
SPARING = (0.0, 3.0)
"""What the second screen asks of a text, more for each unit of its `crowding`: where an encoding
is quick, and where it takes longer than that. There most long texts end at that screen: a prompt
shall not wait for its check. What scores mean differs, too; arrays hold both, in this order."""


class LongTexts(StrEnum):
    """Whether the encoder reads long texts: as an encoding's cost suggests, always, or seldom."""

    AUTO = "auto"
    READ = "read"
    SPARE = "spare"


LONG_TEXTS = LongTexts(os.environ.get("PARLEY_LONG_TEXTS") or "auto")
"""Machines of unlike speed decide alike where it is not `auto`."""

ATTACK_WORDS = 256
ATTACK_STEP = 128
PIECE_WORDS = 4_096
"""Words between two looks at the clock."""


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
            is_slow: whether an encoding takes so long that long texts are spared it.
        """
        self.encoder = encoder
        self.is_slow = is_slow
        self._sparing = SPARING[int(is_slow)]
        self.vocabulary = Vocabulary(str(arrays["vocabulary"]).split("\n"))
        self._screen = arrays["screen"].astype(np.int32)
        self._screen_drift = int(arrays["screen_drift"])
        self._levels: list[float] = arrays["screen_levels"].tolist()
        self._gate, self._gate_from = arrays["gate"], float(arrays["gate_from"])
        self._attack = arrays["attack"].astype(np.int32)
        self._attack_weight = float(arrays["attack_weight"][int(is_slow)])
        self._hidden = arrays["hidden"].astype(np.float32), arrays["hidden_bias"]
        self._heads = arrays["heads"].astype(np.float32), arrays["heads_bias"]
        self._calibration = arrays["calibration"][int(is_slow)].astype(np.float64)
        self._names = [Category(name) for name in str(arrays["categories"]).split("\n")]
        self._no_category = np.full(len(self._names), 1.0 / len(self._names))

    def spoken(self, text: str) -> Spoken:
        return spoken(text, self.vocabulary)

    def estimate(self, said: Spoken, *, deadline: float | None = None) -> Estimate:
        """The harm of the worst stretch of what was said, and whether it attacks.

        Args:
            deadline: `time.monotonic()` after which no further piece is begun.
        Raises:
            TooLate: the deadline passed; what was found until then is lost.
        """
        rows = _rows_in_time(said.words, deadline)
        worst = Meaning(-np.inf, -np.inf, self._no_category)
        attack = -np.inf
        less = crowding(len(said.words))
        named = suspects(said, screened(self._screen, self._screen_drift, rows))
        for suspect in compress(named, worth_reading(named, self._levels)):
            found = self._read(suspect.words, self._gate_from + self._sparing * less)
            attack = max(attack, found.attack)
            if found.harm > worst.harm:
                worst = found
        attack = attack_logit(self._attack, rows) + self._attack_weight * attack
        return Estimate(
            harmful=self._calibrated(worst.harm - less, 0),
            attack=self._calibrated(attack, 1),
            categories=self._by_name(worst.shares),
        )

    def _read(self, stretch: Sequence[str], gate_from: float) -> "Meaning":
        vectors = self.encoder.begin(stretch)
        if gate_logits(gist(vectors), self._gate) < gate_from:
            return Meaning(UNSUSPECTED, UNSUSPECTED, self._no_category)
        return self._meaning(self.encoder.finish(vectors))

    def look(self, stretch: Sequence[str]) -> tuple[np.ndarray, dict[Category, float]]:
        """The encoder's vector of a stretch of at most a few dozen words, and the share of each
        hazard category in it."""
        vector = self.encoder.encode(stretch)
        return vector, self._by_name(self._meaning(vector).shares)

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


class Suspect(NamedTuple):
    """A stretch that the first screen names, and how much it says against it."""

    words: Sequence[str]
    value: int
    is_sentence: bool = False


def suspects(said: Spoken, suspicions: np.ndarray) -> list[Suspect]:
    """What the encoder could read of a text: all of a short one, the worst of a long one.

    Args:
        suspicions: the screen's value of each word, see `screened`.
    Returns:
        The worst stretch; the worst sentence, which a stretch would show amid words of others; and
        further stretches, the worst first. None overlap but for the sentence, and all but the
        first have positive values. MAX_STRETCHES and a sentence at most.
    """
    spoken = said.words
    if len(spoken) <= STRETCH_WORDS:
        return [Suspect(spoken, int(suspicions.sum()))]
    before = np.concatenate([[0], np.cumsum(suspicions, dtype=np.int64)])
    sums = before[STRETCH_WORDS:] - before[:-STRETCH_WORDS]
    found: list[Suspect] = []
    while len(found) < MAX_STRETCHES:
        start = int(sums.argmax())
        if found and sums[start] <= 0:
            break
        found.append(Suspect(spoken[start : start + STRETCH_WORDS], int(sums[start])))
        sums[max(0, start - STRETCH_WORDS + 1) : start + STRETCH_WORDS] = np.iinfo(np.int64).min
    found[1:1] = _worst_sentence(said, before)
    return found


def _worst_sentence(said: Spoken, before: np.ndarray) -> list[Suspect]:
    """The sentence that the screen finds worst, of those no longer than a stretch.

    Args:
        before: the sum of the screen's values before each word, int [words + 1].
    """
    ends = [*said.starts[1:], len(said.words)]
    fitting = [
        (int(before[end] - before[start]), start, end)
        for start, end in zip(said.starts, ends, strict=True)
        if MIN_SENTENCE_WORDS <= end - start <= STRETCH_WORDS
    ]
    value, start, end = max(fitting, default=(0, 0, 0))
    return [Suspect(said.words[start:end], value, is_sentence=True)] if value > 0 else []


def worth_reading(found: Sequence[Suspect], levels: Sequence[float]) -> list[bool]:
    """Which of a text's suspects the encoder reads: the first always, the others from a level on.

    Args:
        levels: of further stretches, and of sentences.
    """
    return [
        place == 0 or suspect.value >= levels[suspect.is_sentence]
        for place, suspect in enumerate(found)
    ]


def crowding(words: int) -> float:
    """What a text of so many words has to be worse by: the more there is to choose from, the more
    its worst stretch looks like harm, whatever it says."""
    return min(MOST_CROWDING, CROWDING * math.log2(max(1.0, words / STRETCH_WORDS)))


def gate_logits(gists: np.ndarray, gate: np.ndarray) -> np.ndarray:
    """What the second screen says of stretches, float [n]: positive speaks of harm.

    Args:
        gists: the `encoder.gist` of each, float [n, SIZE].
        gate: weights and constant, float [SIZE + 1].
    """
    return np.asarray(gists @ gate[:-1] + gate[-1])


def screened(weights: np.ndarray, drift: int, rows: np.ndarray) -> np.ndarray:
    """What the first screen says of each word of a text, int [words]; positive speaks of harm.

    Args:
        weights: int32 by row of the table.
        rows: the text's `grams.text_rows`.
    """
    return np.asarray(weights[rows].sum(axis=1) + drift)


def attack_logit(weights: np.ndarray, rows: np.ndarray) -> float:
    """The highest value of any window of a text: the sum of its grams' weights over the square
    root of their number, so that neither short nor long texts are favoured.

    Each gram of a window counts once, so that what is repeated proves no more than said once
    (binary features, as in Wang and Manning 2012, "Baselines and Bigrams").

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


def _rows_in_time(spoken: Sequence[str], deadline: float | None) -> np.ndarray:
    """`text_rows`, piece by piece; grams across two pieces' border are left out."""
    pieces: list[np.ndarray] = []
    for start in range(0, max(1, len(spoken)), PIECE_WORDS):
        if start:
            _check_time(spoken, deadline)
        pieces.append(text_rows(spoken[start : start + PIECE_WORDS]))
    return np.concatenate(pieces)


def _check_time(spoken: Sequence[str], deadline: float | None) -> None:
    if deadline is not None and time.monotonic() > deadline:
        raise TooLate(f"{len(spoken)} words took longer than allowed.")


@lru_cache(maxsize=1)
def classifier() -> Classifier:
    """The classifier that ships with the product, loaded and checked once.

    Raises:
        ModelCorrupt: a file is missing, or its SHA-256 is not the card's.
    """
    arrays = read_checked(MODEL_FILE)
    encoder = Encoder(pieces_in(arrays), read_checked_bytes(ENCODER_FILE))
    if LONG_TEXTS is LongTexts.AUTO:
        is_slow = encoder.cost_s() > QUICK_ENCODING_S
    else:
        is_slow = LONG_TEXTS is LongTexts.SPARE
    return Classifier(arrays, encoder, is_slow=is_slow)


def pieces_in(arrays: dict[str, np.ndarray]) -> Pieces:
    """The word pieces that stand in `arrays`."""
    return Pieces(
        str(arrays["pieces"]).split("\n"),
        arrays["piece_vectors"],
        arrays["piece_scales"],
        arrays["positions"],
    )
