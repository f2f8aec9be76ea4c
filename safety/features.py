"""Text as numbers, the same in training and in the product.

A text becomes the row numbers of its words in a vocabulary and the bucket numbers of its
character n-grams. Everything is vectorised: 200 words take well under a millisecond.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from safety.normalise import Vocabulary, words

UNKNOWN = 1
PADDING = 0
BUCKET_BITS = 17
BUCKETS = 1 << BUCKET_BITS
NGRAM_LENGTHS = (3, 4, 5)
MAX_CHARACTERS = 20_000
"""Of one window; windows are a few hundred words."""

_MULTIPLIER = np.uint32(0x9E3779B1)


def spoken_words(text: str, vocabulary: Vocabulary) -> list[str]:
    """The folded words of `text`; digits become one word, numbers carry no hazard."""
    return ["0" if w.text.isdigit() else w.text for w in words(text, vocabulary)]


def word_rows(spoken: Sequence[str], rows: Mapping[str, int]) -> np.ndarray:
    """Vocabulary rows, int32 [len(spoken)]; a plural falls back to its singular."""
    return np.array([_row(word, rows) for word in spoken], dtype=np.int32)


def _row(word: str, rows: Mapping[str, int]) -> int:
    row = rows.get(word)
    if row is None and word.endswith("s"):
        row = rows.get(word[:-1])
    return UNKNOWN if row is None else row


def ngram_buckets(spoken: Sequence[str]) -> np.ndarray:
    """Distinct buckets of the character n-grams of " w1 w2 … ", uint32, sorted.

    Multiplicative rolling hash over code points; collisions are part of the model.
    """
    text = f" {' '.join(spoken)} "[:MAX_CHARACTERS]
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    found = []
    for length in NGRAM_LENGTHS:
        if len(codes) < length:
            continue
        hashed = np.full(len(codes) - length + 1, length, dtype=np.uint32)
        for offset in range(length):
            hashed = (hashed ^ codes[offset : offset + len(hashed)]) * _MULTIPLIER
            hashed ^= hashed >> np.uint32(15)
        found.append(hashed >> np.uint32(32 - BUCKET_BITS))
    return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.uint32)
