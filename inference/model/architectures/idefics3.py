"""Idefics3 and SmolVLM: Llama that reads the tiles of an image, and then the whole, each as few
tokens, of patches that lie beside one another.

Sources: Laurençon et al. 2024 (Idefics3); Marafioti et al. 2025 (SmolVLM).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from inference.core import PromptImage
from inference.model.architecture import Loader, Weight
from inference.model.architectures.llama import LLAMA
from inference.model.architectures.towers import (
    NO_GGUF,
    siglip,
    siglip_head,
    siglip_weights,
    under,
)
from inference.model.config import ModelConfig
from inference.model.layers.linear import Linear
from inference.model.reading import hf
from inference.model.vision.pixels import HALF, PixelScale
from inference.model.vision.siglip import Siglip

_TOWER = "model.vision_model."


@dataclass(frozen=True)
class _Vision:
    scale: PixelScale
    tower: Siglip
    joined: int
    """So many by so many patches are one token."""
    project: Linear

    def __call__(self, image: PromptImage) -> Tensor:
        patches = self.tower(self.scale.crops(image, self.tower.positions))
        return self.project(_side_by_side(patches, self.joined)).flatten(0, 1)


def _side_by_side(x: Tensor, by: int) -> Tensor:
    """(crops, patches, hidden) to (crops, tokens, by * by * hidden)."""
    count, patches, hidden = x.shape
    side = int(patches**0.5)
    x = x.view(count, side, side // by, by * hidden).transpose(1, 2)
    x = x.reshape(count, side // by, side // by, by * by * hidden).transpose(1, 2)
    return x.reshape(count, patches // by**2, by * by * hidden)


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    text = hf.text_of(raw, rms_norm_eps=1e-5, rope_theta=10000.0)
    return replace(hf.decoder_config("idefics3", text), raw=raw)


def _vision(load: Loader) -> _Vision:
    raw = load.config.raw
    return _Vision(
        PixelScale.read(raw, HALF),
        siglip(load, raw["vision_config"]),
        raw.get("scale_factor", 2),
        load.linear("visual.project"),
    )


_PROJECT = {"visual.project": Weight("model.connector.modality_projection.proj", NO_GGUF)}
IDEFICS3 = replace(
    LLAMA,
    name="idefics3",
    hf="Idefics3ForConditionalGeneration",
    gguf=None,
    read_hf=_read_hf,
    weights=under(LLAMA.weights, "model.text_model.", "lm_head")
    | siglip_weights(_TOWER)
    | _PROJECT,
    vision=_vision,
    ignored=siglip_head(_TOWER),
)
SMOLVLM = replace(IDEFICS3, name="smolvlm", hf="SmolVLMForConditionalGeneration")
