"""How found passages are ordered: BM25 (Robertson and Zaragoza 2009), and its sum with standardized
cosines (a convex combination, Bruch, Gai and Ingber 2023)."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

_K1 = 1.2
_B = 0.75
# Chosen with the questions of `make bench-retrieval` (docs/decisions/0341).
_WORDS_WEIGHT = 0.25
_LEAST_SPREAD = 1e-4
"""Below it, cosines differ by their rounding to float16."""

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


def combined(by_words: Mapping[Id, float], cosines: Mapping[Id, float]) -> list[Id]:
    """One order by words and by meaning, the best first; of equals, as they are given.

    How near a text is to a question says something only beside the other texts: a cosine counts by
    how far it is from their mean, in standard deviations. A text whose meaning is not known counts
    as of mean nearness. `make bench-retrieval` prints what this finds.
    """
    mean = statistics.fmean(cosines.values()) if cosines else 0.0
    spread = statistics.pstdev(cosines.values()) if cosines else 0.0
    scores = {item: _WORDS_WEIGHT * weight for item, weight in by_words.items()}
    if spread > _LEAST_SPREAD:
        for item, cosine in cosines.items():
            scores[item] = scores.get(item, 0.0) + (cosine - mean) / spread
    return sorted(scores, key=lambda item: -scores[item])
