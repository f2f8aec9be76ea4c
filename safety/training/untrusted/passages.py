"""The texts as the head is fitted to them: their passages, with vectors and grams."""

import pickle
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from safety.score.classifier import Classifier
from safety.score.encoder import Encoder
from safety.score.grams import text_rows
from safety.score.orders import mean_vectors, passages
from safety.training.packages import CACHE
from safety.training.untrusted.texts import Text

FOLDS = 3


@dataclass(frozen=True, slots=True)
class Passages:
    """All passages of all texts.

    Attributes:
        owners: the index of each passage's text, int [n].
        words: of each passage.
        means: `orders.mean_vectors`, float16 [n, SIZE].
        rows: the grams of each passage, int32 [words, 3], cut out of its text's.
        is_order: of each text; `folds`: in which each is held out.
    """

    owners: np.ndarray
    words: list[list[str]]
    means: np.ndarray
    rows: list[np.ndarray]
    is_order: np.ndarray
    folds: np.ndarray


def passages_of(texts: list[Text], model: Classifier) -> Passages:
    owners: list[int] = []
    words: list[list[str]] = []
    means: list[np.ndarray] = []
    rows: list[np.ndarray] = []
    for number, text in enumerate(texts):
        normalized = model.normalized(text.text)
        found = passages(normalized)
        of_text = text_rows(normalized.words).astype(np.int32)
        owners += [number] * len(found)
        words += [normalized.words[start:end] for start, end in found]
        rows += [of_text[start:end] for start, end in found]
        means.append(mean_vectors(normalized.words, found, model.encoder).astype(np.float16))
    folds = [zlib.crc32(text.source.encode()) % FOLDS for text in texts]
    return Passages(
        np.array(owners),
        words,
        np.concatenate(means),
        rows,
        np.array([text.is_order for text in texts]),
        np.array(folds),
    )


class Vectors:
    """The encoder's vectors, kept from run to run in a file of the cache."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._path = CACHE / f"passages-{encoder.digest[:16]}.pickle"
        self._known: dict[str, np.ndarray] = {}
        if self._path.exists():
            self._known = pickle.loads(self._path.read_bytes())  # noqa: S301  (written by us)

    def of(self, words: list[list[str]]) -> np.ndarray:
        """Float32 [n, SIZE]."""
        keys = [" ".join(one) for one in words]
        for number, (key, one) in enumerate(zip(keys, words, strict=True)):
            if key not in self._known:
                self._known[key] = self._encoder.encode(one).astype(np.float16)
            if number % 4_000 == 3_999:
                self._keep()
        self._keep()
        return np.stack([self._known[key] for key in keys]).astype(np.float32)

    def _keep(self) -> None:
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = Path(f"{self._path}.part")
        partial.write_bytes(pickle.dumps(self._known))
        partial.replace(self._path)
