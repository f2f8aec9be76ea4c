"""DeepSeek V2 and V3: attention through a latent vector of each token, and mixtures of experts with
groups and shared experts.

The cache has one head: the latent vector and the part of the key that turns, which all heads share.
Queries are brought to the latent's dimensions before attention, and what was attended to is brought
to the values' afterwards, so that a token takes (latent + turning) numbers instead of those of all
heads.

Sources: DeepSeek-AI 2024, DeepSeek-V2 (multi-head latent attention, absorbed as in its section
2.1.2) and DeepSeek-V3 (routing).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.errors import ModelLoadError
from inference.kernels.backend import Backend
from inference.kernels.batch import LayerCache
from inference.model.architecture import Architecture, Loader, Weight
from inference.model.architectures import llama
from inference.model.architectures.qwen3_moe import EXPERTS
from inference.model.config import ModelConfig, MoeConfig, RopeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.experts import WithShared
from inference.model.layers.linear import Linear
from inference.model.layers.mlp import Mlp, SwiGLU
from inference.model.layers.normed_branches import BranchNorms, NormedBranchesLayer
from inference.model.layers.rope import Rotary
from inference.model.layers.step import Step
from inference.model.reading import gguf, hf

_ATTENTION = "model.layers.*.self_attn"
_MLP = "model.layers.*.mlp"
_ONLY_GGUF = "-"
"""Folders have no such tensor."""
_GATINGS: dict[int, Literal["softmax", "sigmoid"]] = {1: "softmax", 2: "sigmoid"}
"""GGUF's `expert_gating_func`."""
_GGUF_MSCALE = 0.1
"""GGUF's `yarn_log_multiplier` of an `mscale_all_dim` of one."""


@dataclass(frozen=True)
class DeepseekConfig(ModelConfig):
    latent: int = 0
    """Dimensions of the latent vector."""
    turning: int = 0
    """Of each query and of the shared key."""
    still: int = 0
    """Dimensions of each query and key that do not turn."""
    value: int = 0
    """Dimensions of each head's value."""
    score_scale: float = 1.0
    interleaved: bool = True
    """Whether dimensions that turn together lie side by side in the files."""
    first_sparse: int = 0
    """The first layer with a mixture."""


@dataclass(frozen=True)
class LatentAttention:
    """Multi-head latent attention over a cache of one head of `latent + turning` dimensions."""

    backend: Backend
    config: DeepseekConfig
    rotary: Rotary
    queries: Linear | tuple[Linear, Tensor, Linear]
    """One product, or two with an RMS norm between them."""
    latent: Linear
    """The latent vector and the part of the key that turns, below one another."""
    latent_norm: Tensor
    keys_up: Tensor
    """(heads, still, latent): a head's key is this times the latent vector."""
    values_up: Tensor
    """(heads, value, latent)"""
    out: Linear

    waits_for_device = False

    def __call__(self, x: Tensor, cache: LayerCache, step: Step) -> Tensor:
        config, ops = self.config, self.backend
        still, turning = self._queries(x).split((config.still, config.turning), dim=-1)
        absorbed = torch.einsum("thd,hdl->thl", still, self.keys_up)
        queries = self._head(absorbed, turning) * self._to_scale()
        latent, turning = self.latent(x).split((config.latent, config.turning), dim=-1)
        latent = F.rms_norm(latent, self.latent_norm.shape, self.latent_norm, config.rms_eps)
        key = self._head(latent[:, None], turning[:, None])
        value = F.pad(latent[:, None], (0, config.turning))
        qkv = torch.cat((queries, key, value), dim=1)
        angles = step.angles(self.rotary)
        turned = ops.rotate_and_cache(qkv, 1, angles, cache, step.batch)
        attended = ops.attend(turned, cache, step.batch)[..., : config.latent]
        return self.out(torch.einsum("thl,hvl->thv", attended, self.values_up).flatten(1))

    def _queries(self, x: Tensor) -> Tensor:
        """(T, heads, still + turning)"""
        if isinstance(self.queries, tuple):
            down, norm, up = self.queries
            given = up(F.rms_norm(down(x), norm.shape, norm, self.config.rms_eps))
        else:
            given = self.queries(x)
        return given.view(len(x), self.config.num_heads, -1)

    def _head(self, rest: Tensor, turning: Tensor) -> Tensor:
        """What turns at the beginning of both halves, as `RopeConfig.dims` has it."""
        if self.config.interleaved:
            first, second = turning[..., 0::2], turning[..., 1::2]
        else:
            first, second = turning.chunk(2, dim=-1)
        low, high = rest.chunk(2, dim=-1)
        return torch.cat((first, low, second, high), dim=-1)

    def _to_scale(self) -> float:
        """Backends scale scores by the size of the cache's head."""
        return self.config.score_scale * self.config.head_dim**0.5


_SHARED = f"{_MLP}.shared_experts"
_WEIGHTS = (
    {name: weight for name, weight in llama.COMMON.items() if ".attn." not in name}
    | llama.SWIGLU
    | EXPERTS
    | {
        "layers.*.correction": Weight(
            f"{_MLP}.gate.e_score_correction_bias",
            "blk.*.exp_probs_b",
            hf_suffixes=("", ""),
            gguf_suffixes=(".bias", ".bias"),
        ),
        "layers.*.shared.gate": Weight(f"{_SHARED}.gate_proj", "blk.*.ffn_gate_shexp"),
        "layers.*.shared.up": Weight(f"{_SHARED}.up_proj", "blk.*.ffn_up_shexp"),
        "layers.*.shared.down": Weight(f"{_SHARED}.down_proj", "blk.*.ffn_down_shexp"),
        "layers.*.attn.q": Weight(f"{_ATTENTION}.q_proj", "blk.*.attn_q"),
        "layers.*.attn.q_down": Weight(f"{_ATTENTION}.q_a_proj", "blk.*.attn_q_a"),
        "layers.*.attn.q_norm": Weight(f"{_ATTENTION}.q_a_layernorm", "blk.*.attn_q_a_norm"),
        "layers.*.attn.q_up": Weight(f"{_ATTENTION}.q_b_proj", "blk.*.attn_q_b"),
        "layers.*.attn.latent": Weight(f"{_ATTENTION}.kv_a_proj_with_mqa", "blk.*.attn_kv_a_mqa"),
        "layers.*.attn.latent_norm": Weight(f"{_ATTENTION}.kv_a_layernorm", "blk.*.attn_kv_a_norm"),
        "layers.*.attn.up": Weight(f"{_ATTENTION}.kv_b_proj", "blk.*.attn_kv_b"),
        "layers.*.attn.keys_up": Weight(_ONLY_GGUF, "blk.*.attn_k_b"),
        "layers.*.attn.values_up": Weight(_ONLY_GGUF, "blk.*.attn_v_b"),
        "layers.*.attn.o": Weight(f"{_ATTENTION}.o_proj", "blk.*.attn_output"),
    }
)


def _layer(load: Loader, index: int) -> NormedBranchesLayer:
    at, config = f"layers.{index}", _config(load)
    sparse = config.moe is not None and index >= config.first_sparse
    return NormedBranchesLayer(
        load.backend,
        config.rms_eps,
        _attention(load, f"{at}.attn"),
        BranchNorms(before=load.tensor(f"{at}.attn_norm")),
        _mixture(load, at) if sparse else llama.swiglu(load, index),
        BranchNorms(before=load.tensor(f"{at}.mlp_norm")),
    )


def _attention(load: Loader, at: str) -> LatentAttention:
    config = _config(load)
    keys_up, values_up = _ups(load, at)
    return LatentAttention(
        load.backend,
        config,
        load.rotary(config.rope),
        queries=_queries(load, at),
        latent=load.linear(f"{at}.latent"),
        latent_norm=load.tensor(f"{at}.latent_norm"),
        keys_up=keys_up,
        values_up=values_up,
        out=load.linear(f"{at}.o"),
    )


def _ups(load: Loader, at: str) -> tuple[Tensor, Tensor]:
    """What brings the latent vector to every head's key, and to its value. Newer GGUF files have
    them apart, the former turned."""
    config = _config(load)
    if load.has(f"{at}.keys_up"):
        turned = load.tensor(f"{at}.keys_up")
        return turned.transpose(1, 2).contiguous(), load.tensor(f"{at}.values_up")
    up = load.tensor(f"{at}.up").view(config.num_heads, config.still + config.value, config.latent)
    return up[:, : config.still].contiguous(), up[:, config.still :].contiguous()


def _queries(load: Loader, at: str) -> Linear | tuple[Linear, Tensor, Linear]:
    if not load.has(f"{at}.q_down"):
        return load.linear(f"{at}.q")
    return load.linear(f"{at}.q_down"), load.tensor(f"{at}.q_norm"), load.linear(f"{at}.q_up")


def _mixture(load: Loader, at: str) -> Mlp:
    moe = _config(load).moe
    assert moe is not None
    correction = load.tensor(f"{at}.correction") if load.has(f"{at}.correction") else None
    experts = load.experts(at, moe, correction)
    gate_up = load.linear(f"{at}.shared.gate", f"{at}.shared.up")
    return WithShared(experts, SwiGLU(load.backend, gate_up, load.linear(f"{at}.shared.down")))


def _config(load: Loader) -> DeepseekConfig:
    assert isinstance(load.config, DeepseekConfig)
    return load.config


def _read_v2(raw: Mapping[str, Any]) -> ModelConfig:
    by_group = raw.get("topk_method", "greedy") == "group_limited_greedy"
    groups = (raw["n_group"], raw["topk_group"], 1) if by_group else (1, 1, 1)
    return _read(raw, "deepseek2", "softmax", groups)


def _read_v3(raw: Mapping[str, Any]) -> ModelConfig:
    return _read(raw, "deepseek3", "sigmoid", (raw["n_group"], raw["topk_group"], 2))


def _read(
    raw: Mapping[str, Any],
    name: str,
    scores: Literal["softmax", "sigmoid"],
    groups: tuple[int, int, int],
) -> DeepseekConfig:
    """
    Args:
        groups: how many there are, how many are kept, by how many of their experts.
    """
    if raw.get("moe_layer_freq", 1) != 1:
        raise ModelLoadError(f"moe_layer_freq {raw['moe_layer_freq']} is not implemented")
    turning, latent = raw["qk_rope_head_dim"], raw["kv_lora_rank"]
    still = raw["qk_nope_head_dim"]
    rope, sharpness = _rope(raw)
    plain = hf.decoder_config(name, raw, rope=replace(rope, dims=turning))
    moe = MoeConfig(
        raw["n_routed_experts"],
        raw["num_experts_per_tok"],
        normalise=scores == "sigmoid" and raw.get("norm_topk_prob", False),
        scores=scores,
        scale=raw.get("routed_scaling_factor", 1.0),
        groups=groups[0],
        kept_groups=groups[1],
        group_by=groups[2],
    )
    return DeepseekConfig.of(
        replace(plain, num_kv_heads=1, head_dim=latent + turning, moe=moe),
        latent=latent,
        turning=turning,
        still=still,
        value=raw["v_head_dim"],
        score_scale=(still + turning) ** -0.5 * sharpness,
        interleaved=raw.get("rope_interleave", True),
        first_sparse=raw.get("first_k_dense_replace") or 0,
    )


def _rope(raw: Mapping[str, Any]) -> tuple[RopeConfig, float]:
    """The rotation, and what YaRN multiplies scores with."""
    given = {**(raw.get("rope_scaling") or {}), **(raw.get("rope_parameters") or {})}
    of_angles, of_scores = given.pop("mscale", 0), given.pop("mscale_all_dim", 0)
    if given.get("rope_type", given.get("type", "default")) == "default":
        of_angles = of_scores = 0
    if of_angles and of_scores:
        ratio = _mscale(given["factor"], of_angles) / _mscale(given["factor"], of_scores)
        given["attention_factor"] = ratio
    rope = hf.rope_config({**raw, "rope_parameters": given, "rope_scaling": None})
    return rope, _mscale(given["factor"], of_scores) ** 2 if of_scores else 1.0


def _mscale(factor: float, weight: float) -> float:
    return 0.1 * weight * log(factor) + 1.0 if factor > 1 else 1.0


def _read_gguf_v2(file: GGUFFile) -> ModelConfig:
    return _read_gguf("deepseek2", file)


def _read_gguf_v3(file: GGUFFile) -> ModelConfig:
    return _read_gguf("deepseek3", file)


def _read_gguf(name: str, file: GGUFFile) -> DeepseekConfig:
    """Files name V2 and V3 alike, and say each difference but one: a V2 takes a group of experts
    for its best one, a V3 for its two best, as their folders do."""
    data = gguf.Metadata(file)
    if data.get("attention.temperature_scale"):
        raise ModelLoadError("deepseek2 with attention.temperature_scale is not implemented")
    turning, latent = data.need("rope.dimension_count"), data.need("attention.kv_lora_rank")
    # Files with keys and values apart describe the cache here, and the heads in entries of their
    # own.
    key = data.get("attention.key_length_mla") or data.need("attention.key_length")
    value = data.get("attention.value_length_mla") or data.need("attention.value_length")
    plain = gguf.decoder_config(name, file)
    rope, sharpness = _gguf_rope(data, plain.rope)
    return DeepseekConfig.of(
        replace(
            plain,
            num_kv_heads=1,
            head_dim=latent + turning,
            rope=replace(rope, dims=turning),
            moe=_gguf_moe(data) if data.get("expert_count") else None,
        ),
        latent=latent,
        turning=turning,
        still=key - turning,
        value=value,
        score_scale=key**-0.5 * sharpness,
        first_sparse=data.get("leading_dense_block_count", 0),
    )


def _gguf_moe(data: gguf.Metadata) -> MoeConfig:
    scores = _GATINGS.get(gating := _gating(data.file.metadata))
    if scores is None:
        raise ModelLoadError(f"a mixture of experts with gating {gating} is not implemented")
    return MoeConfig(
        data.need("expert_count"),
        data.need("expert_used_count"),
        normalise=bool(data.get("expert_weights_norm", False)),
        scores=scores,
        scale=data.get("expert_weights_scale", 1.0),
        groups=data.get("expert_group_count", 1),
        kept_groups=data.get("expert_group_used_count", 1),
        group_by=2 if scores == "sigmoid" else 1,
    )


def _gguf_rope(data: gguf.Metadata, rope: RopeConfig) -> tuple[RopeConfig, float]:
    """As `_rope`: a file has one `mscale` for angles and scores, which angles are then without."""
    weight = data.get("rope.scaling.yarn_log_multiplier", 0.0) / _GGUF_MSCALE
    if rope.kind != "yarn" or not weight:
        return rope, 1.0
    return replace(rope, attention_factor=1.0), _mscale(rope.factor, weight) ** 2


def _gating(metadata: Mapping[str, Any]) -> int:
    """Files of V2 from before there was a V3 do not say it."""
    return metadata.get("deepseek2.expert_gating_func") or 1


DEEPSEEK_V2 = Architecture(
    name="deepseek2",
    hf="DeepseekV2ForCausalLM",
    gguf="deepseek2",
    takes_gguf=lambda metadata: _GATINGS.get(_gating(metadata)) != "sigmoid",
    read_hf=_read_v2,
    read_gguf=_read_gguf_v2,
    weights=_WEIGHTS,
    layer=_layer,
    ends=llama.ends,
    ignored=llama.LLAMA.ignored,
)
DEEPSEEK_V3 = replace(
    DEEPSEEK_V2,
    name="deepseek3",
    hf="DeepseekV3ForCausalLM",
    takes_gguf=lambda metadata: _GATINGS.get(_gating(metadata)) == "sigmoid",
    read_hf=_read_v3,
    read_gguf=_read_gguf_v3,
    # The layer after the last one predicts a second token: it is not used.
    ignored=(
        *DEEPSEEK_V2.ignored,
        "model.layers.*.(eh_proj|enorm|hnorm|embed_tokens|shared_head.(head|norm)).weight",
    ),
)
