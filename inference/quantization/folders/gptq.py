"""GPTQ: four or eight bits, packed along a row's columns, whose groups may be out of order.

The first version of the format writes zeros less one, the second as they are.
Source: Frantar et al. 2022 (GPTQ); the packing is AutoGPTQ's.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from inference.errors import ModelLoadError
from inference.quantization.folders.codes import Codes
from inference.quantization.folders.unpack import Tensors, check, need, scales, unpack, words


@dataclass(frozen=True)
class Gptq:
    bits: int
    group_size: int
    """Columns that share a scale; -1: all."""
    zeros_less_one: bool

    name = "gptq"
    main = "qweight"
    tensors = ("qweight", "qzeros", "scales", "g_idx")

    def matrix(self, name: str, tensors: Tensors) -> Codes:
        packed = words(name, tensors, "qweight")
        columns, rows = packed.shape[0] * 32 // self.bits, packed.shape[1]
        size = columns if self.group_size == -1 else self.group_size
        groups = -(-columns // size)
        given = scales(name, tensors, "scales")
        check(name, "scales", given, (groups, rows), torch.float32)
        stored = words(name, tensors, "qzeros")
        check(name, "qzeros", stored, (groups, rows * self.bits // 32), torch.int32)
        zeros = unpack(stored, self.bits)
        if self.zeros_less_one:  # zero itself is written as all bits
            zeros = (zeros + 1) & (2**self.bits - 1)
        group_of = self._group_of(name, tensors, columns, size, groups)
        numbers = unpack(packed.T.contiguous(), self.bits) - zeros[group_of].T
        in_order = columns % size == 0 and torch.equal(group_of, torch.arange(columns) // size)
        return Codes(numbers, given.T.contiguous(), None if in_order else group_of)

    @staticmethod
    def _group_of(name: str, tensors: Tensors, columns: int, size: int, groups: int) -> Tensor:
        if "g_idx" not in tensors:
            return torch.arange(columns) // size
        given = need(name, tensors, "g_idx")
        check(name, "g_idx", given, (columns,), torch.int32, torch.int64)
        if int(given.min()) < 0 or int(given.max()) >= groups:
            raise ModelLoadError(f"{name}.g_idx has groups beyond the {groups} that have scales")
        return given.long()
