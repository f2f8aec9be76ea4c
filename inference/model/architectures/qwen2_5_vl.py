"""Qwen2.5-VL: Qwen2 whose tokens are placed by time, row and column, and a vision tower of its own.

Source: Bai et al. 2025.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.errors import ModelLoadError
from inference.model.architecture import Loader, Weight
from inference.model.architectures.qwen2 import QWEN2
from inference.model.architectures.towers import NO_GGUF, dense
from inference.model.config import ModelConfig
from inference.model.reading import hf
from inference.model.vision.attention import PatchAttention
from inference.model.vision.pixels import CLIP, PixelScale
from inference.model.vision.qwen import Grid, QwenBlock, QwenMerger, QwenVision

_BLOCK = "visual.blocks.*"
_VISION = {
    "visual.patch": Weight("visual.patch_embed.proj", NO_GGUF),
    "visual.blocks.*.norm1": Weight(f"{_BLOCK}.norm1", NO_GGUF),
    "visual.blocks.*.norm2": Weight(f"{_BLOCK}.norm2", NO_GGUF),
    "visual.blocks.*.qkv": Weight(f"{_BLOCK}.attn.qkv", NO_GGUF),
    "visual.blocks.*.out": Weight(f"{_BLOCK}.attn.proj", NO_GGUF),
    "visual.blocks.*.gate": Weight(f"{_BLOCK}.mlp.gate_proj", NO_GGUF),
    "visual.blocks.*.up": Weight(f"{_BLOCK}.mlp.up_proj", NO_GGUF),
    "visual.blocks.*.down": Weight(f"{_BLOCK}.mlp.down_proj", NO_GGUF),
    "visual.merger.norm": Weight("visual.merger.ln_q", NO_GGUF),
    "visual.merger.inner": Weight("visual.merger.mlp.0", NO_GGUF),
    "visual.merger.outer": Weight("visual.merger.mlp.2", NO_GGUF),
}


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    text = hf.text_of(raw)
    plain = hf.decoder_config("qwen2_5_vl", text, windows=hf.later_layers(text))
    return replace(plain, raw=raw)


def _vision(load: Loader) -> QwenVision:
    raw = load.config.raw["vision_config"]
    if (found := raw.get("hidden_act", "silu")) != "silu":
        raise ModelLoadError(f"hidden_act {found!r} of the vision tower is not implemented")
    size, merge = raw.get("patch_size", 14), raw.get("spatial_merge_size", 2)
    window = raw.get("window_size", 112) // merge // size
    frames = raw.get("temporal_patch_size", 2)
    sees_all = raw.get("fullatt_block_indexes", (7, 15, 23, 31))
    heads = raw.get("num_heads", 16)
    rope = raw.get("rope_parameters") or {}

    def block(index: int) -> QwenBlock:
        at = f"visual.blocks.{index}"
        return QwenBlock(
            load.tensor(f"{at}.norm1"),
            PatchAttention(dense(load, f"{at}.qkv"), dense(load, f"{at}.out"), heads),
            load.tensor(f"{at}.norm2"),
            dense(load, f"{at}.gate"),
            dense(load, f"{at}.up"),
            dense(load, f"{at}.down"),
            index in sees_all,
        )

    return QwenVision(
        PixelScale.read(load.config.raw, CLIP),
        Grid(size, merge, window, frames),
        dense(load, "visual.patch"),
        tuple(block(index) for index in range(raw.get("depth", 32))),
        QwenMerger(
            load.tensor("visual.merger.norm"),
            dense(load, "visual.merger.inner"),
            dense(load, "visual.merger.outer"),
        ),
        rope.get("rope_theta", 10000.0),
    )


QWEN2_5_VL = replace(
    QWEN2,
    name="qwen2_5_vl",
    hf="Qwen2_5_VLForConditionalGeneration",
    gguf=None,
    read_hf=_read_hf,
    weights={**QWEN2.weights, **_VISION},
    vision=_vision,
)
