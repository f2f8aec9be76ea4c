"""Words, pairs and triples of a text as rows of a table of weights.

Every linear layer of `safety` reads the same three grams for each word, hashed by CRC-32: the
same rows on every machine and in every process.
"""

import zlib
from collections.abc import Sequence

import numpy as np

GRAM_BITS = 17
_MASK = (1 << GRAM_BITS) - 1


def gram_rows(before2: str, before: str, word: str) -> tuple[int, int, int]:
    """The rows of `word`, of it with its predecessor, and of it with its two."""
    crc32 = zlib.crc32
    return (
        crc32(word.encode("utf-8", "surrogatepass")) & _MASK,
        crc32(f"{before} {word}".encode("utf-8", "surrogatepass")) & _MASK,
        crc32(f"{before2} {before} {word}".encode("utf-8", "surrogatepass")) & _MASK,
    )


def text_rows(spoken: Sequence[str]) -> np.ndarray:
    """The rows of each word of a text, int64 [len(spoken), 3]."""
    before = ["", *spoken]
    before2 = ["", "", *spoken]
    found = [gram_rows(a, b, word) for a, b, word in zip(before2, before, spoken, strict=False)]
    return np.array(found, dtype=np.int64).reshape(-1, 3)
