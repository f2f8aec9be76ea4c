"""Qwen3-MoE: Qwen3 with a mixture of experts in every layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.errors import ModelLoadError
from inference.model.architecture import Loader, Weight
from inference.model.architectures import llama
from inference.model.architectures.qwen3 import HEAD_NORMS, QWEN3, head_norms
from inference.model.config import ModelConfig, MoeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.pre_norm import PreNormLayer
from inference.model.reading import gguf, hf

_EXPERT = "model.layers.*.mlp.experts.*"
EXPERTS = {
    "layers.*.router": Weight("model.layers.*.mlp.gate", "blk.*.ffn_gate_inp"),
    "layers.*.experts.*.gate": Weight(f"{_EXPERT}.gate_proj", "blk.*.ffn_gate_exps[*]"),
    "layers.*.experts.*.up": Weight(f"{_EXPERT}.up_proj", "blk.*.ffn_up_exps[*]"),
    "layers.*.experts.*.down": Weight(f"{_EXPERT}.down_proj", "blk.*.ffn_down_exps[*]"),
}


def layer(load: Loader, index: int) -> PreNormLayer:
    assert load.config.moe is not None
    experts = load.experts(f"layers.{index}", load.config.moe)
    return llama.pre_norm_layer(load, index, experts, head_norms(load, index))


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    if raw.get("mlp_only_layers") or raw.get("decoder_sparse_step", 1) != 1:
        raise ModelLoadError("mixtures of sparse and dense layers are not implemented")
    inner, windows = raw["moe_intermediate_size"], hf.later_layers(raw)
    config = hf.decoder_config("qwen3moe", raw, intermediate_size=inner, windows=windows)
    moe = MoeConfig(
        num_experts=raw.get("num_experts") or raw["num_local_experts"],
        per_token=raw["num_experts_per_tok"],
        normalise=raw.get("norm_topk_prob", False),
    )
    return replace(config, moe=moe)


def _read_gguf(file: GGUFFile) -> ModelConfig:
    return gguf.decoder_config("qwen3moe", file, moe=gguf.moe_config(file))


QWEN3_MOE = replace(
    QWEN3,
    name="qwen3moe",
    hf="Qwen3MoeForCausalLM",
    gguf="qwen3moe",
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=llama.COMMON | HEAD_NORMS | EXPERTS,
    layer=layer,
)
