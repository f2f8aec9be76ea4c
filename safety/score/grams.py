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


def text_rows(words: Sequence[str]) -> np.ndarray:
    """The rows of each word of a text, int64 [len(words), 3]; those that `gram_rows` gives.

    A checksum goes on from that of the words before, so each word is read three times, not six.
    """
    crc32 = zlib.crc32
    one_before, two_before = 0, crc32(b" ")
    found: list[int] = []
    for word in words:
        letters = word.encode("utf-8", "surrogatepass")
        spaced = b" " + letters
        one, two, three = crc32(letters), crc32(spaced, one_before), crc32(spaced, two_before)
        found += one, two, three
        one_before, two_before = one, two
    return np.array(found, dtype=np.int64).reshape(-1, 3) & _MASK
