"""How hard a prompt is: the chance that a small model answers it wrong and a large one is needed.

A logistic regression on what is cheap to see: its length, its numbers, signs of code, and which
words it has. Trained by `python -m infra.model_router` on answers that a program has checked;
`difficulty.json` beside this file holds the weights, and what they were made of.
"""

import math
import re
import zlib
from functools import cache
from itertools import pairwise
from pathlib import Path

import msgspec

WORD_ROWS = 2_048
"""Rows of weights that words and pairs of words share by their hash."""
_WORD = re.compile(r"[^\W\d_]+|\d+", re.UNICODE)
_MAX_CHARACTERS = 4_000
"""What comes after is not read: so long a prompt is hard by its length."""


class Weights(msgspec.Struct, frozen=True):
    """
    Attributes:
        made_of: SHA-256 of the answers that they were trained from.
        words: WORD_ROWS weights.
    """

    made_of: str
    bias: float
    signs: tuple[float, ...]
    words: tuple[float, ...]


def signs_of(text: str) -> tuple[float, ...]:
    """What is to be seen of a prompt besides its words, each from 0 to about 1."""
    numbers = re.findall(r"\d+", text)
    words = text.split()
    lines = text.count("\n")
    return (
        math.log1p(len(text)) / 8,
        math.log1p(len(words)) / 6,
        math.log1p(len(numbers)) / 3,
        max(map(len, numbers), default=0) / 6,
        min(lines, 10) / 10,
        float(bool(re.search(r"```|[{}]|\w\(|==|;\s*$", text, re.MULTILINE))),
        float(bool(re.search(r"\d\s*[-+*/\u00d7\u00f7%]\s*\d", text))),
        float("?" in text),
        min(text.count(","), 6) / 6,
        sum(not character.isascii() for character in text) / max(len(text), 1),
        min(len(re.findall(r"(?<![.!?])[.!?]++(?:\s|$)", text)), 6) / 6,
    )


def word_rows(text: str) -> frozenset[int]:
    """The rows of WORD_ROWS that a prompt's words and pairs of words have. Of a number counts how
    many digits it has."""
    words = ["0" * len(word) if word.isdigit() else word for word in _WORD.findall(text.lower())]
    pairs = (f"{first} {second}" for first, second in pairwise(words))
    return frozenset(zlib.crc32(one.encode()) % WORD_ROWS for one in (*words, *pairs))


def difficulty(text: str) -> float:
    """The chance, from 0 to 1, that the small model's answer to `text` would be wrong."""
    weights, read = _weights(), text[:_MAX_CHARACTERS]
    rows = word_rows(read)
    total = weights.bias + math.sqrt(1 / max(len(rows), 1)) * sum(
        weights.words[row] for row in rows
    )
    total += sum(w * sign for w, sign in zip(weights.signs, signs_of(read), strict=True))
    return 1 / (1 + math.exp(-total))


@cache
def _weights() -> Weights:
    path = Path(__file__).with_name("difficulty.json")
    return msgspec.json.decode(path.read_bytes(), type=Weights)
