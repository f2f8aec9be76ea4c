"""How much a subject's hour looks like abuse. Pure; a score of 1 is the threshold.

Each score says one thing and grows with it, so a person who looks at a flag can see why.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

HISTORY_HOURS = 7 * 24
SPIKE_FLOOR_TOKENS = 200_000
"""An hour below this is no spike, however quiet the subject was before."""
SPIKE_DEVIATIONS = 6.0
BLOCKED_FLOOR = 10
BLOCKED_SHARE = 0.3
KEYS_FROM_ONE_ADDRESS = 10


@dataclass(frozen=True, slots=True)
class Hour:
    """What a subject did in one hour."""

    requests: int = 0
    blocked: int = 0
    tokens: int = 0


def spike(hour: Hour, history: Sequence[int]) -> float:
    """Tokens of this hour against the hours before.

    Args:
        history: tokens of earlier hours in which it was active; the quiet ones of the last
            `HISTORY_HOURS` count as zero.
    """
    count = max(HISTORY_HOURS, len(history))
    mean = sum(history) / count
    variance = sum(tokens * tokens for tokens in history) / count - mean * mean
    usual = mean + SPIKE_DEVIATIONS * sqrt(max(variance, 0.0))
    return hour.tokens / max(usual, SPIKE_FLOOR_TOKENS)


def blocked(hour: Hour) -> float:
    """The share of blocked prompts, once there are enough of them."""
    if hour.blocked < BLOCKED_FLOOR:
        return 0.0
    return hour.blocked / max(hour.requests, 1) / BLOCKED_SHARE


def shared_address(keys: int) -> float:
    """How many keys were used from one address within a day."""
    return keys / KEYS_FROM_ONE_ADDRESS
