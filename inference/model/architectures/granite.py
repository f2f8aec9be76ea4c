"""Granite: Llama with factors on embeddings, scores, what a layer adds, and logits.

Source: IBM 2024, Granite 3.0 Language Models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from inference.model.architecture import Loader
from inference.model.architectures import llama
from inference.model.config import ModelConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.attention import ScaledQueries
from inference.model.layers.ends import TokenEnds
from inference.model.layers.normed_branches import BranchNorms, NormedBranchesLayer
from inference.model.reading import gguf, hf


@dataclass(frozen=True)
class GraniteConfig(ModelConfig):
    embedding_scale: float = 1.0
    score_scale: float = 1.0
    residual_scale: float = 1.0
    logit_divisor: float = 1.0


def _config(load: Loader) -> GraniteConfig:
    assert isinstance(load.config, GraniteConfig)
    return load.config


def _layer(load: Loader, index: int) -> NormedBranchesLayer:
    at, config = f"layers.{index}", _config(load)
    scaled = ScaledQueries(config, config.score_scale)
    attn_norm, mlp_norm = load.tensor(f"{at}.attn_norm"), load.tensor(f"{at}.mlp_norm")
    return NormedBranchesLayer(
        load.backend,
        config.rms_eps,
        llama.attention(load, index, transform=scaled),
        BranchNorms(before=attn_norm, scale=config.residual_scale),
        llama.swiglu(load, index),
        BranchNorms(before=mlp_norm, scale=config.residual_scale),
    )


def _ends(load: Loader) -> TokenEnds:
    config = _config(load)
    return replace(
        llama.ends(load),
        embedding_scale=config.embedding_scale,
        logit_scale=1 / config.logit_divisor,
    )


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    return GraniteConfig.of(
        hf.decoder_config("granite", raw),
        embedding_scale=raw["embedding_multiplier"],
        score_scale=raw["attention_multiplier"],
        residual_scale=raw["residual_multiplier"],
        logit_divisor=raw["logits_scaling"],
    )


def _read_gguf(file: GGUFFile) -> ModelConfig:
    data = gguf.Metadata(file)
    return GraniteConfig.of(
        gguf.decoder_config("granite", file),
        embedding_scale=data.need("embedding_scale"),
        score_scale=data.need("attention.scale"),
        residual_scale=data.need("residual_scale"),
        logit_divisor=data.need("logit_scale"),
    )


GRANITE = replace(
    llama.LLAMA,
    name="granite",
    hf="GraniteForCausalLM",
    gguf="granite",
    takes_gguf=lambda metadata: not metadata.get("granite.expert_count"),
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    layer=_layer,
    ends=_ends,
)
