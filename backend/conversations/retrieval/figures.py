"""What a ranked list is worth where one passage is the answer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over questions. With one relevant passage a question, nDCG's ideal is 1."""

    recall_at_1: float
    recall_at_5: float
    reciprocal_rank: float
    ndcg_at_10: float


def figures_of(ranks: Sequence[int | None]) -> Figures:
    """
    Args:
        ranks: for each question the answer's place in the list, 1 is first; None: not in it.
    """
    found = [rank for rank in ranks if rank is not None]
    count = len(ranks)
    return Figures(
        recall_at_1=sum(rank == 1 for rank in found) / count,
        recall_at_5=sum(rank <= 5 for rank in found) / count,
        reciprocal_rank=sum(1 / rank for rank in found) / count,
        ndcg_at_10=sum(1 / math.log2(1 + rank) for rank in found if rank <= 10) / count,
    )
