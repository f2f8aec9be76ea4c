"""MXFP4 as Q8_0, which holds the same numbers: no kernel of ours computes from MXFP4 itself.

A block is 32 numbers of four bits (0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives) and a power of
two: twice such a number is an integer below 13, and half the power is Q8_0's scale. It takes twice
the memory.
Source: OCP Microscaling Formats (MX) v1.0.
"""

from __future__ import annotations

import torch
from gguf.constants import GGMLQuantizationType
from torch import Tensor

from inference.errors import ModelLoadError
from inference.quantization.packed import PackedRows

BLOCK = 32
_DOUBLED = torch.tensor((0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12), dtype=torch.int8)
_BIAS = 127


def from_folder(blocks: Tensor, exponents: Tensor) -> PackedRows:
    """As gpt-oss's folders have it.

    Args:
        blocks: (out, blocks of a row, 16) uint8, the first of two numbers in the low half.
        exponents: (out, blocks of a row) uint8, of two, plus 127.
    Raises:
        ModelLoadError: when a power is beyond what Q8_0's scale can be.
    """
    numbers = torch.stack((blocks & 15, blocks >> 4), dim=-1).flatten(2)
    return _as_q8_0(numbers, exponents)


def from_gguf(rows: PackedRows) -> PackedRows:
    """As GGUF has it: of each block the power, then bytes whose low halves are its first 16
    numbers.

    Raises:
        ModelLoadError: when a power is beyond what Q8_0's scale can be.
    """
    blocks = rows.data.view(len(rows.data), -1, 1 + BLOCK // 2)
    given = blocks[..., 1:]
    return _as_q8_0(torch.cat((given & 15, given >> 4), dim=-1), blocks[..., 0])


def _as_q8_0(numbers: Tensor, exponents: Tensor) -> PackedRows:
    """(out, blocks, 32) numbers by their four bits, (out, blocks) exponents."""
    doubled = _DOUBLED[numbers.long()]
    exact = torch.exp2(exponents.float() - _BIAS - 1)
    scales = exact.half()
    used = (doubled != 0).any(-1)
    if bool((used & (scales.float() != exact)).any()):
        raise ModelLoadError("MXFP4 blocks with powers of two that float16 does not have")
    scales = torch.where(used, scales, torch.zeros_like(scales))
    data = torch.cat((scales[..., None].view(torch.uint8), doubled.view(torch.uint8)), dim=-1)
    width = numbers.shape[1] * BLOCK
    return PackedRows(GGMLQuantizationType.Q8_0, data.flatten(1).contiguous(), width)
