"""A sentence as a vector: the first four layers of MiniLM, eight bits a weight.

Runs `data/encoder.onnx` (made by `safety.training.export`) on one core with onnxruntime. Word
pieces and their vectors come from `data/classifier.npz`. Input are folded words
(`safety.features.spoken_words`), so a disguise is gone before the encoder sees it.

Source: Wang et al. 2020, "MiniLM"; the weights of all-MiniLM-L6-v2.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import onnxruntime

SIZE = 384
MAX_PIECES = 36
"""Of one stretch, its two marks included; what is longer is cut."""

UNKNOWN_PIECE, FIRST_PIECE, LAST_PIECE = "[UNK]", "[CLS]", "[SEP]"
_MAX_WORD = 40


class Encoder:
    """Immutable after construction; shared by all threads.

    Args:
        pieces: the vocabulary of word pieces, `##` before those that go on with a word.
        vectors: int8 [pieces, SIZE]; `scales` float [pieces] undo the rounding.
        positions: float [MAX_PIECES, SIZE], added to the pieces' vectors.
        graph: the ONNX model: float32 [pieces of a text, SIZE] to float32 [SIZE].
    """

    def __init__(
        self,
        pieces: Sequence[str],
        vectors: np.ndarray,
        scales: np.ndarray,
        positions: np.ndarray,
        graph: bytes,
    ) -> None:
        self._rows: Mapping[str, int] = {piece: row for row, piece in enumerate(pieces)}
        self._vectors = vectors
        self._scales = scales.astype(np.float32)[:, None]
        self._positions = positions.astype(np.float32)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            graph, options, providers=["CPUExecutionProvider"]
        )
        self.pieces_of = lru_cache(maxsize=32_768)(self._pieces_of)

    def _pieces_of(self, word: str) -> tuple[int, ...]:
        """Rows of the longest pieces that `word` consists of, from the left."""
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(min(len(word), start + _MAX_WORD), start, -1):
                row = self._rows.get(mark + word[start:end])
                if row is not None:
                    found.append(row)
                    start = end
                    break
            else:
                return (self._rows[UNKNOWN_PIECE],)
        return tuple(found)

    def encode(self, spoken: Sequence[str]) -> np.ndarray:
        """The unit vector of a stretch of folded words, float32 [SIZE]."""
        rows = [self._rows[FIRST_PIECE]]
        for word in spoken:
            rows.extend(self.pieces_of(word))
        rows = [*rows[: MAX_PIECES - 1], self._rows[LAST_PIECE]]
        vectors = self._vectors[rows] * self._scales[rows] + self._positions[: len(rows)]
        (mean,) = self._session.run(None, {"vectors": vectors.astype(np.float32)})
        unit: np.ndarray = mean / max(float(np.linalg.norm(mean)), 1e-9)
        return unit
