"""The Llama-family decoder over a flat batch of tokens and a paged KV cache."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.kernels.backend import Angles, Backend, FusedLayers, LayerParts, LayerShape
from inference.kernels.batch import Batch, LayerCache
from inference.model.config import ModelConfig
from inference.model.layers import Embedding, Linear, Mlp, SwiGLU
from inference.model.rope import Rotary

Hidden = tuple[Tensor, Tensor]
"""The residual stream and what the last layer adds to it, (T, hidden) each."""


@dataclass(frozen=True)
class DecoderLayer:
    """Weights of one layer. Query, key and value are one matrix."""

    attn_norm: Tensor
    qkv: Linear
    out: Linear
    mlp_norm: Tensor
    mlp: Mlp
    query_norm: Tensor | None = None
    key_norm: Tensor | None = None
    """Norms over each head before the rotation, as Qwen3 has them."""
    window: int | None = None
    """How many last tokens are attended to; all where None."""

    def parts(self) -> LayerParts | None:
        """For kernels that compute a layer as one operation; None where it has other parts."""
        if self.query_norm is not None or not isinstance(self.mlp, SwiGLU):
            return None
        return LayerParts(
            attn_norm=self.attn_norm,
            qkv=self.qkv,
            out=self.out,
            mlp_norm=self.mlp_norm,
            gate_up=self.mlp.gate_up,
            down=self.mlp.down,
            window=self.window,
        )


class LayerStack:
    """Layers one after another: a whole decoder's, or those of a pipeline's stage.

    `x` is the residual stream; what a part computed is handed on as `delta` and added
    by the next norm, so that each norm reads and writes the stream once.
    """

    def __init__(self, config: ModelConfig, backend: Backend, layers: list[DecoderLayer]) -> None:
        self.config = config
        self._backend = backend
        self._layers = layers
        device = layers[0].attn_norm.device
        self._rotary = Rotary(config.rope, config.head_dim, config.max_position, device)
        self._fused = self._fuse()

    def __len__(self) -> int:
        return len(self._layers)

    @property
    def most_rows_alone(self) -> int:
        """Tokens up to which a batch is faster where each is a query alone."""
        return 0 if self._fused is None else self._fused.most_rows

    @property
    def can_be_recorded(self) -> bool:
        """Whether a CUDA graph can hold all layers."""
        return not any(layer.mlp.waits_for_device for layer in self._layers)

    def __call__(
        self, x: Tensor, delta: Tensor | None, batch: Batch, caches: list[LayerCache]
    ) -> Hidden:
        """All layers over all tokens; writes their keys and values into `caches`."""
        ops, eps = self._backend, self.config.rms_eps
        angles = self._rotary.at(batch.positions, x.dtype)
        if self._fused is not None and self._fused.takes(batch):
            return self._fused(x if delta is None else x.add_(delta), angles, batch, caches)
        for layer, cache in zip(self._layers, caches, strict=True):
            normed = ops.add_rms_norm(x, delta, layer.attn_norm, eps)
            delta = self._attention(layer, normed, angles, cache, batch)
            normed = ops.add_rms_norm(x, delta, layer.mlp_norm, eps)
            delta = layer.mlp(normed)
        assert delta is not None
        return x, delta

    def _fuse(self) -> FusedLayers | None:
        config = self.config
        parts = [found for layer in self._layers if (found := layer.parts()) is not None]
        if len(parts) < len(self._layers):
            return None
        shape = LayerShape(
            config.hidden_size,
            config.num_heads,
            config.num_kv_heads,
            config.head_dim,
            config.rms_eps,
        )
        return self._backend.fuse(shape, parts)

    def _attention(
        self, layer: DecoderLayer, x: Tensor, angles: Angles, cache: LayerCache, batch: Batch
    ) -> Tensor:
        config, ops = self.config, self._backend
        qkv = layer.qkv(x).view(len(x), -1, config.head_dim)
        if layer.query_norm is not None and layer.key_norm is not None:
            split = (config.num_heads, config.num_kv_heads, config.num_kv_heads)
            queries, keys, values = qkv.split(split, dim=1)
            queries = F.rms_norm(queries, (config.head_dim,), layer.query_norm, config.rms_eps)
            keys = F.rms_norm(keys, (config.head_dim,), layer.key_norm, config.rms_eps)
            qkv = torch.cat((queries, keys, values), dim=1)
        queries = ops.rotate_and_cache(qkv, config.num_kv_heads, angles, cache, batch)
        return layer.out(ops.attend(queries, cache, batch, layer.window).view(len(x), -1))


class LlamaModel:
    """Pre-norm decoder: grouped-query attention with rotary positions, and SwiGLU."""

    def __init__(
        self,
        config: ModelConfig,
        backend: Backend,
        embed: Embedding,
        layers: list[DecoderLayer],
        norm: Tensor,
        lm_head: Linear,
    ) -> None:
        self.config = config
        self.layers = LayerStack(config, backend, layers)
        self._backend = backend
        self._embed = embed
        self._norm = norm
        self._lm_head = lm_head

    def __call__(self, batch: Batch, caches: list[LayerCache]) -> Tensor:
        """Logits (R, vocab) in float32 of the batch's `logits_rows`.

        Writes the keys and values of every token of the batch into `caches`.
        """
        return self.logits(self.hidden(batch, caches), batch.logits_rows)

    def embed(self, token_ids: Tensor) -> Tensor:
        """(T,) ids to what enters the first layer."""
        return self._embed.rows(token_ids)

    def hidden(self, batch: Batch, caches: list[LayerCache]) -> Hidden:
        """All layers over all tokens; writes their keys and values into `caches`."""
        return self.layers(self.embed(batch.token_ids), None, batch, caches)

    def normed(self, hidden: Hidden, rows: Tensor) -> Tensor:
        """What the last layer says of the given flat rows, normed, (R, hidden)."""
        x, delta = hidden
        return self._backend.add_rms_norm(x[rows], delta[rows], self._norm, self.config.rms_eps)

    def logits(self, hidden: Hidden, rows: Tensor) -> Tensor:
        """(R, vocab) in float32 of the given flat rows."""
        return self._lm_head(self.normed(hidden, rows)).float()
