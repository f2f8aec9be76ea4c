"""How found passages are ordered: BM25 (Robertson and Zaragoza 2009) and reciprocal rank fusion
(Cormack, Clarke and Büttcher 2009)."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

_K1 = 1.2
_B = 0.75
_RANK_OFFSET = 60

Id = TypeVar("Id", bound=Hashable)


def weights(
    found: Sequence[tuple[Id, int, str, int]], *, count: int, average: float
) -> dict[Id, float]:
    """BM25 of each document that has one of the words.

    Args:
        found: (document, its length, word, how often it is there), once for each pair.
        count, average: of all documents, and of their lengths.
    """
    having = Counter(word for _, _, word, _ in found)
    weighed: dict[Id, float] = defaultdict(float)
    for document, length, word, times in found:
        rarity = math.log(1 + (count - having[word] + 0.5) / (having[word] + 0.5))
        share = times + _K1 * (1 - _B + _B * length / average)
        weighed[document] += rarity * times * (_K1 + 1) / share
    return dict(weighed)


def fused(ranked: Iterable[Sequence[Id]]) -> list[Id]:
    """One order of several, the best first; of equals, as the first list has them."""
    scores: dict[Id, float] = defaultdict(float)
    for one in ranked:
        for rank, item in enumerate(one, start=1):
            scores[item] += 1 / (_RANK_OFFSET + rank)
    return sorted(scores, key=lambda item: -scores[item])
