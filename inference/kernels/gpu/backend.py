"""The decoder's operations by the Triton kernels."""

from __future__ import annotations

from torch import Tensor

from inference.kernels.backend import Angles, TorchBackend
from inference.kernels.batch import Batch, DecodeBatch, LayerCache, PrefillChunk
from inference.kernels.gpu.decode_attention import decode_attention
from inference.kernels.gpu.norm import add_rms_norm
from inference.kernels.gpu.prefill_attention import prefill_attention
from inference.kernels.gpu.rotary import rotate_and_cache
from inference.kernels.gpu.swiglu import swiglu


class TritonBackend(TorchBackend):
    """`TorchBackend` on a GPU, without gathered contexts and with fewer passes."""

    def add_rms_norm(self, x: Tensor, delta: Tensor | None, weight: Tensor, eps: float) -> Tensor:
        return add_rms_norm(x, delta, weight, eps)

    def rotate_and_cache(
        self, qkv: Tensor, kv_heads: int, angles: Angles, cache: LayerCache, batch: Batch
    ) -> Tensor:
        cos, sin = angles
        return rotate_and_cache(qkv, kv_heads, cos, sin, cache, batch.slots)

    def attend_decode(
        self,
        queries: Tensor,
        cache: LayerCache,
        decode: DecodeBatch,
        out: Tensor,
        window: int | None,
    ) -> None:
        num = len(decode.lengths)
        decode_attention(
            queries[:num],
            cache,
            decode.tables,
            decode.lengths,
            decode.block_size,
            window,
            out[:num],
        )

    def attend_prefill(
        self,
        queries: Tensor,
        cache: LayerCache,
        chunk: PrefillChunk,
        out: Tensor,
        window: int | None,
    ) -> None:
        prefill_attention(queries, cache, chunk.slots, chunk.start, window, out)

    def swiglu(self, gate_up: Tensor) -> Tensor:
        return swiglu(gate_up)
