"""Qwen2: Llama with biases of queries, keys and values, and a switch for windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.model.architectures import llama
from inference.model.config import ModelConfig
from inference.model.gguf_format import GGUFFile
from inference.model.reading import gguf, hf


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    return hf.decoder_config("qwen2", raw, windows=hf.later_layers(raw))


def _read_gguf(file: GGUFFile) -> ModelConfig:
    return gguf.decoder_config("qwen2", file)


QWEN2 = replace(
    llama.LLAMA,
    name="qwen2",
    hf="Qwen2ForCausalLM",
    gguf="qwen2",
    takes_gguf=lambda metadata: True,
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=llama.COMMON | llama.SWIGLU,
)
