"""LLaVA-OneVision: Qwen2 that reads an image as a whole, and its tiles row by row.

Source: Li et al. 2024.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.core import PromptImage
from inference.errors import ModelLoadError
from inference.images.anyres import best_grid, padding, shrunk
from inference.model.architecture import Loader, Weight
from inference.model.architectures.qwen2 import QWEN2
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
from inference.model.vision.pixels import CLIP, PixelScale
from inference.model.vision.siglip import Siglip

_TOWER = "vision_tower."
_PROJECTOR = "multi_modal_projector"


@dataclass(frozen=True)
class _Vision:
    scale: PixelScale
    tower: Siglip
    inner: Linear
    outer: Linear
    new_line: Tensor
    """After each row of tiles' patches."""
    grids: Sequence[Sequence[int]]
    most_crops: int

    def __call__(self, image: PromptImage) -> Tensor:
        crops = self.scale.crops(image, self.tower.positions)
        whole, *tiles = self.outer(F.gelu(self.inner(self.tower(crops))))
        if not tiles:
            return torch.cat((whole, self.new_line[None]))
        side, (_, height, _) = int(len(whole) ** 0.5), image.shape
        rows, columns = (part // height for part in best_grid(image.size, self.grids))
        # (hidden, rows of all tiles' patches, columns)
        laid = torch.stack(tiles).view(rows, columns, side, side, -1)
        laid = laid.permute(4, 0, 2, 1, 3).reshape(whole.shape[-1], rows * side, columns * side)
        above, left = padding(image.size, (rows * side, columns * side))
        laid = laid[:, above : rows * side - above, left : columns * side - left]
        wanted = shrunk((laid.shape[1], laid.shape[2]), side, self.most_crops)
        if wanted != laid.shape[1:]:
            laid = F.interpolate(laid[None], wanted, mode="bilinear")[0]
        lines = self.new_line[:, None, None].expand(-1, laid.shape[1], 1)
        return torch.cat((whole, torch.cat((laid, lines), dim=-1).flatten(1).T))


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    text = hf.text_of(raw, rms_norm_eps=1e-6, max_position_embeddings=32768, rope_theta=10000.0)
    plain = hf.decoder_config("llava_onevision", text, windows=hf.later_layers(text))
    return replace(plain, raw=raw)


def _vision(load: Loader) -> _Vision:
    raw = load.config.raw
    layer, kind = raw.get("vision_feature_layer", -1), raw["vision_config"].get("model_type")
    for name, found, known in (
        ("vision_feature_layer", type(layer), int),
        ("vision_feature_select_strategy", raw.get("vision_feature_select_strategy"), "full"),
        ("projector_hidden_act", raw.get("projector_hidden_act", "gelu"), "gelu"),
        ("a vision tower", kind, "siglip_vision_model"),
    ):
        if found != known:
            raise ModelLoadError(f"{name} {found!r} is not implemented for LLaVA-OneVision")
    ratio = raw.get("vision_aspect_ratio", "anyres_max_9")
    return _Vision(
        PixelScale.read(raw, CLIP),
        siglip(load, raw["vision_config"], layer),
        load.linear("visual.inner"),
        load.linear("visual.outer"),
        load.tensor("visual.new_line"),
        (raw.get("image_processor") or {}).get("image_grid_pinpoints")
        or raw["image_grid_pinpoints"],
        int(ratio.removeprefix("anyres_max_")),
    )


_OWN = {
    "visual.inner": Weight(f"{_PROJECTOR}.linear_1", NO_GGUF),
    "visual.outer": Weight(f"{_PROJECTOR}.linear_2", NO_GGUF),
    "visual.new_line": Weight("image_newline", NO_GGUF, hf_suffixes=("", "_bias")),
}
LLAVA_ONEVISION = replace(
    QWEN2,
    name="llava_onevision",
    hf="LlavaOnevisionForConditionalGeneration",
    gguf=None,
    read_hf=_read_hf,
    weights={
        **under(QWEN2.weights, "language_model.model.", "language_model.lm_head"),
        **siglip_weights(_TOWER),
        **_OWN,
    },
    hf_aliases=(("vision_tower.vision_model.", _TOWER),),
    vision=_vision,
    ignored=siglip_head(_TOWER),
)
