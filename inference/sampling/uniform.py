"""Counter-based randomness: a number that depends on a seed and a position, nothing else.

No state is kept, so a sequence gets the same numbers alone, in any batch, after a
preemption and after a restart.
Source: the output function of SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def uniform(seed: int, position: int) -> float:
    """A number in [0, 1) for the token at `position`."""
    state = _mix((seed & _MASK) ^ _mix(_GOLDEN))
    return (_mix(state + (position + 1) * _GOLDEN) >> 11) * 2.0**-53


def _mix(value: int) -> int:
    value &= _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)
