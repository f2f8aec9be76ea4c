"""Llama: RMS norms before grouped-query attention with rotary positions, and before SwiGLU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from inference.model.architecture import Architecture, Loader, Split, Weight
from inference.model.config import ModelConfig, RopeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.attention import Attention, QkvTransform
from inference.model.layers.ends import TokenEnds
from inference.model.layers.mlp import Mlp, SwiGLU
from inference.model.layers.pre_norm import PreNormLayer
from inference.model.layers.scores import Scores
from inference.model.reading import gguf, hf


def in_halves(rows: Tensor, num_heads: int) -> Tensor:
    """Rows of each head from (pair, 2) order to (2, pair) order.

    GGUF's `llama` files have the rows of queries and keys in the pairwise order of llama.cpp's
    rotation; ours, like the original checkpoints', has the two halves of a head.
    """
    grouped = rows.reshape(num_heads, -1, 2, *rows.shape[1:])
    return grouped.swapaxes(1, 2).reshape(rows.shape).contiguous()


def _queries(rows: Tensor, config: ModelConfig) -> Tensor:
    return in_halves(rows, config.num_heads)


def _keys(rows: Tensor, config: ModelConfig) -> Tensor:
    return in_halves(rows, config.num_kv_heads)


COMMON = {
    "embed": Weight("model.embed_tokens", "token_embd", Split.VOCABULARY),
    "layers.*.attn_norm": Weight("model.layers.*.input_layernorm", "blk.*.attn_norm"),
    "layers.*.attn.q": Weight("model.layers.*.self_attn.q_proj", "blk.*.attn_q", Split.ROWS),
    "layers.*.attn.k": Weight("model.layers.*.self_attn.k_proj", "blk.*.attn_k", Split.ROWS),
    "layers.*.attn.v": Weight("model.layers.*.self_attn.v_proj", "blk.*.attn_v", Split.ROWS),
    "layers.*.attn.o": Weight(
        "model.layers.*.self_attn.o_proj", "blk.*.attn_output", Split.COLUMNS
    ),
    "layers.*.mlp_norm": Weight("model.layers.*.post_attention_layernorm", "blk.*.ffn_norm"),
    "norm": Weight("model.norm", "output_norm"),
    "lm_head": Weight("lm_head", "output", Split.VOCABULARY),
}
"""What is called alike in all families here."""
SWIGLU = {
    "layers.*.mlp.gate": Weight("model.layers.*.mlp.gate_proj", "blk.*.ffn_gate", Split.ROWS),
    "layers.*.mlp.up": Weight("model.layers.*.mlp.up_proj", "blk.*.ffn_up", Split.ROWS),
    "layers.*.mlp.down": Weight("model.layers.*.mlp.down_proj", "blk.*.ffn_down", Split.COLUMNS),
}
PAIRED = {
    "layers.*.attn.q": Weight(
        "model.layers.*.self_attn.q_proj", "blk.*.attn_q", Split.ROWS, gguf_rows=_queries
    ),
    "layers.*.attn.k": Weight(
        "model.layers.*.self_attn.k_proj", "blk.*.attn_k", Split.ROWS, gguf_rows=_keys
    ),
}
"""Queries and keys of GGUF's `llama` files."""


def layer(load: Loader, index: int) -> PreNormLayer:
    return pre_norm_layer(load, index, swiglu(load, index))


def pre_norm_layer(
    load: Loader,
    index: int,
    mlp: Mlp,
    transform: QkvTransform | None = None,
    rope: RopeConfig | None = None,
) -> PreNormLayer:
    """The layer with any MLP; `transform` and `rope` are `attention`'s."""
    at, eps = f"layers.{index}", load.config.rms_eps
    attn_norm, mlp_norm = load.tensor(f"{at}.attn_norm"), load.tensor(f"{at}.mlp_norm")
    attends = attention(load, index, transform=transform, rope=rope)
    return PreNormLayer(load.backend, eps, attn_norm, attends, mlp_norm, mlp)


def attention(
    load: Loader,
    index: int,
    *,
    transform: QkvTransform | None = None,
    rope: RopeConfig | None = None,
    scores: Scores | None = None,
) -> Attention:
    """What a layer attends with.

    Args:
        rope: its rotation, where it is not the configuration's.
    """
    at, config = f"layers.{index}.attn", load.config
    return Attention(
        load.backend,
        config,
        load.rotary(rope or config.rope),
        qkv=load.linear(f"{at}.q", f"{at}.k", f"{at}.v"),
        out=load.linear(f"{at}.o"),
        window=config.windows.get(index),
        transform=transform,
        scores=scores,
    )


def swiglu(load: Loader, index: int) -> SwiGLU:
    at = f"layers.{index}.mlp"
    gate_up = load.linear(f"{at}.gate", f"{at}.up")
    return SwiGLU(load.backend, gate_up, load.linear(f"{at}.down"))


def ends(load: Loader) -> TokenEnds:
    head = "embed" if load.config.tied_embeddings else "lm_head"
    return TokenEnds(
        load.backend,
        load.config.rms_eps,
        load.embedding("embed"),
        load.tensor("norm"),
        load.logits(head),
    )


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    return hf.decoder_config("llama", raw)


def _read_gguf(file: GGUFFile) -> ModelConfig:
    return gguf.decoder_config("llama", file)


LLAMA = Architecture(
    name="llama",
    hf="LlamaForCausalLM",
    gguf="llama",
    takes_gguf=lambda metadata: not metadata.get("llama.expert_count"),
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=COMMON | SWIGLU | PAIRED,
    layer=layer,
    ends=ends,
    ignored=("model.layers.*.self_attn.rotary_emb.inv_freq", "rope_freqs.weight"),
)
