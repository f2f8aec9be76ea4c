"""Gemma 2: norms before and after each branch, GeGLU, scaled embeddings, every other layer with a
window, and both scores and logits within a cap.

Source: Gemma Team 2024.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from inference.model.architecture import Loader, Weight
from inference.model.architectures import llama
from inference.model.config import ModelConfig, RopeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.attention import QkvTransform, ScaledQueries
from inference.model.layers.ends import TokenEnds
from inference.model.layers.mlp import GeGLU
from inference.model.layers.normed_branches import BranchNorms, NormedBranchesLayer
from inference.model.layers.scores import Scores
from inference.model.reading import gguf, hf


@dataclass(frozen=True)
class GemmaConfig(ModelConfig):
    score_scale: float = 1.0
    score_cap: float | None = None
    logit_cap: float | None = None
    window_rope: RopeConfig | None = None
    """The rotation of layers with a window, where it is another."""


def one_more(weight: Tensor, config: ModelConfig) -> Tensor:
    """Hugging Face's files hold what is added to one; GGUF's hold the sum."""
    return weight.float() + 1


def norm(ours: str, hf_name: str, gguf_name: str) -> dict[str, Weight]:
    return {ours: Weight(hf_name, gguf_name, hf_rows=one_more)}


_LAYER = "model.layers.*"
_LAYERS_OF_27B = 46
WEIGHTS = (
    llama.COMMON
    | llama.SWIGLU
    | norm("norm", "model.norm", "output_norm")
    | norm("layers.*.attn_norm", f"{_LAYER}.input_layernorm", "blk.*.attn_norm")
    | norm("layers.*.attn_after", f"{_LAYER}.post_attention_layernorm", "blk.*.post_attention_norm")
    | norm("layers.*.mlp_norm", f"{_LAYER}.pre_feedforward_layernorm", "blk.*.ffn_norm")
    | norm("layers.*.mlp_after", f"{_LAYER}.post_feedforward_layernorm", "blk.*.post_ffw_norm")
)


def gemma_config(load: Loader) -> GemmaConfig:
    assert isinstance(load.config, GemmaConfig)
    return load.config


def gemma_layer(load: Loader, index: int, transform: QkvTransform) -> NormedBranchesLayer:
    """The layer of Gemma 2 and 3; `transform` norms or scales queries and keys."""
    at, config = f"layers.{index}", gemma_config(load)
    gate_up = load.linear(f"{at}.mlp.gate", f"{at}.mlp.up")
    return NormedBranchesLayer(
        load.backend,
        config.rms_eps,
        llama.attention(
            load,
            index,
            transform=transform,
            rope=config.window_rope if index in config.windows else None,
            scores=Scores(cap=config.score_cap) if config.score_cap else None,
        ),
        BranchNorms(load.tensor(f"{at}.attn_norm"), load.tensor(f"{at}.attn_after")),
        GeGLU(gate_up, load.linear(f"{at}.mlp.down")),
        BranchNorms(load.tensor(f"{at}.mlp_norm"), load.tensor(f"{at}.mlp_after")),
    )


def _layer(load: Loader, index: int) -> NormedBranchesLayer:
    config = gemma_config(load)
    return gemma_layer(load, index, ScaledQueries(config, config.score_scale))


def ends(load: Loader) -> TokenEnds:
    config = gemma_config(load)
    return replace(
        llama.ends(load),
        embedding_scale=config.hidden_size**0.5,
        logit_cap=config.logit_cap,
    )


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    tied = {"tie_word_embeddings": True, **raw}
    windows = (
        hf.all_layers(raw)
        if raw.get("layer_types")
        else _every_other(raw["num_hidden_layers"], raw["sliding_window"])
    )
    return GemmaConfig.of(
        hf.decoder_config("gemma2", tied, activation="gelu_pytorch_tanh", windows=windows),
        score_scale=raw["query_pre_attn_scalar"] ** -0.5,
        score_cap=raw["attn_logit_softcapping"],
        logit_cap=raw["final_logit_softcapping"],
    )


def _read_gguf(file: GGUFFile) -> ModelConfig:
    data, plain = gguf.Metadata(file), gguf.decoder_config("gemma2", file)
    windows = _every_other(plain.num_layers, data.need("attention.sliding_window"))
    # Only the 27B scales by its width a head in place of its head's size; the format is silent.
    wide = plain.num_layers == _LAYERS_OF_27B
    return GemmaConfig.of(
        replace(plain, windows=windows),
        score_scale=(plain.hidden_size / plain.num_heads if wide else plain.head_dim) ** -0.5,
        score_cap=data.need("attn_logit_softcapping"),
        logit_cap=data.need("final_logit_softcapping"),
    )


def _every_other(num_layers: int, window: int) -> dict[int, int]:
    return dict.fromkeys(range(0, num_layers, 2), window)


GEMMA2 = replace(
    llama.LLAMA,
    name="gemma2",
    hf="Gemma2ForCausalLM",
    gguf="gemma2",
    takes_gguf=lambda metadata: True,
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=WEIGHTS,
    layer=_layer,
    ends=ends,
)
