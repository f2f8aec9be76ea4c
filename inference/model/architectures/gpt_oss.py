"""gpt-oss: a mixture of experts with clamped gates, attention with a sink in each head, every other
layer with a window. Its experts come in MXFP4.

Source: OpenAI 2025, the gpt-oss model card.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from torch import Tensor

from inference.errors import ModelLoadError
from inference.model.architecture import Architecture, Loader, Weight
from inference.model.architectures import llama
from inference.model.config import ModelConfig, MoeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.experts import SparseExperts
from inference.model.layers.linear import DenseLinear, Linear
from inference.model.layers.pre_norm import PreNormLayer
from inference.model.layers.scores import Scores
from inference.model.reading import gguf, hf

_EXPERTS = "model.layers.*.mlp.experts"


@dataclass(frozen=True)
class GptOssConfig(ModelConfig):
    gate_slope: float = 1.702
    gate_limit: float = 7.0

    def of_rank(self, size: int) -> Self:
        if size > 1:
            raise ModelLoadError("gpt-oss is not split over ranks yet")
        return self


@dataclass(frozen=True)
class _Expert:
    """down((up + 1) * gate * sigmoid(slope * gate)), gate and up within a limit."""

    config: GptOssConfig
    gate: Linear
    up: Linear
    down: Linear

    waits_for_device = False

    def __call__(self, x: Tensor) -> Tensor:
        limit = self.config.gate_limit
        gate, up = self.gate(x).clamp(max=limit), self.up(x).clamp(-limit, limit)
        return self.down((up + 1) * gate * torch.sigmoid(self.config.gate_slope * gate))


def _gates(rows: Tensor, config: ModelConfig) -> Tensor:
    return rows[0::2].contiguous()


def _ups(rows: Tensor, config: ModelConfig) -> Tensor:
    return rows[1::2].contiguous()


def _of_experts(hf_name: str, gguf_name: str, **given: Any) -> Weight:
    """A part of a tensor of all experts, which folders have as (experts, in, out)."""
    return Weight(
        f"{_EXPERTS}.{hf_name}[*]", gguf_name, hf_suffixes=("", "_bias"), hf_turned=True, **given
    )


_WEIGHTS = {
    "layers.*.mlp_norm": Weight(
        "model.layers.*.post_attention_layernorm", "blk.*.post_attention_norm"
    ),
    "layers.*.attn.sinks": Weight(
        "model.layers.*.self_attn.sinks", "blk.*.attn_sinks", hf_suffixes=("", "_bias")
    ),
    "layers.*.router": Weight("model.layers.*.mlp.router", "blk.*.ffn_gate_inp"),
    "layers.*.experts.*.gate": _of_experts(
        "gate_up_proj", "blk.*.ffn_gate_exps[*]", hf_rows=_gates
    ),
    "layers.*.experts.*.up": _of_experts("gate_up_proj", "blk.*.ffn_up_exps[*]", hf_rows=_ups),
    "layers.*.experts.*.down": _of_experts("down_proj", "blk.*.ffn_down_exps[*]"),
}


def _layer(load: Loader, index: int) -> PreNormLayer:
    at, config = f"layers.{index}", load.config
    return PreNormLayer(
        load.backend,
        config.rms_eps,
        load.tensor(f"{at}.attn_norm"),
        llama.attention(load, index, scores=Scores(sinks=load.tensor(f"{at}.attn.sinks"))),
        load.tensor(f"{at}.mlp_norm"),
        _mixture(load, at),
    )


def _mixture(load: Loader, at: str) -> SparseExperts:
    config = load.config
    assert isinstance(config, GptOssConfig) and config.moe is not None
    router = DenseLinear(load.tensor(f"{at}.router"), load.tensor(f"{at}.router:bias"))
    experts = {
        number: _Expert(
            config,
            *(load.linear(f"{at}.experts.{number}.{which}") for which in ("gate", "up", "down")),
        )
        for number in range(config.moe.num_experts)
    }
    return SparseExperts(config.moe, router, experts)


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    layers = range(raw["num_hidden_layers"])
    windows = (
        hf.all_layers(raw)
        if raw.get("layer_types")
        else {index: raw["sliding_window"] for index in layers if index % 2 == 0}
    )
    return GptOssConfig.of(
        replace(
            hf.decoder_config("gpt-oss", raw, windows=windows),
            moe=_moe(raw["num_local_experts"], raw["num_experts_per_tok"]),
        ),
        gate_slope=raw.get("swiglu_alpha", GptOssConfig.gate_slope),
        gate_limit=raw.get("swiglu_limit", GptOssConfig.gate_limit),
    )


def _read_gguf(file: GGUFFile) -> ModelConfig:
    data = gguf.Metadata(file)
    moe = _moe(data.need("expert_count"), data.need("expert_used_count"))
    plain = gguf.decoder_config("gpt-oss", file, moe=moe)
    window = data.need("attention.sliding_window")
    return GptOssConfig.of(
        replace(
            plain,
            windows=dict.fromkeys(range(0, plain.num_layers, 2), window),
            rope=replace(plain.rope, truncate=False),
        )
    )


def _moe(num_experts: int, per_token: int) -> MoeConfig:
    """A softmax over the chosen experts is one over all whose chosen weights are made to sum to
    one."""
    return MoeConfig(num_experts, per_token, normalise=True)


GPT_OSS = Architecture(
    name="gpt-oss",
    hf="GptOssForCausalLM",
    gguf="gpt-oss",
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=llama.COMMON | _WEIGHTS,
    layer=_layer,
    ends=llama.ends,
    takes_mxfp4=True,
)
