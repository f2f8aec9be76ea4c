"""How long prompts and answers are in real chats.

Means of the ShareGPT conversations as published by Kwon et al. 2023 (PagedAttention,
section 6.1): 161.31 prompt tokens and 337.99 answer tokens. The shape is ours: log-normal
with a spread of 1, so that most are short and some are very long, cut at `MAX_LENGTH`.
"""

from __future__ import annotations

import random
from math import log

MEAN_PROMPT = 161.31
MEAN_OUTPUT = 337.99
MAX_LENGTH = 2048
_SPREAD = 1.0


def sharegpt_lengths(count: int, rng: random.Random, scale: float = 1.0) -> list[tuple[int, int]]:
    """`count` pairs (prompt tokens, output tokens); `scale` shortens all alike."""
    return [
        (
            _random_length(MEAN_PROMPT * scale, rng, scale),
            _random_length(MEAN_OUTPUT * scale, rng, scale),
        )
        for _ in range(count)
    ]


def _random_length(mean: float, rng: random.Random, scale: float) -> int:
    # The mean of a log-normal is exp(mu + spread^2 / 2).
    length = rng.lognormvariate(log(mean) - _SPREAD**2 / 2, _SPREAD)
    return max(2, min(round(length), round(MAX_LENGTH * scale)))
