"""Which guessed tokens count: verification of a draft against what was really drawn.

Row i of a draft's logits is the model's distribution if the first i guesses are right, and
`drawn[i]` was drawn from it with the position's own random number. A guess counts if it is
the token that was drawn. A guess that is given (not random) is accepted by rejection
sampling with just this probability, its share of the distribution, and a rejected one is
replaced by a draw from the rest of it: comparing does both at once. And since the drawn
token depends on the seed and the position only, it is the one that plain decoding draws.
Source: Leviathan et al. 2023, algorithm 1, for a proposal that is one certain token.
"""

from __future__ import annotations

from collections.abc import Sequence

from inference.core import Sampled


def count_verified(draft: Sequence[int], drawn: Sequence[Sampled]) -> list[Sampled]:
    """The drawn tokens that hold: one more than there are right guesses.

    Args:
        drawn: one more than the draft has tokens.
    """
    right = 0
    while right < len(draft) and drawn[right].token_id == draft[right]:
        right += 1
    return list(drawn[: right + 1])
