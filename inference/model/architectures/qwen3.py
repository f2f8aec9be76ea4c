"""Qwen3: Qwen2 without biases, with RMS norms over each head of queries and keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.model.architecture import Loader, Weight
from inference.model.architectures import llama
from inference.model.architectures.qwen2 import QWEN2
from inference.model.config import ModelConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.attention import HeadNorms
from inference.model.layers.pre_norm import PreNormLayer
from inference.model.reading import gguf, hf

HEAD_NORMS = {
    "layers.*.attn.q_norm": Weight("model.layers.*.self_attn.q_norm", "blk.*.attn_q_norm"),
    "layers.*.attn.k_norm": Weight("model.layers.*.self_attn.k_norm", "blk.*.attn_k_norm"),
}


def head_norms(load: Loader, index: int) -> HeadNorms:
    at = f"layers.{index}.attn"
    return HeadNorms(load.config, load.tensor(f"{at}.q_norm"), load.tensor(f"{at}.k_norm"))


def layer(load: Loader, index: int) -> PreNormLayer:
    mlp = llama.swiglu(load, index)
    return llama.pre_norm_layer(load, index, mlp, head_norms(load, index))


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    return hf.decoder_config("qwen3", raw, windows=hf.later_layers(raw))


def _read_gguf(file: GGUFFile) -> ModelConfig:
    return gguf.decoder_config("qwen3", file)


QWEN3 = replace(
    QWEN2,
    name="qwen3",
    hf="Qwen3ForCausalLM",
    gguf="qwen3",
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=llama.COMMON | llama.SWIGLU | HEAD_NORMS,
    layer=layer,
)
