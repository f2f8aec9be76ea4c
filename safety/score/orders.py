"""The trained layer for untrusted content: does a sentence of it give orders to a model?

A text is cut into sentences (`passages`). A screen, a linear model over the words' vectors and
their grams, scores all of them; the encoder reads the few that look worst. A small network over its
vector, the screen's score and the wording of attacks in prompts has the last word. The score of a
text is that of its worst passage: how seldom that of an honest text of an unseen source reaches it.

The classifier of prompts (`safety.score.classifier`) learnt what people type, and takes many a
manual for an attack; this one learnt from manuals. Weights: `data/orders.npz`, made by
`python -m safety.training.untrusted.fit`.
"""

import time
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

import numpy as np

from safety.score.artefacts import DATA, ModelCorrupt, read_checked
from safety.score.classifier import Classifier, TooLate, classifier
from safety.score.encoder import Encoder
from safety.score.features import NormalizedText
from safety.score.grams import text_rows

ORDERS_FILE = DATA / "orders.npz"

PASSAGE_WORDS = 24
STEP_WORDS = 12
MIN_SENTENCE_WORDS = 4
"""Shorter sentences are read with the one that follows."""

MAX_READ = 6
"""How many passages of a text, or of a part of a long one, the encoder reads."""

PART_WORDS = 4_096


def passages(text: NormalizedText) -> np.ndarray:
    """The passages of `text` by their first word and the one after their last, int [n, 2]: each
    sentence, overlapping windows of a longer one, and two sentences that are short together."""
    ends = [*text.starts[1:], len(text.words)] if text.words else []
    sentences: list[tuple[int, int]] = []
    begun = None
    for start, end in zip(text.starts, ends, strict=True):
        begun = start if begun is None else begun
        if end - begun >= MIN_SENTENCE_WORDS:
            sentences.append((begun, end))
            begun = None
    if begun is not None and begun < len(text.words):
        sentences.append((begun, len(text.words)))
    found = [window for sentence in sentences for window in _windows(*sentence)]
    found += [
        (one[0], two[1]) for one, two in pairwise(sentences) if two[1] - one[0] <= PASSAGE_WORDS
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _windows(start: int, end: int) -> list[tuple[int, int]]:
    last = max(start, end - PASSAGE_WORDS)
    return [(at, min(end, at + PASSAGE_WORDS)) for at in (*range(start, last, STEP_WORDS), last)]


class OrdersHead:
    """The weights. Immutable after construction; shared by all threads.

    Args:
        arrays: `screen` float [SIZE + 1] over the mean of a passage's word vectors, `grams` int8
            by row of the table and `grams_scale`; `hidden` [n, SIZE], `hidden_bias`, `out` [n + 3]:
            of the hidden units, of the screen's logit, of the wording, and a constant;
            `calibration`: slope and shift.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        try:
            self._screen = arrays["screen"].astype(np.float32)
            self._grams = arrays["grams"].astype(np.float32) * float(arrays["grams_scale"])
            self._hidden = arrays["hidden"].astype(np.float32)
            self._hidden_bias = arrays["hidden_bias"].astype(np.float32)
            self._out = arrays["out"].astype(np.float32)
            self._slope, self._shift = (float(value) for value in arrays["calibration"])
        except (KeyError, ValueError) as error:
            raise ModelCorrupt(f"{ORDERS_FILE.name} is no head for orders: {error}") from error

    def screened(
        self, words: list[str], rows: np.ndarray, found: np.ndarray, encoder: Encoder
    ) -> np.ndarray:
        """What the screen says of the passages `found` of `words`, float [n].

        Args:
            rows: the `text_rows` of `words`.
            found: as `passages` gives them.
        """
        of_words = _before(self._grams[rows].sum(axis=1, keepdims=True))[:, 0]
        starts, ends = found[:, 0], found[:, 1]
        wording = (of_words[ends] - of_words[starts]) / np.sqrt(ends - starts)
        means = mean_vectors(words, found, encoder)
        return np.asarray(means @ self._screen[:-1] + self._screen[-1] + wording)

    def read(self, vector: np.ndarray, screened: float, wording: float) -> float:
        """The logit of a passage.

        Args:
            vector: the encoder's.
            screened: what the screen said; `wording` is `Classifier.attack_wording`.
        """
        inner = np.maximum(self._hidden @ vector + self._hidden_bias, 0.0)
        return float(self._out @ np.concatenate([inner, [screened, wording, 1.0]]))

    def logit(
        self, text: NormalizedText, model: Classifier, *, deadline: float | None = None
    ) -> float:
        """The logit of the worst passage of `text`; -inf for a text without words.

        Args:
            deadline: `time.monotonic()` after which no further part is read.
        Raises:
            TooLate: the deadline passed.
        """
        worst = -np.inf
        for part in _parts(text):
            if deadline is not None and time.monotonic() > deadline:
                raise TooLate(f"{len(text.words)} words of untrusted content took too long.")
            found = passages(part)
            if not len(found):
                continue
            rows = text_rows(part.words)
            scores = self.screened(part.words, rows, found, model.encoder)
            for place in np.argsort(-scores, kind="stable")[:MAX_READ]:
                start, end = found[place]
                vector = model.encoder.encode(part.words[start:end])
                wording = model.attack_wording(rows[start:end])
                worst = max(worst, self.read(vector, float(scores[place]), wording))
        return worst

    def score(self, logit: float) -> float:
        """The calibrated score in 0..1 of a logit."""
        return float(1.0 / (1.0 + np.exp(-np.clip(self._slope * logit + self._shift, -50.0, 50.0))))


def mean_vectors(words: list[str], found: np.ndarray, encoder: Encoder) -> np.ndarray:
    """The mean word vector of each passage at a length of one, float32 [n, SIZE]."""
    before = _before(encoder.word_vectors(words))
    means = before[found[:, 1]] - before[found[:, 0]]
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(means / np.maximum(norms, 1e-9), dtype=np.float32)


def _before(values: np.ndarray) -> np.ndarray:
    """The sum of the rows before each, and of all: float64 [rows + 1, columns]."""
    start = np.zeros((1, values.shape[1]))
    return np.concatenate([start, np.cumsum(values, axis=0, dtype=np.float64)])


def _parts(text: NormalizedText) -> list[NormalizedText]:
    """A long text in parts, so that its vectors fit into memory."""
    if len(text.words) <= PART_WORDS:
        return [text]
    starts = np.array(text.starts)
    parts = []
    for at in range(0, len(text.words), PART_WORDS):
        inside = starts[(starts > at) & (starts < at + PART_WORDS)] - at
        parts.append(NormalizedText(text.words[at : at + PART_WORDS], [0, *inside.tolist()]))
    return parts


@lru_cache(maxsize=1)
def orders_head() -> OrdersHead:
    """The head that ships with the product, loaded and checked once.

    Raises:
        ModelCorrupt: the file is missing, or its SHA-256 is not the card's.
    """
    return OrdersHead(read_checked(ORDERS_FILE))


def orders_score(text: NormalizedText, *, deadline: float | None = None) -> float:
    """How likely `text` gives orders to a model, 0..1. Raises like `OrdersHead.logit`."""
    head = orders_head()
    return head.score(head.logit(text, classifier(), deadline=deadline))
