"""Quantized rows of every block format that the CPU kernels compute from."""

from __future__ import annotations

import numpy as np
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import quantize

PACKED_KINDS = [
    *(Kind.Q4_0, Kind.Q4_1, Kind.Q5_0, Kind.Q5_1, Kind.Q8_0),
    *(Kind.Q4_K, Kind.Q5_K, Kind.Q6_K),
]
SUPERBLOCKS = (Kind.Q4_K, Kind.Q5_K, Kind.Q6_K)
"""Blocks of 256 values, which the gguf package cannot write."""


def random_rows(
    kind: Kind, rows: int, width: int, rng: np.random.Generator, size: float = 1.0
) -> np.ndarray:
    """(rows, bytes of a row): numbers of about `size`, all bits of a block in use."""
    if kind not in SUPERBLOCKS:
        return quantize((rng.normal(size=(rows, width)) * size).astype(np.float32), kind)
    block, block_bytes = GGML_QUANT_SIZES[kind]
    data = rng.integers(0, 256, (rows, width // block, block_bytes), dtype=np.uint8)

    def halves(largest: float) -> np.ndarray:
        """A scale for each block, of at least a third of `largest`."""
        drawn = (largest * rng.uniform(0.3, 1, data.shape[:2])).astype(np.float16)
        return drawn[..., None].view(np.uint8)

    if kind is Kind.Q6_K:  # scale * -128..127 * -32..31
        data[..., -2:] = halves(size / 1500)
    else:  # scale * 0..63 * q - least * 0..63, about zero on average
        steps = 7.5 if kind is Kind.Q4_K else 15.5
        scale = halves(size / 200)
        data[..., 0:2] = scale
        data[..., 2:4] = (scale.view(np.float16) * np.float16(steps)).view(np.uint8)
    return data.reshape(rows, -1)
