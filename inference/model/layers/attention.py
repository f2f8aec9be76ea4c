"""Grouped-query attention over the paged KV cache."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.kernels.backend import Backend
from inference.kernels.batch import LayerCache
from inference.model.config import ModelConfig
from inference.model.layers.linear import Linear
from inference.model.layers.rope import Rotary
from inference.model.layers.step import Step


class Attention:
    """Queries, keys and values from one product, rotated by position; causal.

    Source: Ainslie et al. 2023 (grouped queries); Su et al. 2021 (rotation).
    """

    def __init__(
        self,
        backend: Backend,
        config: ModelConfig,
        rotary: Rotary,
        qkv: Linear,
        out: Linear,
        *,
        window: int | None = None,
        head_norms: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        """
        Args:
            qkv: query, key and value rows below one another.
            window: how many last tokens are attended to; all where None.
            head_norms: weights of RMS norms over each query and key head, before the rotation.
        """
        self._backend = backend
        self._config = config
        self._head_norms = head_norms
        self.rotary = rotary
        self.qkv = qkv
        self.out = out
        self.window = window

    @property
    def is_plain(self) -> bool:
        """Whether nothing happens between the product and the rotation."""
        return self._head_norms is None

    def __call__(self, x: Tensor, cache: LayerCache, step: Step) -> Tensor:
        """(T, hidden) to (T, hidden); writes the tokens' keys and values into `cache`."""
        config, ops = self._config, self._backend
        qkv = self.qkv(x).view(len(x), -1, config.head_dim)
        if self._head_norms is not None:
            qkv = self._normed(qkv, *self._head_norms)
        angles = step.angles(self.rotary)
        queries = ops.rotate_and_cache(qkv, config.num_kv_heads, angles, cache, step.batch)
        attended = ops.attend(queries, cache, step.batch, self.window)
        return self.out(attended.view(len(x), -1))

    def _normed(self, qkv: Tensor, query_norm: Tensor, key_norm: Tensor) -> Tensor:
        config = self._config
        heads = (config.num_heads, config.num_kv_heads, config.num_kv_heads)
        queries, keys, values = qkv.split(heads, dim=1)
        queries = F.rms_norm(queries, (config.head_dim,), query_norm, config.rms_eps)
        keys = F.rms_norm(keys, (config.head_dim,), key_norm, config.rms_eps)
        return torch.cat((queries, keys, values), dim=1)
