"""A decoder's sizes from the config.json of a Hugging Face folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inference.errors import ModelLoadError
from inference.model.config import ModelConfig, RopeConfig


def decoder_config(
    name: str,
    raw: Mapping[str, Any],
    *,
    intermediate_size: int | None = None,
    activation: str = "silu",
    windows: Mapping[int, int] | None = None,
    rope: RopeConfig | None = None,
) -> ModelConfig:
    """What most decoders have, by the names that most have.

    Args:
        name: of the architecture.
        intermediate_size: where it is not `intermediate_size` in the file.
        activation: the one that the architecture computes.
        windows: layers that attend to their last so many tokens only.
        rope: where it is not read as most are.
    Raises:
        ModelLoadError: when the activation or the rotation is not implemented.
    """
    if (found := raw.get("hidden_activation") or raw.get("hidden_act", activation)) != activation:
        raise ModelLoadError(f"hidden_act {found!r} is not implemented")
    heads = raw["num_attention_heads"]
    return ModelConfig(
        architecture=name,
        vocab_size=raw["vocab_size"],
        hidden_size=raw["hidden_size"],
        intermediate_size=intermediate_size or raw["intermediate_size"],
        num_layers=raw["num_hidden_layers"],
        num_heads=heads,
        num_kv_heads=raw.get("num_key_value_heads") or heads,
        head_dim=raw.get("head_dim") or raw["hidden_size"] // heads,
        rms_eps=raw["rms_norm_eps"],
        max_position=raw["max_position_embeddings"],
        tied_embeddings=raw.get("tie_word_embeddings", False),
        eos_token_ids=eos_token_ids(raw),
        rope=rope or rope_config(raw),
        windows=dict(windows or {}),
    )


def text_of(raw: Mapping[str, Any], **defaults: Any) -> dict[str, Any]:
    """The decoder's part of a configuration of text and images; older files have it flat."""
    text = dict(raw.get("text_config") or raw)
    for key in ("eos_token_id", "tie_word_embeddings"):
        if raw.get(key) is not None:
            text[key] = raw[key]
    return {**defaults, **text}


def eos_token_ids(raw: Mapping[str, Any]) -> frozenset[int]:
    """One, several or none."""
    eos = raw.get("eos_token_id")
    return frozenset([] if eos is None else [eos] if isinstance(eos, int) else eos)


def rope_config(raw: Mapping[str, Any]) -> RopeConfig:
    """From `rope_parameters` (transformers 5) or `rope_theta` and `rope_scaling`.

    Raises:
        ModelLoadError: when it is of a kind that is not implemented.
    """
    given = {**(raw.get("rope_scaling") or {}), **(raw.get("rope_parameters") or {})}
    kind = given.get("rope_type", given.get("type", "default"))
    if kind == "mrope":  # older files' name of having sections
        kind = "default"
    if kind not in ("default", "linear", "llama3", "yarn", "longrope"):
        raise ModelLoadError(f"rotary embedding of type {kind!r} is not implemented")
    if given.get("partial_rotary_factor", raw.get("partial_rotary_factor", 1.0)) != 1.0:
        raise ModelLoadError("partial_rotary_factor is not implemented for this architecture")
    if kind == "longrope":
        return _longrope(raw, given)
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
        sections=tuple(given.get("mrope_section") or ()),
        **named,
    )


def _longrope(raw: Mapping[str, Any], given: Mapping[str, Any]) -> RopeConfig:
    """The long factors where the model's context goes beyond the original one: as in vLLM, one
    rotation for all lengths, since keys in the cache cannot be turned again."""
    longest = raw["max_position_embeddings"]
    original = given.get("original_max_position_embeddings") or raw.get(
        "original_max_position_embeddings", longest
    )
    return RopeConfig(
        theta=given.get("rope_theta", raw.get("rope_theta", 10000.0)),
        kind="longrope",
        factor=given.get("factor") or longest / original,
        original_max_position=original,
        attention_factor=given.get("attention_factor"),
        slowed_by=tuple(given["long_factor" if longest > original else "short_factor"]),
    )


def all_layers(raw: Mapping[str, Any]) -> dict[int, int]:
    """`sliding_window` for every layer, as Mistral has it; for those of `layer_types` where
    there are such."""
    window = raw.get("sliding_window")
    layers = range(raw["num_hidden_layers"])
    if window is None:
        return {}
    if types := raw.get("layer_types"):
        return {index: window for index in layers if types[index] == "sliding_attention"}
    return dict.fromkeys(layers, window)


def later_layers(raw: Mapping[str, Any]) -> dict[int, int]:
    """`sliding_window` from layer `max_window_layers` on where it is switched on, as Qwen has
    it."""
    if not raw.get("use_sliding_window"):
        return {}
    first = 0 if raw.get("layer_types") else raw.get("max_window_layers", 0)
    return {index: window for index, window in all_layers(raw).items() if index >= first}
