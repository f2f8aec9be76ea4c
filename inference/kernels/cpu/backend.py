"""The decoder's operations on a CPU in float32, by our own kernels.

The kernels read quantized weights and KV blocks where they lie: a few tokens by unpacking
weights in registers, many by unpacking a part of a weight into the cache, once for all.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from inference.kernels.backend import Angles, LayerParts, LayerShape, TorchBackend
from inference.kernels.batch import Batch, DecodeBatch, LayerCache, PrefillChunk
from inference.kernels.cpu.address import at
from inference.kernels.cpu.decode import ROW_KINDS, FusedDecode
from inference.kernels.cpu.packed_linear import PackedLinear
from inference.kernels.low_rank import Product, plain_in_step

log = logging.getLogger(__name__)


class CpuBackend(TorchBackend):
    """`TorchBackend` in float32, faster."""

    def __init__(self, kernels: ctypes.CDLL, *, rounds_attention: bool = False) -> None:
        """
        Args:
            rounds_attention: of prompts, round what is multiplied to bfloat16 where the processor
                multiplies that twice as fast; sums stay float32.
        """
        self._kernels = kernels
        self._rounds_attention = rounds_attention

    @staticmethod
    def takes(sizes: Iterable[int]) -> bool:
        """Whether rows of these sizes fill the kernels' vectors, of eight floats or of sixteen."""
        return all(size % 16 == 0 for size in sizes)

    def fuse(self, shape: LayerShape, layers: Sequence[LayerParts]) -> FusedDecode | None:
        try:
            return FusedDecode(
                self._kernels, shape, layers, rounds_attention=self._rounds_attention
            )
        except ValueError as reason:
            log.info("layers are computed part by part: %s", reason)
            return None

    def add_rms_norm(self, x: Tensor, delta: Tensor | None, weight: Tensor, eps: float) -> Tensor:
        if weight.shape != x.shape[-1:]:
            raise ValueError(f"{x.shape[-1]} values for a norm of {len(weight)}")
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
            *(ROW_KINDS[cache.keys.dtype], at(qkv), at(cos), at(sin), at(batch.slots)),
            *(at(cache.keys), at(cache.values), at(cache.key_scales), at(cache.value_scales)),
            *(num, heads, kv_heads, dim),
        )
        return qkv[:, :heads]

    def attend_decode(
        self,
        queries: Tensor,
        cache: LayerCache,
        decode: DecodeBatch,
        out: Tensor,
        window: int | None,
    ) -> None:
        num, width = decode.tables.shape
        _, heads, dim = queries.shape
        self._kernels.parley_attend(
            *(ROW_KINDS[cache.keys.dtype], at(queries), at(cache.keys), at(cache.values)),
            *(at(cache.key_scales), at(cache.value_scales)),
            *(at(decode.tables), at(decode.lengths), at(out)),
            *(num, queries.stride(0), heads, cache.keys.shape[1], dim),
            *(decode.block_size, width, window or 2**31 - 1),
        )

    def attend_prefill(
        self,
        queries: Tensor,
        cache: LayerCache,
        chunk: PrefillChunk,
        out: Tensor,
        window: int | None,
    ) -> None:
        num, heads, dim = queries.shape
        slots = chunk.slots.contiguous()
        self._kernels.parley_attend_prefill(
            *(ROW_KINDS[cache.keys.dtype], at(queries), queries.stride(0)),
            *(at(cache.keys), at(cache.values), at(cache.key_scales), at(cache.value_scales)),
            *(at(slots), at(out), num, chunk.start, heads, cache.keys.shape[1], dim),
            *(window or 2**30, self._rounds_attention),
        )

    def mlp(self, x: Tensor, gate_up: Product, down: Product) -> Tensor:
        """In one call where both products round what enters them."""
        gate_up, down = plain_in_step(gate_up), plain_in_step(down)
        if not (
            isinstance(gate_up, PackedLinear)
            and isinstance(down, PackedLinear)
            and gate_up.rounds
            and down.rounds
            and gate_up.num_rows == gate_up.matrix.rows == 2 * down.width
            and x.shape[-1] == gate_up.width
        ):
            return super().mlp(x, gate_up, down)
        x = x.contiguous()
        out = torch.empty(len(x), down.matrix.rows)
        self._kernels.parley_mlp(
            *(ctypes.byref(gate_up.matrix), ctypes.byref(down.matrix), at(x), at(out), len(x))
        )
        return out[:, : down.num_rows]

    def swiglu(self, gate_up: Tensor) -> Tensor:
        num, width = gate_up.shape
        out = torch.empty(num, width // 2)
        self._kernels.parley_swiglu(at(gate_up), at(out), num, width // 2)
        return out
