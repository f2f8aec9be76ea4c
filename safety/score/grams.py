"""Words, pairs and triples of a text as rows of a table of weights.

Every linear layer of `safety` reads the same three grams for each word, hashed by CRC-32: the
same rows on every machine and in every process.
"""

import zlib
from collections.abc import Sequence

import numpy as np

GRAM_BITS = 17
_MASK = (1 << GRAM_BITS) - 1


class GramReader:
    """The rows of each word of a text that comes word by word: of the word, of it with its
    predecessor, and of it with its two.

    A checksum goes on from that of the words before, so each word is read once for all three.
    """

    __slots__ = ("_one_before", "_two_before")

    def __init__(self) -> None:
        self._one_before, self._two_before = 0, zlib.crc32(b" ")

    def rows(self, word: str) -> tuple[int, int, int]:
        """The rows of `word`, which follows the words read before."""
        letters = word.encode("utf-8", "surrogatepass")
        spaced = b" " + letters
        one = zlib.crc32(letters)
        two = zlib.crc32(spaced, self._one_before)
        three = zlib.crc32(spaced, self._two_before)
        self._one_before, self._two_before = one, two
        return one & _MASK, two & _MASK, three & _MASK


def text_rows(words: Sequence[str]) -> np.ndarray:
    """The rows of each word of a text, int64 [len(words), 3]; those that `GramReader` gives."""
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
