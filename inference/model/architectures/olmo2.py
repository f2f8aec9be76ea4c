"""OLMo 2: norms after attention and MLP in place of those before, and over all queries and keys.

Source: OLMo Team 2025, 2 OLMo 2 Furious.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.errors import ModelLoadError
from inference.model.architecture import Loader, Weight
from inference.model.architectures import llama
from inference.model.config import ModelConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.attention import split_heads
from inference.model.layers.normed_branches import BranchNorms, NormedBranchesLayer
from inference.model.reading import gguf, hf

_NORMS = {
    "layers.*.attn_norm": Weight(
        "model.layers.*.post_attention_layernorm", "blk.*.post_attention_norm"
    ),
    "layers.*.mlp_norm": Weight("model.layers.*.post_feedforward_layernorm", "blk.*.post_ffw_norm"),
    "layers.*.attn.q_norm": Weight("model.layers.*.self_attn.q_norm", "blk.*.attn_q_norm"),
    "layers.*.attn.k_norm": Weight("model.layers.*.self_attn.k_norm", "blk.*.attn_k_norm"),
}


class Olmo2Config(ModelConfig):
    def of_rank(self, size: int) -> Self:
        if size > 1:
            raise ModelLoadError("OLMo 2 norms all heads together: they cannot be split over ranks")
        return self


@dataclass(frozen=True)
class _WholeNorms:
    """RMS norms over all queries of a token together, and over all its keys."""

    config: ModelConfig
    queries: Tensor
    keys: Tensor

    def __call__(self, qkv: Tensor) -> Tensor:
        queries, keys, values = split_heads(qkv, self.config)
        return torch.cat(
            (self._normed(queries, self.queries), self._normed(keys, self.keys), values), dim=1
        )

    def _normed(self, heads: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(heads.flatten(1), weight.shape, weight, self.config.rms_eps).view_as(
            heads
        )


def _layer(load: Loader, index: int) -> NormedBranchesLayer:
    at = f"layers.{index}"
    norms = _WholeNorms(
        load.config, load.tensor(f"{at}.attn.q_norm"), load.tensor(f"{at}.attn.k_norm")
    )
    return NormedBranchesLayer(
        load.backend,
        load.config.rms_eps,
        llama.attention(load, index, transform=norms),
        BranchNorms(after=load.tensor(f"{at}.attn_norm")),
        llama.swiglu(load, index),
        BranchNorms(after=load.tensor(f"{at}.mlp_norm")),
    )


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    return Olmo2Config.of(hf.decoder_config("olmo2", raw))


def _read_gguf(file: GGUFFile) -> ModelConfig:
    return Olmo2Config.of(gguf.decoder_config("olmo2", file))


OLMO2 = replace(
    llama.LLAMA,
    name="olmo2",
    hf="Olmo2ForCausalLM",
    gguf="olmo2",
    takes_gguf=lambda metadata: True,
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=llama.COMMON | llama.SWIGLU | _NORMS,
    layer=_layer,
)
