"""The decoder's operations on a CPU in float32, by our own kernels.

The kernels read quantized weights and KV blocks where they lie: a few tokens by unpacking
weights in registers, many by unpacking a part of a weight into the cache, once for all.
"""

from __future__ import annotations

import ctypes

import torch
from gguf.constants import GGMLQuantizationType
from torch import Tensor

from inference.model.backend import Angles, TorchBackend
from inference.model.batch import Batch, LayerCache, Singles
from inference.model.config import ModelConfig
from inference.model.cpu.address import at
from inference.model.weights import PackedRows

_KINDS = (GGMLQuantizationType.Q4_0, GGMLQuantizationType.Q4_1, GGMLQuantizationType.Q8_0)
_ROW_KINDS = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2, torch.int8: 3}
"""How the KV cache keeps its rows, as `kernels.cpp` numbers it."""
_FEW_TOKENS = 15
"""Up to here unpacking weights in registers beats blocked products; measured."""


class PackedLinear:
    """y = x @ weight.T + bias from quantized rows. Also an `Embedding`."""

    def __init__(self, kernels: ctypes.CDLL, rows: PackedRows, bias: Tensor | None) -> None:
        self._kernels = kernels
        self._data = rows.data.contiguous()
        self._kind = int(rows.kind)
        self._width = rows.width
        self._bias = bias

    @staticmethod
    def takes(rows: PackedRows) -> bool:
        return rows.kind in _KINDS

    def __call__(self, x: Tensor) -> Tensor:
        num_tokens, num_rows = len(x), len(self._data)
        y = torch.empty(num_tokens, num_rows)
        few = num_tokens <= _FEW_TOKENS
        product = self._kernels.parley_linear if few else self._kernels.parley_multiply
        x = x.contiguous()
        product(self._kind, at(self._data), at(x), at(y), num_tokens, num_rows, self._width)
        return y if self._bias is None else y.add_(self._bias)

    def rows(self, token_ids: Tensor) -> Tensor:
        out = torch.empty(len(token_ids), self._width)
        self._kernels.parley_dequantize(
            self._kind, at(self._data), at(token_ids), at(out), len(out), self._width
        )
        return out


class CpuBackend(TorchBackend):
    """`TorchBackend` in float32, faster."""

    def __init__(self, kernels: ctypes.CDLL) -> None:
        self._kernels = kernels

    @staticmethod
    def takes(config: ModelConfig) -> bool:
        """Whether the sizes fill the kernels' vectors."""
        vectors = (config.hidden_size, config.intermediate_size, config.head_dim // 2)
        return all(size % 8 == 0 for size in vectors)

    def add_rms_norm(self, x: Tensor, delta: Tensor | None, weight: Tensor, eps: float) -> Tensor:
        out = torch.empty_like(x)
        self._kernels.parley_add_rms_norm(
            at(x), at(delta), at(weight), at(out), *x.shape, ctypes.c_float(eps)
        )
        return out

    def rotate_and_cache(
        self, qkv: Tensor, kv_heads: int, angles: Angles, cache: LayerCache, batch: Batch
    ) -> Tensor:
        num, all_heads, dim = qkv.shape
        heads = all_heads - 2 * kv_heads
        cos, sin = angles
        self._kernels.parley_rotate_and_cache(
            *(_ROW_KINDS[cache.keys.dtype], at(qkv), at(cos), at(sin), at(batch.slots)),
            *(at(cache.keys), at(cache.values), at(cache.key_scales), at(cache.value_scales)),
            *(num, heads, kv_heads, dim),
        )
        return qkv[:, :heads]

    def attend_singles(
        self,
        queries: Tensor,
        cache: LayerCache,
        singles: Singles,
        out: Tensor,
        window: int | None,
    ) -> None:
        num, width = singles.tables.shape
        _, heads, dim = queries.shape
        self._kernels.parley_attend(
            *(_ROW_KINDS[cache.keys.dtype], at(queries), at(cache.keys), at(cache.values)),
            *(at(cache.key_scales), at(cache.value_scales)),
            *(at(singles.tables), at(singles.lengths), at(out)),
            *(num, queries.stride(0), heads, cache.keys.shape[1], dim),
            *(singles.block_size, width, window or 2**31 - 1),
        )

    def swiglu(self, gate_up: Tensor) -> Tensor:
        num, width = gate_up.shape
        out = torch.empty(num, width // 2)
        self._kernels.parley_swiglu(at(gate_up), at(out), num, width // 2)
        return out
