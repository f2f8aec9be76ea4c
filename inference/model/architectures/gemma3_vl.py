"""Gemma 3 that sees: SigLIP's patches averaged to few tokens, which attend to one another.

Source: Gemma Team 2025.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from inference.core import PromptImage
from inference.model.architecture import Loader, Weight
from inference.model.architectures.gemma2 import one_more
from inference.model.architectures.gemma3 import GEMMA3
from inference.model.architectures.towers import (
    NO_GGUF,
    siglip,
    siglip_head,
    siglip_weights,
    under,
)
from inference.model.config import ModelConfig
from inference.model.reading import hf
from inference.model.vision.pixels import HALF, PixelScale
from inference.model.vision.siglip import Siglip

_TOWER = "vision_tower."
_PROJECTOR = "multi_modal_projector"
_DEFAULTS: dict[str, Any] = {
    "vocab_size": 262_208,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "max_position_embeddings": 131_072,
    "rms_norm_eps": 1e-6,
    "query_pre_attn_scalar": 256,
    "hidden_activation": "gelu_pytorch_tanh",
}
"""What the published folders leave to transformers."""


@dataclass(frozen=True)
class _Vision:
    scale: PixelScale
    tower: Siglip
    tokens_per_side: int
    norm: Tensor
    eps: float
    project: Tensor
    """(in, out)"""

    def __call__(self, image: PromptImage) -> Tensor:
        [patches] = self.tower(self.scale.crops(image, self.tower.positions))
        side = int(len(patches) ** 0.5)
        laid = patches.T.reshape(1, -1, side, side)
        pooled = F.avg_pool2d(laid, side // self.tokens_per_side)[0].flatten(1).T
        normed = F.rms_norm(pooled, pooled.shape[1:], self.norm, self.eps)
        return normed @ self.project


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    text = hf.text_of(raw, **_DEFAULTS)
    return replace(GEMMA3.read_hf(text), architecture="gemma3_vl", raw=raw)


def _vision(load: Loader) -> _Vision:
    raw = load.config.raw
    return _Vision(
        PixelScale.read(raw, HALF),
        siglip(load, raw["vision_config"]),
        int(raw.get("mm_tokens_per_image", 256) ** 0.5),
        load.tensor("visual.pooled_norm"),
        raw["vision_config"].get("layer_norm_eps", 1e-6),
        load.tensor("visual.project"),
    )


_OWN = {
    "visual.pooled_norm": Weight(f"{_PROJECTOR}.mm_soft_emb_norm", NO_GGUF, hf_rows=one_more),
    "visual.project": Weight(
        f"{_PROJECTOR}.mm_input_projection_weight", NO_GGUF, hf_suffixes=("", "_bias")
    ),
}
GEMMA3_VL = replace(
    GEMMA3,
    name="gemma3_vl",
    hf="Gemma3ForConditionalGeneration",
    gguf=None,
    read_hf=_read_hf,
    weights={
        **under(GEMMA3.weights, "language_model.model.", "language_model.lm_head"),
        **siglip_weights(_TOWER),
        **_OWN,
    },
    hf_aliases=(("vision_tower.vision_model.", _TOWER),),
    vision=_vision,
    whole_images=True,
    ignored=siglip_head(_TOWER),
)
