"""Dense matrices to GGUF's blocks of 32 values."""

from __future__ import annotations

import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import quantize
from torch import Tensor

from inference.quantization.packed import PackedRows


def fits_blocks(weight: Tensor, kind: GGMLQuantizationType) -> bool:
    """Whether the rows of (out, in) fill whole blocks."""
    block, _ = GGML_QUANT_SIZES[kind]
    return weight.shape[-1] % block == 0


def round_to_blocks(weight: Tensor, kind: GGMLQuantizationType) -> PackedRows:
    """The nearest values that Q8_0 (symmetric) or Q4_1 (from least to largest) has.

    Args:
        weight: (out, in), any floating type; the caller has asked `fits_blocks`.
    """
    rows = quantize(weight.to(torch.float32).cpu().numpy(), kind)
    return PackedRows(kind, torch.from_numpy(rows), weight.shape[-1])
