"""SmolLM3: Llama with layers that do not rotate, every fourth as published.

Source: Yang et al. 2025 (RoPE to NoPE and back again).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from inference.errors import ModelLoadError
from inference.model.architecture import Loader
from inference.model.architectures import llama
from inference.model.config import ModelConfig, RopeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.pre_norm import PreNormLayer
from inference.model.reading import hf


@dataclass(frozen=True)
class SmolLM3Config(ModelConfig):
    unrotated: frozenset[int] = frozenset()
    """Layers without positions."""


def _layer(load: Loader, index: int) -> PreNormLayer:
    config = load.config
    assert isinstance(config, SmolLM3Config)
    rope = RopeConfig(kind="none") if index in config.unrotated else config.rope
    return llama.pre_norm_layer(load, index, llama.swiglu(load, index), rope=rope)


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    layers, interval = raw["num_hidden_layers"], raw.get("no_rope_layer_interval") or 4
    rotated = raw.get("no_rope_layers") or [(i + 1) % interval for i in range(layers)]
    unrotated = frozenset(index for index, turns in enumerate(rotated) if not turns)
    plain = hf.decoder_config("smollm3", raw, windows=hf.later_layers(raw))
    return SmolLM3Config.of(plain, unrotated=unrotated)


def _read_gguf(file: GGUFFile) -> ModelConfig:
    raise ModelLoadError("SmolLM3 is not read from GGUF files: give its Hugging Face folder")


SMOLLM3 = replace(
    llama.LLAMA,
    name="smollm3",
    hf="SmolLM3ForCausalLM",
    gguf=None,
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    layer=_layer,
)
