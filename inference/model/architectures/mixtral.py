"""Mixtral: Mistral with a mixture of experts. A GGUF file of it is a llama with experts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.model.architecture import Architecture, Loader, Weight
from inference.model.architectures import llama
from inference.model.config import ModelConfig, MoeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.pre_norm import PreNormLayer
from inference.model.reading import gguf, hf

_EXPERT = "model.layers.*.block_sparse_moe.experts.*"
_EXPERTS = {
    "layers.*.router": Weight("model.layers.*.block_sparse_moe.gate", "blk.*.ffn_gate_inp"),
    "layers.*.experts.*.gate": Weight(f"{_EXPERT}.w1", "blk.*.ffn_gate_exps[*]"),
    "layers.*.experts.*.up": Weight(f"{_EXPERT}.w3", "blk.*.ffn_up_exps[*]"),
    "layers.*.experts.*.down": Weight(f"{_EXPERT}.w2", "blk.*.ffn_down_exps[*]"),
}


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    config = hf.decoder_config("mixtral", raw, windows=hf.all_layers(raw))
    moe = MoeConfig(raw["num_local_experts"], raw["num_experts_per_tok"], normalise=True)
    return replace(config, moe=moe)


def _read_gguf(file: GGUFFile) -> ModelConfig:
    return gguf.decoder_config("mixtral", file, moe=gguf.moe_config(file))


def layer(load: Loader, index: int) -> PreNormLayer:
    assert load.config.moe is not None
    experts = load.experts(f"layers.{index}", load.config.moe)
    return llama.pre_norm_layer(load, index, experts)


MIXTRAL: Architecture = replace(
    llama.LLAMA,
    name="mixtral",
    hf="MixtralForCausalLM",
    takes_gguf=lambda metadata: bool(metadata.get("llama.expert_count")),
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=llama.COMMON | llama.PAIRED | _EXPERTS,
    layer=layer,
)
