"""Falcon-H1: attention and Mamba-2 side by side in every layer, with factors everywhere.

A GGUF file has the factors in its matrices. Source: TII 2025, Falcon-H1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.kernels.backend import Backend
from inference.kernels.batch import LayerCache
from inference.model.architecture import Architecture, Loader, Weight
from inference.model.architectures import llama
from inference.model.config import ModelConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.attention import Attention, split_heads
from inference.model.layers.ends import TokenEnds
from inference.model.layers.linear import Linear
from inference.model.layers.mamba2 import (
    Gate,
    Mamba2,
    MambaShape,
    MambaWeights,
    NormedGate,
    silu_gate,
)
from inference.model.layers.mlp import Mlp
from inference.model.layers.step import Step
from inference.model.reading import gguf, hf


@dataclass(frozen=True)
class Factors:
    """Of what enters and leaves the parts of the model."""

    embedding: float = 1.0
    logits: float = 1.0
    attention_in: float = 1.0
    attention_out: float = 1.0
    keys: float = 1.0
    mamba_in: float = 1.0
    mamba_out: float = 1.0
    mamba_parts: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0, 1.0)
    """Of gate, x, b, c and dt."""
    mlp_gate: float = 1.0
    mlp_out: float = 1.0


_NO_MAMBA, _NO_FACTORS = MambaShape(1, 1, 1, 1, 1), Factors()


@dataclass(frozen=True)
class FalconH1Config(ModelConfig):
    mamba: MambaShape = _NO_MAMBA
    factors: Factors = _NO_FACTORS
    norms_before_gate: bool = False
    dt_limits: tuple[float, float] = (0.0, float("inf"))

    @property
    def state_shapes(self) -> tuple[tuple[int, ...], ...]:
        return self.mamba.states


@dataclass(frozen=True)
class ScaledKeys:
    config: ModelConfig
    scale: float

    def __call__(self, qkv: Tensor) -> Tensor:
        _, keys, _ = split_heads(qkv, self.config)
        keys *= self.scale
        return qkv


@dataclass(frozen=True)
class ScaledSwiGLU:
    gate_up: Linear
    down: Linear
    gate_scale: float
    scale: float
    waits_for_device = False

    def __call__(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(F.silu(gate * self.gate_scale) * up) * self.scale


@dataclass(frozen=True)
class HybridLayer:
    """Attention and Mamba-2 of the same normed residual stream, their sum added; then an MLP."""

    backend: Backend
    eps: float
    factors: Factors
    norm: Tensor
    attention: Attention
    mamba: Mamba2
    mlp_norm: Tensor
    mlp: Mlp
    waits_for_device = True

    def __call__(
        self, x: Tensor, delta: Tensor | None, cache: LayerCache, step: Step
    ) -> tuple[Tensor, Tensor]:
        factors = self.factors
        normed = self.backend.add_rms_norm(x, delta, self.norm, self.eps)
        mixed = self.mamba(normed * factors.mamba_in, cache, step.batch)
        attended = self.attention(normed * factors.attention_in, cache, step)
        delta = mixed * factors.mamba_out + attended * factors.attention_out
        return x, self.mlp(self.backend.add_rms_norm(x, delta, self.mlp_norm, self.eps))

    def parts(self) -> None:
        return None


def _config(load: Loader) -> FalconH1Config:
    assert isinstance(load.config, FalconH1Config)
    return load.config


def _layer(load: Loader, index: int) -> HybridLayer:
    at, config = f"layers.{index}", _config(load)
    factors = config.factors
    scaled = ScaledKeys(config, factors.keys) if factors.keys != 1 else None
    return HybridLayer(
        load.backend,
        config.rms_eps,
        factors,
        load.tensor(f"{at}.attn_norm"),
        llama.attention(load, index, transform=scaled),
        _mamba(load, f"{at}.mamba"),
        load.tensor(f"{at}.mlp_norm"),
        _mlp(load, index, factors),
    )


def _mlp(load: Loader, index: int, factors: Factors) -> Mlp:
    if factors.mlp_gate == factors.mlp_out == 1:
        return llama.swiglu(load, index)
    at = f"layers.{index}.mlp"
    gate_up, down = load.linear(f"{at}.gate", f"{at}.up"), load.linear(f"{at}.down")
    return ScaledSwiGLU(gate_up, down, factors.mlp_gate, factors.mlp_out)


def _mamba(load: Loader, at: str) -> Mamba2:
    config = _config(load)
    shape = config.mamba
    conv_bias = f"{at}.conv:bias"
    weights = MambaWeights(
        into=load.linear(f"{at}.in"),
        out=load.linear(f"{at}.out"),
        conv=load.tensor(f"{at}.conv"),
        conv_bias=load.tensor(conv_bias) if load.has(conv_bias) else None,
        dt_bias=load.tensor(f"{at}.dt"),
        a_log=load.tensor(f"{at}.a_log"),
        d=load.tensor(f"{at}.d"),
    )
    gate: Gate = silu_gate
    if load.has(f"{at}.norm"):
        weight = load.tensor(f"{at}.norm")
        gate = NormedGate(weight, config.rms_eps, shape.groups, config.norms_before_gate)
    return Mamba2(shape, weights, gate, _columns(config, weights.d.device), config.dt_limits)


def _columns(config: FalconH1Config, device: torch.device) -> Tensor | None:
    """The factor of each column of what enters a Mamba layer."""
    shape, parts = config.mamba, config.factors.mamba_parts
    if set(parts) == {1.0}:
        return None
    of_groups = shape.groups * shape.state_size
    widths = (shape.inner, shape.inner, of_groups, of_groups, shape.num_heads)
    columns = [torch.full((width,), part) for width, part in zip(widths, parts, strict=True)]
    return torch.cat(columns).to(device)


def _ends(load: Loader) -> TokenEnds:
    factors = _config(load).factors
    return replace(llama.ends(load), embedding_scale=factors.embedding, logit_scale=factors.logits)


def _read_hf(raw: Mapping[str, Any]) -> FalconH1Config:
    inner = raw.get("mamba_d_ssm") or int(raw["mamba_expand"] * raw["hidden_size"])
    heads = raw["mamba_n_heads"]
    gate, out = raw.get("mlp_multipliers") or (1.0, 1.0)
    least, most = raw.get("time_step_limit") or (0.0, float("inf"))
    factors = Factors(
        embedding=raw.get("embedding_multiplier", 1.0),
        logits=raw.get("lm_head_multiplier", 1.0),
        attention_in=raw.get("attention_in_multiplier", 1.0),
        attention_out=raw.get("attention_out_multiplier", 1.0),
        keys=raw.get("key_multiplier", 1.0),
        mamba_in=raw.get("ssm_in_multiplier", 1.0),
        mamba_out=raw.get("ssm_out_multiplier", 1.0),
        mamba_parts=tuple(raw.get("ssm_multipliers") or (1.0,) * 5),
        mlp_gate=gate,
        mlp_out=out,
    )
    return FalconH1Config.of(
        hf.decoder_config("falcon-h1", raw),
        mamba=MambaShape(
            num_heads=heads,
            head_dim=inner // heads,
            groups=raw["mamba_n_groups"],
            state_size=raw["mamba_d_state"],
            kernel=raw["mamba_d_conv"],
        ),
        factors=factors,
        norms_before_gate=raw.get("mamba_norm_before_gate", True),
        dt_limits=(_number(least), _number(most)),
    )


def _number(written: Any) -> float:
    """Infinity has no JSON: transformers writes `{"__float__": "Infinity"}`."""
    return float(written["__float__"] if isinstance(written, Mapping) else written)


def _read_gguf(file: GGUFFile) -> FalconH1Config:
    data = gguf.Metadata(file)
    heads = data.need("ssm.time_step_rank")
    return FalconH1Config.of(
        gguf.decoder_config("falcon-h1", file),
        mamba=MambaShape(
            num_heads=heads,
            head_dim=data.need("ssm.inner_size") // heads,
            groups=data.need("ssm.group_count"),
            state_size=data.need("ssm.state_size"),
            kernel=data.need("ssm.conv_kernel"),
        ),
    )


def _as_matrix(rows: Tensor, config: ModelConfig) -> Tensor:
    """(channels, 1, kernel) to (channels, kernel); a bias as it is."""
    return rows.squeeze(1) if rows.ndim > 1 else rows


def _flat(rows: Tensor, config: ModelConfig) -> Tensor:
    return rows.flatten()


def _logarithms(rows: Tensor, config: ModelConfig) -> Tensor:
    """GGUF has a itself, which is negative."""
    return rows.flatten().neg().log()


_BARE = ("", ".bias")
_MAMBA = "model.layers.*.mamba"
_WEIGHTS = {
    "layers.*.mlp_norm": Weight(
        "model.layers.*.pre_ff_layernorm", "blk.*.ffn_norm", gguf_suffixes=_BARE
    ),
    "layers.*.mlp.gate": Weight("model.layers.*.feed_forward.gate_proj", "blk.*.ffn_gate"),
    "layers.*.mlp.up": Weight("model.layers.*.feed_forward.up_proj", "blk.*.ffn_up"),
    "layers.*.mlp.down": Weight("model.layers.*.feed_forward.down_proj", "blk.*.ffn_down"),
    "layers.*.mamba.in": Weight(f"{_MAMBA}.in_proj", "blk.*.ssm_in"),
    "layers.*.mamba.out": Weight(f"{_MAMBA}.out_proj", "blk.*.ssm_out"),
    "layers.*.mamba.conv": Weight(f"{_MAMBA}.conv1d", "blk.*.ssm_conv1d", hf_rows=_as_matrix),
    "layers.*.mamba.norm": Weight(f"{_MAMBA}.norm", "blk.*.ssm_norm", gguf_rows=_flat),
    "layers.*.mamba.dt": Weight(
        f"{_MAMBA}.dt_bias", "blk.*.ssm_dt", hf_suffixes=_BARE, gguf_suffixes=(".bias", ".none")
    ),
    "layers.*.mamba.a_log": Weight(
        f"{_MAMBA}.A_log",
        "blk.*.ssm_a",
        hf_suffixes=_BARE,
        gguf_suffixes=_BARE,
        gguf_rows=_logarithms,
    ),
    "layers.*.mamba.d": Weight(
        f"{_MAMBA}.D", "blk.*.ssm_d", hf_suffixes=_BARE, gguf_suffixes=_BARE, gguf_rows=_flat
    ),
    "norm": Weight("model.final_layernorm", "output_norm"),
}
FALCON_H1 = Architecture(
    name="falcon-h1",
    hf="FalconH1ForCausalLM",
    gguf="falcon-h1",
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=llama.COMMON | _WEIGHTS,
    layer=_layer,
    ends=_ends,
)
