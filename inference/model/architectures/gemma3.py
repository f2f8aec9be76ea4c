"""Gemma 3's text: Gemma 2 with norms over each head in place of caps, and five layers with a window
for each without, which turn by another base.

Source: Gemma Team 2025.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from inference.model.architecture import Loader
from inference.model.architectures.gemma2 import (
    GEMMA2,
    WEIGHTS,
    GemmaConfig,
    gemma_config,
    gemma_layer,
    norm,
)
from inference.model.config import ModelConfig, RopeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.attention import HeadNorms
from inference.model.layers.normed_branches import NormedBranchesLayer
from inference.model.reading import gguf, hf

_ATTENTION = "model.layers.*.self_attn"
_WHOLE_EVERY = 6
_WINDOW_THETA = 10000.0
_THETA = 1_000_000.0
_LAYERS_OF_27B = 62


def _layer(load: Loader, index: int) -> NormedBranchesLayer:
    at, config = f"layers.{index}.attn", gemma_config(load)
    # Kernels scale scores by the head's size; the norm's weight brings them to the model's scale.
    to_scale = config.score_scale * config.head_dim**0.5
    queries, keys = load.tensor(f"{at}.q_norm") * to_scale, load.tensor(f"{at}.k_norm")
    return gemma_layer(load, index, HeadNorms(config, queries, keys))


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    tied = {"tie_word_embeddings": True, **raw}
    every = raw.get("sliding_window_pattern") or raw.get("_sliding_window_pattern") or _WHOLE_EVERY
    windows = (
        hf.all_layers(raw)
        if raw.get("layer_types")
        else _but_each(every, raw["num_hidden_layers"], raw["sliding_window"])
    )
    whole, window = _ropes(raw)
    return GemmaConfig.of(
        hf.decoder_config(
            "gemma3", tied, activation="gelu_pytorch_tanh", windows=windows, rope=whole
        ),
        score_scale=raw["query_pre_attn_scalar"] ** -0.5,
        score_cap=raw.get("attn_logit_softcapping"),
        logit_cap=raw.get("final_logit_softcapping"),
        window_rope=window,
    )


def _ropes(raw: Mapping[str, Any]) -> tuple[RopeConfig, RopeConfig]:
    """Of layers without a window and with one; by kind of layer since transformers 5."""
    by_kind = raw.get("rope_parameters") or {}
    plain = {"max_position_embeddings": raw["max_position_embeddings"]}
    if "full_attention" in by_kind:
        whole, window = (
            hf.rope_config(plain | {"rope_parameters": by_kind[kind]})
            for kind in ("full_attention", "sliding_attention")
        )
        return whole, window
    given = {"rope_theta": raw.get("rope_theta", _THETA), "rope_scaling": raw.get("rope_scaling")}
    theta = raw.get("rope_local_base_freq", _WINDOW_THETA)
    return hf.rope_config(plain | given), RopeConfig(theta=theta)


def _read_gguf(file: GGUFFile) -> ModelConfig:
    data, plain = gguf.Metadata(file), gguf.decoder_config("gemma3", file)
    windows = _but_each(_WHOLE_EVERY, plain.num_layers, data.need("attention.sliding_window"))
    # As for Gemma 2, only the 27B has another scale, and the format does not say it.
    wide = plain.num_layers == _LAYERS_OF_27B
    return GemmaConfig.of(
        replace(plain, windows=windows),
        score_scale=(plain.hidden_size / plain.num_heads if wide else plain.head_dim) ** -0.5,
        window_rope=RopeConfig(theta=_WINDOW_THETA),
    )


def _but_each(every: int, num_layers: int, window: int) -> dict[int, int]:
    """All layers but each `every`th."""
    return {index: window for index in range(num_layers) if (index + 1) % every}


GEMMA3 = replace(
    GEMMA2,
    name="gemma3",
    hf="Gemma3ForCausalLM",
    gguf="gemma3",
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=WEIGHTS
    | norm("layers.*.attn.q_norm", f"{_ATTENTION}.q_norm", "blk.*.attn_q_norm")
    | norm("layers.*.attn.k_norm", f"{_ATTENTION}.k_norm", "blk.*.attn_k_norm"),
    layer=_layer,
)
