"""Phi-3 and Phi-4: Llama with joined matrices, and of some a part of each head that does not turn.

Sources: Abdin et al. 2024 (Phi-3, Phi-4); Ding et al. 2024 (LongRoPE).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from inference.errors import ModelLoadError
from inference.model.architecture import Rows, Split, Weight
from inference.model.architectures import llama
from inference.model.config import ModelConfig, RopeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.reading import gguf, hf


def turning_first(rows: Tensor, config: ModelConfig) -> Tensor:
    """Rows of each head so that those that turn are at the beginning of both its halves.

    In the files the first dimensions of a head turn, in two halves of their own. Queries and keys
    in another order of dimensions have the same product.
    """
    dims, dim = config.rope.dims, config.head_dim
    if dims is None:
        return rows
    heads = rows.reshape(-1, dim, *rows.shape[1:])
    first, second, rest = heads.split((dims // 2, dims // 2, dim - dims), dim=1)
    low, high = rest.chunk(2, dim=1)
    return torch.cat((first, low, second, high), dim=1).reshape(rows.shape)


def _queries(rows: Tensor, config: ModelConfig) -> Tensor:
    return turning_first(rows[: config.num_heads * config.head_dim], config)


def _keys(rows: Tensor, config: ModelConfig) -> Tensor:
    begin, count = config.num_heads * config.head_dim, config.num_kv_heads * config.head_dim
    return turning_first(rows[begin : begin + count], config)


def _values(rows: Tensor, config: ModelConfig) -> Tensor:
    return rows[-config.num_kv_heads * config.head_dim :]


def _gate(rows: Tensor, config: ModelConfig) -> Tensor:
    return rows[: config.intermediate_size]


def _up(rows: Tensor, config: ModelConfig) -> Tensor:
    return rows[config.intermediate_size :]


def _part_of(hf_name: str, gguf_name: str, rows: Rows) -> Weight:
    return Weight(hf_name, gguf_name, Split.ROWS, hf_rows=rows, gguf_rows=rows)


_QKV = ("model.layers.*.self_attn.qkv_proj", "blk.*.attn_qkv")
_GATE_UP = ("model.layers.*.mlp.gate_up_proj", "blk.*.ffn_up")
_JOINED = {
    "layers.*.attn.q": _part_of(*_QKV, _queries),
    "layers.*.attn.k": _part_of(*_QKV, _keys),
    "layers.*.attn.v": _part_of(*_QKV, _values),
    "layers.*.mlp.gate": _part_of(*_GATE_UP, _gate),
    "layers.*.mlp.up": _part_of(*_GATE_UP, _up),
}


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    given = {**(raw.get("rope_scaling") or {}), **(raw.get("rope_parameters") or {})}
    if given.get("type") == "su":
        given["type"] = "longrope"
    part = given.pop("partial_rotary_factor", raw.get("partial_rotary_factor", 1.0))
    whole = {**raw, "rope_parameters": given, "rope_scaling": None, "partial_rotary_factor": 1.0}
    config = hf.decoder_config("phi3", whole, windows=hf.all_layers(raw))
    return _turning(config, int(config.head_dim * part))


def _read_gguf(file: GGUFFile) -> ModelConfig:
    data, config = gguf.Metadata(file), gguf.decoder_config("phi3", file)
    if window := data.get("attention.sliding_window"):
        config = replace(config, windows=dict.fromkeys(range(config.num_layers), window))
    original = data.get("rope.scaling.original_context_length", config.max_position)
    which = "long" if config.max_position > original else "short"
    if factors := file.tensors.get(f"rope_factors_{which}.weight"):
        rope = RopeConfig(
            theta=config.rope.theta,
            kind="longrope",
            factor=config.max_position / original,
            original_max_position=original,
            attention_factor=data.get("rope.scaling.attn_factor"),
            slowed_by=tuple(factors.data.view(np.float32).flatten().tolist()),
        )
        config = replace(config, rope=rope)
    return _turning(config, data.get("rope.dimension_count", config.head_dim))


def _turning(config: ModelConfig, dims: int) -> ModelConfig:
    """The configuration of which the first `dims` dimensions of each head turn.

    Raises:
        ModelLoadError: when the rest has no two halves.
    """
    if dims == config.head_dim:
        return config
    if dims % 2 or config.head_dim % 2:
        raise ModelLoadError(f"{dims} of {config.head_dim} dimensions cannot turn in pairs")
    return replace(config, rope=replace(config.rope, dims=dims))


PHI3 = replace(
    llama.LLAMA,
    name="phi3",
    hf="Phi3ForCausalLM",
    gguf="phi3",
    takes_gguf=lambda metadata: True,
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=llama.COMMON | llama.SWIGLU | _JOINED,
    ignored=("rope_factors_(long|short).weight",),
)
