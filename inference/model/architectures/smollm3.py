"""SmolLM3: Llama with layers that do not rotate, every fourth as published. A GGUF file does not
say which: they are every fourth.

Source: Yang et al. 2025 (RoPE to NoPE and back again).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from inference.model.architecture import Loader
from inference.model.architectures import llama
from inference.model.config import ModelConfig, RopeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.pre_norm import PreNormLayer
from inference.model.reading import gguf, hf

_INTERVAL = 4


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
    plain = hf.decoder_config("smollm3", raw, windows=hf.later_layers(raw))
    if rotated := raw.get("no_rope_layers"):
        unrotated = frozenset(index for index, turns in enumerate(rotated) if not turns)
        return SmolLM3Config.of(plain, unrotated=unrotated)
    return _with_every(plain, raw.get("no_rope_layer_interval") or _INTERVAL)


def _read_gguf(file: GGUFFile) -> ModelConfig:
    return _with_every(gguf.decoder_config("smollm3", file), _INTERVAL)


def _with_every(plain: ModelConfig, interval: int) -> ModelConfig:
    unrotated = frozenset(range(interval - 1, plain.num_layers, interval))
    return SmolLM3Config.of(plain, unrotated=unrotated)


SMOLLM3 = replace(
    llama.LLAMA,
    name="smollm3",
    hf="SmolLM3ForCausalLM",
    gguf="smollm3",
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    layer=_layer,
)
