"""A sentence as a vector: MiniLM, its upper layers trained further, eight bits a weight.

Runs `data/encoder.onnx` (made by `safety.training.export`) on one core: by our own kernels
(`compiled_encoder`) where this processor has them, else by onnxruntime. Word pieces and their
vectors come from `data/classifier.npz`; their mean is what the embedding screen reads. Input are
folded words (`safety.score.features`), so a disguise is gone before the encoder sees it.

Source: Wang et al. 2020, "MiniLM"; the weights of all-MiniLM-L6-v2.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from safety.score.compiled_encoder import SIZE, compiled_layers

MAX_PIECES = 36
"""Of one window, its two marks included; what is longer is cut."""

UNKNOWN_PIECE, FIRST_PIECE, LAST_PIECE = "[UNK]", "[CLS]", "[SEP]"
_MAX_WORD = 40

Layers = Callable[[np.ndarray], np.ndarray]
"""All layers and the mean after them: float32 [pieces of a text, SIZE] to [SIZE]."""


class WordPieces:
    """Cuts words into pieces and knows their vectors. Immutable; shared by all threads.

    Args:
        pieces: the vocabulary of word pieces, `##` before those that go on with a word.
        vectors: int8 [pieces, SIZE]; `scales` float [pieces] undo the rounding.
        positions: float [MAX_PIECES, SIZE], added to the pieces' vectors.
    """

    def __init__(
        self,
        pieces: Sequence[str],
        vectors: np.ndarray,
        scales: np.ndarray,
        positions: np.ndarray,
    ) -> None:
        self._rows: Mapping[str, int] = {piece: row for row, piece in enumerate(pieces)}
        self._vectors = vectors
        self._scales = scales.astype(np.float32)[:, None]
        self._positions = positions.astype(np.float32)
        self._of_word = lru_cache(maxsize=32_768)(self._cut)

    def _cut(self, word: str) -> tuple[int, ...]:
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

    def rows(self, words: Sequence[str]) -> list[int]:
        """The rows of a window of folded words between its two marks, at most MAX_PIECES."""
        rows = [self._rows[FIRST_PIECE]]
        for word in words:
            rows.extend(self._of_word(word))
        return [*rows[: MAX_PIECES - 1], self._rows[LAST_PIECE]]

    def illegible(self, rows: Sequence[int]) -> bool:
        """Whether most of a window is in letters that no piece has: its words look all alike."""
        return 2 * rows.count(self._rows[UNKNOWN_PIECE]) > len(rows)

    def word_vectors(self, words: Sequence[str]) -> np.ndarray:
        """The sum of the vectors of each word's pieces, without places: float32 [words, SIZE]."""
        of_words = [self._of_word(word) for word in words]
        rows = np.array([row for pieces in of_words for row in pieces], dtype=np.int64)
        if not len(rows):
            return np.zeros((0, SIZE), dtype=np.float32)
        starts = np.cumsum([0, *(len(pieces) for pieces in of_words[:-1])])
        found: np.ndarray = np.add.reduceat(self._vectors[rows] * self._scales[rows], starts)
        return found

    def vectors(self, rows: Sequence[int]) -> np.ndarray:
        """The vectors that MiniLM begins with, float32 [len(rows), SIZE]."""
        found: np.ndarray = self._vectors[rows] * self._scales[rows] + self._positions[: len(rows)]
        return found.astype(np.float32)


class Encoder:
    """Immutable after construction; shared by all threads.

    Args:
        graph: the ONNX model of the layers.
        layers: what runs them; by default the quickest that this processor has.
    """

    def __init__(self, pieces: WordPieces, graph: bytes, layers: Layers | None = None) -> None:
        self._pieces = pieces
        self.digest = hashlib.sha256(graph).hexdigest()
        self._layers = layers or compiled_layers(graph) or onnxruntime_layers(graph)

    def begin(self, words: Sequence[str]) -> np.ndarray:
        """What the layers begin with, for a window of folded words: float32 [pieces, SIZE]."""
        return self._pieces.vectors(self._pieces.rows(words))

    def word_vectors(self, words: Sequence[str]) -> np.ndarray:
        """What each word begins with by itself: float32 [words, SIZE]."""
        return self._pieces.word_vectors(words)

    def finish(self, vectors: np.ndarray) -> np.ndarray:
        """The unit vector of a window, float32 [SIZE], from what `begin` made of it."""
        return unit(self._layers(vectors))

    def encode(self, words: Sequence[str]) -> np.ndarray:
        """The unit vector of a window of folded words, float32 [SIZE]."""
        return self.finish(self.begin(words))

    def cost_s(self) -> float:
        """CPU seconds that the longest window takes on this processor: the least of five tries."""
        longest = self._pieces.vectors([0] * MAX_PIECES)
        taken = []
        for _ in range(5):
            started = time.thread_time()
            self.finish(longest)
            taken.append(time.thread_time() - started)
        return min(taken)


def mean_embedding(vectors: np.ndarray) -> np.ndarray:
    """The mean of a window's word piece vectors [pieces, SIZE] at a length of one, float32 [SIZE]:
    what it is about, at the cost of a sum."""
    return unit(vectors.mean(axis=0))


def unit(vector: np.ndarray) -> np.ndarray:
    """`vector` at a length of one."""
    found: np.ndarray = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return found


def onnxruntime_layers(graph: bytes) -> Layers:
    """The layers of `graph`, run by onnxruntime on one core."""
    import onnxruntime  # 20 MB and a quarter of a second that nobody needs beside our own kernels

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def run(vectors: np.ndarray) -> np.ndarray:
        mean: np.ndarray = session.run(None, {"vectors": vectors})[0]
        return mean

    return run
