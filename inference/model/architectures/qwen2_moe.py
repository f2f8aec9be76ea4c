"""Qwen1.5-MoE and Qwen2-MoE: Qwen2 with a mixture of experts, one of which every token goes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.errors import ModelLoadError
from inference.model.architecture import Loader, Split, Weight
from inference.model.architectures import llama
from inference.model.architectures.qwen2 import QWEN2
from inference.model.architectures.qwen3_moe import EXPERTS
from inference.model.config import ModelConfig, MoeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.experts import WithShared
from inference.model.layers.linear import DenseLinear
from inference.model.layers.mlp import SwiGLU
from inference.model.layers.pre_norm import PreNormLayer
from inference.model.reading import gguf, hf

_SHARED = "model.layers.*.mlp.shared_expert"
_WEIGHTS = {
    "layers.*.shared.weigh": Weight(f"{_SHARED}_gate", "blk.*.ffn_gate_inp_shexp"),
    "layers.*.shared.gate": Weight(f"{_SHARED}.gate_proj", "blk.*.ffn_gate_shexp", Split.ROWS),
    "layers.*.shared.up": Weight(f"{_SHARED}.up_proj", "blk.*.ffn_up_shexp", Split.ROWS),
    "layers.*.shared.down": Weight(f"{_SHARED}.down_proj", "blk.*.ffn_down_shexp", Split.COLUMNS),
}


def _layer(load: Loader, index: int) -> PreNormLayer:
    at = f"layers.{index}"
    assert load.config.moe is not None
    gate_up = load.linear(f"{at}.shared.gate", f"{at}.shared.up")
    shared = SwiGLU(load.backend, gate_up, load.linear(f"{at}.shared.down"))
    weigh = DenseLinear(load.tensor(f"{at}.shared.weigh").reshape(1, -1))
    experts = WithShared(load.experts(at, load.config.moe), shared, weigh)
    return llama.pre_norm_layer(load, index, experts)


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    if raw.get("mlp_only_layers") or raw.get("decoder_sparse_step", 1) != 1:
        raise ModelLoadError("mixtures of sparse and dense layers are not implemented")
    inner, windows = raw["moe_intermediate_size"], hf.later_layers(raw)
    config = hf.decoder_config("qwen2moe", raw, intermediate_size=inner, windows=windows)
    normalise = raw.get("norm_topk_prob", False)
    moe = MoeConfig(raw["num_experts"], raw["num_experts_per_tok"], normalise=normalise)
    return replace(config, moe=moe)


def _read_gguf(file: GGUFFile) -> ModelConfig:
    data = gguf.Metadata(file)
    moe = MoeConfig(data.need("expert_count"), data.need("expert_used_count"), normalise=False)
    return gguf.decoder_config("qwen2moe", file, moe=moe)


QWEN2_MOE = replace(
    QWEN2,
    name="qwen2moe",
    hf="Qwen2MoeForCausalLM",
    gguf="qwen2moe",
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=llama.COMMON | EXPERTS | _WEIGHTS,
    layer=_layer,
)
