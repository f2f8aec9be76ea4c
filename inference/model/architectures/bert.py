"""BERT as an encoder of texts (MiniLM, BGE, E5): every token attends to all of its text, so a text
is computed whole in one step, and nothing is kept of it. Its last states become one vector.

Source: Devlin et al. 2018; Reimers and Gurevych 2019 (Sentence-BERT).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.errors import ModelLoadError
from inference.kernels.backend import LayerParts
from inference.kernels.batch import Batch, LayerCache
from inference.model.architecture import Architecture, Loader, Weight
from inference.model.config import ModelConfig, RopeConfig
from inference.model.decoder import Hidden
from inference.model.gguf_format import GGUFFile
from inference.model.layers.linear import Embedding, Linear
from inference.model.layers.rope import Rotary
from inference.model.layers.step import Step
from inference.model.reading import gguf


@dataclass(frozen=True)
class _Norm:
    """Layer norm with its bias."""

    weight: Tensor
    bias: Tensor
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


@dataclass(frozen=True)
class EncoderLayer:
    """Attention and a GELU MLP, each added to what entered it and normed afterwards."""

    config: ModelConfig
    qkv: Linear
    out: Linear
    attn_norm: _Norm
    up: Linear
    down: Linear
    mlp_norm: _Norm

    waits_for_device = True  # texts' borders: no CUDA graph holds it

    def __call__(self, x: Tensor, delta: Tensor | None, cache: LayerCache, step: Step) -> Hidden:
        if delta is not None:
            x = x + delta
        x = self.attn_norm(x + self.out(self._attend(self.qkv(x), step.batch)))
        x = self.mlp_norm(x + self.down(F.gelu(self.up(x))))
        return x, torch.zeros_like(x)

    def _attend(self, qkv: Tensor, batch: Batch) -> Tensor:
        """Within each text; (T, 3 * hidden) to (T, hidden)."""
        parts = qkv.view(len(qkv), 3, self.config.num_heads, self.config.head_dim)
        attended = torch.empty_like(parts[:, 0])
        for text in batch.prefill:
            rows = slice(text.begin, text.end)
            queries, keys, values = parts[rows].permute(1, 2, 0, 3)
            found = F.scaled_dot_product_attention(queries[None], keys[None], values[None])
            attended[rows] = found[0].transpose(0, 1)
        return attended.flatten(1)

    def parts(self) -> tuple[LayerParts, Rotary] | None:
        return None


@dataclass(frozen=True)
class _EncoderEnds:
    """Token, position and text type, summed and normed; afterwards the states as they are."""

    tokens: Embedding
    positions: Tensor
    first_type: Tensor
    norm: _Norm

    def embed(self, batch: Batch) -> Tensor:
        given = self.tokens.rows(batch.token_ids) + self.positions[batch.positions]
        return self.norm(given + self.first_type)

    def normed(self, x: Tensor, delta: Tensor) -> Tensor:
        return x


_MEAN = 1
"""GGUF's `pooling_type`."""
_LAYER = "encoder.layer.*"
_WEIGHTS = {
    "embed": Weight("embeddings.word_embeddings", "token_embd"),
    "positions": Weight("embeddings.position_embeddings", "position_embd"),
    "types": Weight("embeddings.token_type_embeddings", "token_types"),
    "embed_norm": Weight("embeddings.LayerNorm", "token_embd_norm"),
    "layers.*.attn.q": Weight(f"{_LAYER}.attention.self.query", "blk.*.attn_q"),
    "layers.*.attn.k": Weight(f"{_LAYER}.attention.self.key", "blk.*.attn_k"),
    "layers.*.attn.v": Weight(f"{_LAYER}.attention.self.value", "blk.*.attn_v"),
    "layers.*.attn.o": Weight(f"{_LAYER}.attention.output.dense", "blk.*.attn_output"),
    "layers.*.attn_norm": Weight(f"{_LAYER}.attention.output.LayerNorm", "blk.*.attn_output_norm"),
    "layers.*.mlp.up": Weight(f"{_LAYER}.intermediate.dense", "blk.*.ffn_up"),
    "layers.*.mlp.down": Weight(f"{_LAYER}.output.dense", "blk.*.ffn_down"),
    "layers.*.mlp_norm": Weight(f"{_LAYER}.output.LayerNorm", "blk.*.layer_output_norm"),
}


def _norm(load: Loader, name: str) -> _Norm:
    return _Norm(load.tensor(name), load.tensor(f"{name}:bias"), load.config.rms_eps)


def _layer(load: Loader, index: int) -> EncoderLayer:
    at = f"layers.{index}"
    return EncoderLayer(
        load.config,
        qkv=load.linear(f"{at}.attn.q", f"{at}.attn.k", f"{at}.attn.v"),
        out=load.linear(f"{at}.attn.o"),
        attn_norm=_norm(load, f"{at}.attn_norm"),
        up=load.linear(f"{at}.mlp.up"),
        down=load.linear(f"{at}.mlp.down"),
        mlp_norm=_norm(load, f"{at}.mlp_norm"),
    )


def _ends(load: Loader) -> _EncoderEnds:
    first_type = load.tensor("types")[0]
    norm = _norm(load, "embed_norm")
    return _EncoderEnds(load.embedding("embed"), load.tensor("positions"), first_type, norm)


def _read_hf(raw: Mapping[str, Any]) -> ModelConfig:
    if (activation := raw.get("hidden_act", "gelu")) != "gelu":
        raise ModelLoadError(f"hidden_act {activation!r} is not implemented for BERT")
    if (kind := raw.get("position_embedding_type", "absolute")) != "absolute":
        raise ModelLoadError(f"position_embedding_type {kind!r} is not implemented")
    heads = raw["num_attention_heads"]
    return ModelConfig(
        architecture="bert",
        vocab_size=raw["vocab_size"],
        hidden_size=raw["hidden_size"],
        intermediate_size=raw["intermediate_size"],
        num_layers=raw["num_hidden_layers"],
        num_heads=heads,
        num_kv_heads=heads,
        head_dim=raw["hidden_size"] // heads,
        rms_eps=raw["layer_norm_eps"],
        max_position=raw["max_position_embeddings"],
        tied_embeddings=True,
        eos_token_ids=frozenset(),
        rope=RopeConfig(kind="none"),
        is_encoder=True,
    )


def _read_gguf(file: GGUFFile) -> ModelConfig:
    data = gguf.Metadata(file)
    if (pooling := data.get("pooling_type", _MEAN)) != _MEAN:
        raise ModelLoadError(f"pooling_type {pooling} is not implemented: the mean ({_MEAN}) is")
    heads, hidden = data.need("attention.head_count"), data.need("embedding_length")
    return ModelConfig(
        architecture="bert",
        vocab_size=file.tensors["token_embd.weight"].shape[0],
        hidden_size=hidden,
        intermediate_size=data.need("feed_forward_length"),
        num_layers=data.need("block_count"),
        num_heads=heads,
        num_kv_heads=heads,
        head_dim=hidden // heads,
        rms_eps=data.need("attention.layer_norm_epsilon"),
        max_position=data.need("context_length"),
        tied_embeddings=True,
        eos_token_ids=frozenset(),
        rope=RopeConfig(kind="none"),
        is_encoder=True,
    )


BERT = Architecture(
    name="bert",
    hf="BertModel",
    gguf="bert",
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights=_WEIGHTS,
    layer=_layer,
    ends=_ends,
    ignored=("embeddings.position_ids", "pooler.dense.(weight|bias)"),
)
