"""A quantized matrix that multiplies float32 activations, by our kernels."""

from __future__ import annotations

import ctypes

import torch
from gguf.constants import GGMLQuantizationType
from torch import Tensor

from inference.model.cpu.address import at
from inference.model.weights import PackedRows

_KINDS = (GGMLQuantizationType.Q4_0, GGMLQuantizationType.Q4_1, GGMLQuantizationType.Q8_0)
FEW_TOKENS = 15
"""Up to here unpacking weights in registers beats blocked products; measured."""


class PackedLinear:
    """y = x @ weight.T + bias from quantized rows. Also an `Embedding`."""

    def __init__(self, kernels: ctypes.CDLL, rows: PackedRows, bias: Tensor | None) -> None:
        self._kernels = kernels
        self.data = rows.data.contiguous()
        self.kind = int(rows.kind)
        self.num_rows = len(rows.data)
        self.width = rows.width
        self.bias = bias

    @staticmethod
    def takes(rows: PackedRows) -> bool:
        return rows.kind in _KINDS

    def __call__(self, x: Tensor) -> Tensor:
        num_tokens = len(x)
        y = torch.empty(num_tokens, self.num_rows)
        few = num_tokens <= FEW_TOKENS
        product = self._kernels.parley_linear if few else self._kernels.parley_multiply
        x = x.contiguous()
        product(self.kind, at(self.data), at(x), at(y), num_tokens, self.num_rows, self.width)
        return y if self.bias is None else y.add_(self.bias)

    def rows(self, token_ids: Tensor) -> Tensor:
        out = torch.empty(len(token_ids), self.width)
        self._kernels.parley_dequantize(
            self.kind, at(self.data), at(token_ids), at(out), len(out), self.width
        )
        return out
