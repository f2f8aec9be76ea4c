"""Samples at another rate: a windowed sinc, one phase of the output at a time."""

from math import ceil, floor, gcd

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

_ZERO_CROSSINGS = 16
_PASSED = 0.95
"""Of the smaller rate's half: what lies above would be heard as other frequencies."""


def resample(samples: Samples, rate: int, wanted: int) -> Samples:
    """`samples` of `rate` a second as those of `wanted` a second."""
    if rate == wanted or not len(samples):
        return samples
    common = gcd(rate, wanted)
    up, down = wanted // common, rate // common
    cutoff = min(1.0, up / down) * _PASSED
    half = ceil(_ZERO_CROSSINGS / cutoff)
    count = ceil(len(samples) * up / down)
    padded = np.pad(samples, (half, half + down))
    result = np.zeros(count, np.float32)
    offsets = np.arange(-half, half + 1)
    for phase in range(min(up, count)):
        position = phase * down / up
        base = floor(position)
        distance = offsets - (position - base)
        taps = cutoff * np.sinc(distance * cutoff) * (0.5 + 0.5 * np.cos(np.pi * distance / half))
        taps[np.abs(distance) > half] = 0
        outputs = len(range(phase, count, up))
        total = np.zeros(outputs, np.float32)
        for tap, offset in zip(taps.astype(np.float32), offsets, strict=True):
            start = base + half + int(offset)
            heard = padded[start : start + outputs * down : down]
            total[: len(heard)] += tap * heard
        result[phase::up] = total
    return result
