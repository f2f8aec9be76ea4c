"""AWQ's gemm packing: four bits, eight outputs of a column in an int32, in an order of its own.

Source: Lin et al. 2023 (AWQ); the order is AutoAWQ's.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from inference.errors import ModelLoadError
from inference.quantization.folders.codes import Codes
from inference.quantization.folders.unpack import Tensors, check, scales, unpack, words

_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
"""The output of each four bits of a word, from the lowest."""


@dataclass(frozen=True)
class Awq:
    group_size: int
    """Columns that share a scale; -1: all."""

    name = "awq"
    main = "qweight"
    tensors = ("qweight", "qzeros", "scales")

    def matrix(self, name: str, tensors: Tensors) -> Codes:
        packed = words(name, tensors, "qweight")
        columns, rows = packed.shape[0], packed.shape[1] * 8
        size = columns if self.group_size == -1 else self.group_size
        if columns % size:
            raise ModelLoadError(f"{name}.qweight has {columns} columns in groups of {size}")
        groups = columns // size
        given = scales(name, tensors, "scales")
        check(name, "scales", given, (groups, rows), torch.float32)
        zeros = words(name, tensors, "qzeros")
        check(name, "qzeros", zeros, (groups, rows // 8), torch.int32)
        numbers = unpack(packed, 4, _ORDER).view(groups, size, rows)
        numbers = numbers - unpack(zeros, 4, _ORDER)[:, None]
        return Codes(numbers.view(columns, rows).T.contiguous(), given.T.contiguous())
