"""A Llama-family model in a Hugging Face folder: config.json and safetensors, sharded or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from inference.errors import ModelLoadError
from inference.model.config import ModelConfig, MoeConfig, RopeConfig
from inference.quantization.packed import PackedRows

_ARCHITECTURES = {
    "LlamaForCausalLM": "llama",
    "MistralForCausalLM": "mistral",
    "MixtralForCausalLM": "mixtral",
    "Qwen2ForCausalLM": "qwen2",
    "Qwen3ForCausalLM": "qwen3",
    "Qwen3MoeForCausalLM": "qwen3moe",
}
_TOP = {"embed": "model.embed_tokens", "norm": "model.norm", "lm_head": "lm_head"}
_LAYER = {
    "attn_norm": "input_layernorm",
    "attn.q": "self_attn.q_proj",
    "attn.k": "self_attn.k_proj",
    "attn.v": "self_attn.v_proj",
    "attn.o": "self_attn.o_proj",
    "attn.q_norm": "self_attn.q_norm",
    "attn.k_norm": "self_attn.k_norm",
    "mlp_norm": "post_attention_layernorm",
    "mlp.gate": "mlp.gate_proj",
    "mlp.up": "mlp.up_proj",
    "mlp.down": "mlp.down_proj",
}
_QWEN_EXPERTS = ("mlp", {"gate": "gate_proj", "up": "up_proj", "down": "down_proj"})
_MIXTRAL_EXPERTS = ("block_sparse_moe", {"gate": "w1", "up": "w3", "down": "w2"})
"""Where router and experts are, and what an expert's matrices are called."""


class HFReader:
    """A `WeightReader` over a folder; tensors are mapped until they are read."""

    def __init__(self, folder: Path) -> None:
        """Open the folder.

        Raises:
            ModelLoadError: when its configuration or weights are missing or unknown.
        """
        try:
            raw = json.loads((folder / "config.json").read_text())
        except (OSError, ValueError) as error:
            raise ModelLoadError(f"{folder} has no readable config.json: {error}") from error
        self.config = _read_config(raw, _generation_config(folder))
        files = sorted(folder.glob("*.safetensors"))
        if not files:
            raise ModelLoadError(f"{folder} has no .safetensors files")
        self._files = [safe_open(str(file), framework="pt") for file in files]
        self._file_of = {name: file for file in self._files for name in list(file.keys())}

    def has(self, name: str) -> bool:
        return self._hf_name(name) in self._file_of

    def read(self, name: str) -> torch.Tensor:
        theirs = self._hf_name(name)
        file = self._file_of.get(theirs)
        if file is None:
            raise ModelLoadError(f"the folder has no tensor {theirs} (our {name})")
        tensor: torch.Tensor = file.get_tensor(theirs)
        return tensor

    def read_packed(self, name: str) -> PackedRows | None:
        return None

    def _hf_name(self, name: str) -> str:
        name, _, kind = name.partition(":")
        kind = kind or "weight"
        if not name.startswith("layers."):
            return f"{_TOP[name]}.{kind}"
        _, index, part = name.split(".", 2)
        is_mixtral = self.config.architecture == "mixtral"
        mixture, matrices = _MIXTRAL_EXPERTS if is_mixtral else _QWEN_EXPERTS
        if part == "router":
            return f"model.layers.{index}.{mixture}.gate.{kind}"
        if part.startswith("experts."):
            _, expert, which = part.split(".")
            return f"model.layers.{index}.{mixture}.experts.{expert}.{matrices[which]}.{kind}"
        return f"model.layers.{index}.{_LAYER[part]}.{kind}"


def _generation_config(folder: Path) -> dict[str, Any]:
    file = folder / "generation_config.json"
    return dict(json.loads(file.read_text())) if file.exists() else {}


def _read_config(raw: dict[str, Any], generation: dict[str, Any]) -> ModelConfig:
    name = (raw.get("architectures") or ["none"])[0]
    if name not in _ARCHITECTURES:
        raise ModelLoadError(f"architecture {name} is not implemented")
    _check_weights_are_plain(raw)
    architecture = _ARCHITECTURES[name]
    moe = _read_moe(raw, architecture)
    is_qwen_moe = architecture == "qwen3moe"
    heads = raw["num_attention_heads"]
    eos = generation.get("eos_token_id", raw.get("eos_token_id"))
    return ModelConfig(
        architecture=architecture,
        vocab_size=raw["vocab_size"],
        hidden_size=raw["hidden_size"],
        intermediate_size=raw["moe_intermediate_size" if is_qwen_moe else "intermediate_size"],
        num_layers=raw["num_hidden_layers"],
        num_heads=heads,
        num_kv_heads=raw.get("num_key_value_heads") or heads,
        head_dim=raw.get("head_dim") or raw["hidden_size"] // heads,
        rms_eps=raw["rms_norm_eps"],
        max_position=raw["max_position_embeddings"],
        tied_embeddings=raw.get("tie_word_embeddings", False),
        eos_token_ids=frozenset([] if eos is None else [eos] if isinstance(eos, int) else eos),
        rope=_read_rope(raw),
        windows=_read_windows(raw, architecture),
        moe=moe,
    )


def _check_weights_are_plain(raw: dict[str, Any]) -> None:
    """Raises ModelLoadError when the numbers in the files are not the weights, or the activation
    between the MLP's products is another."""
    for key in ("quantization_config", "compression_config"):
        if quantized := raw.get(key):
            method = quantized.get("quant_method") or quantized
            raise ModelLoadError(
                f"weights with {key} {method!r} are not implemented: give the folder that they "
                "were made from, or a GGUF file"
            )
    if (activation := raw.get("hidden_act", "silu")) != "silu":
        raise ModelLoadError(f"hidden_act {activation!r} is not implemented")


def _read_moe(raw: dict[str, Any], architecture: str) -> MoeConfig | None:
    """The mixture of experts, None for a dense model."""
    if architecture == "mixtral":
        return MoeConfig(raw["num_local_experts"], raw["num_experts_per_tok"], normalise=True)
    if architecture != "qwen3moe":
        return None
    if raw.get("mlp_only_layers") or raw.get("decoder_sparse_step", 1) != 1:
        raise ModelLoadError("mixtures of sparse and dense layers are not implemented")
    return MoeConfig(
        num_experts=raw.get("num_experts") or raw["num_local_experts"],
        per_token=raw["num_experts_per_tok"],
        normalise=raw.get("norm_topk_prob", False),
    )


def _read_rope(raw: dict[str, Any]) -> RopeConfig:
    """From `rope_parameters` (transformers 5) or `rope_theta` and `rope_scaling`."""
    given = {**(raw.get("rope_scaling") or {}), **(raw.get("rope_parameters") or {})}
    kind = given.get("rope_type", given.get("type", "default"))
    if kind not in ("default", "linear", "llama3", "yarn"):
        raise ModelLoadError(f"rotary embedding of type {kind!r} is not implemented")
    if kind == "yarn" and ("mscale" in given or "mscale_all_dim" in given):
        raise ModelLoadError("YaRN with mscale is not implemented")
    same = ("low_freq_factor", "high_freq_factor", "beta_fast", "beta_slow", "attention_factor")
    named = {key: given[key] for key in (*same, "truncate", "factor") if given.get(key) is not None}
    return RopeConfig(
        theta=given.get("rope_theta", raw.get("rope_theta", 10000.0)),
        kind=kind,
        original_max_position=given.get(
            "original_max_position_embeddings", raw["max_position_embeddings"]
        ),
        **named,
    )


def _read_windows(raw: dict[str, Any], architecture: str) -> dict[int, int]:
    """Which layers look back so far only. Qwen has a switch for it, Mistral has not."""
    window = raw.get("sliding_window")
    if window is None or (architecture.startswith("qwen") and not raw.get("use_sliding_window")):
        return {}
    layers = range(raw["num_hidden_layers"])
    if types := raw.get("layer_types"):
        return {index: window for index in layers if types[index] == "sliding_attention"}
    if architecture in ("mistral", "mixtral"):
        return dict.fromkeys(layers, window)
    return {index: window for index in layers if index >= raw.get("max_window_layers", 0)}
