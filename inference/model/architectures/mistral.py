"""Mistral: Llama whose layers may look back a window only. A GGUF file of it calls itself llama."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.model.architectures.llama import LLAMA
from inference.model.config import ModelConfig
from inference.model.reading import hf


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    return hf.decoder_config("mistral", raw, windows=hf.all_layers(raw))


MISTRAL = replace(LLAMA, name="mistral", hf="MistralForCausalLM", gguf=None, read_hf=_read_hf)
