"""Seesaw, a family that nobody has trained: as unlike Llama as the engine allows.

Positions are learned, norms take the mean away and have biases, attention and a GELU MLP read the
same norm and are added together, one matrix of the Hugging Face folder holds queries, keys and
values, and logits are capped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.kernels.batch import Batch, LayerCache
from inference.model.architecture import Architecture, Loader, Split, Weight
from inference.model.config import ModelConfig, RopeConfig
from inference.model.gguf_format import GGUFFile
from inference.model.layers.attention import Attention
from inference.model.layers.linear import Embedding, Linear
from inference.model.layers.step import Step
from inference.model.reading.gguf import Metadata

EPS = 1e-5


@dataclass(frozen=True)
class SeesawConfig(ModelConfig):
    logit_cap: float = 0.0


@dataclass(frozen=True)
class Norm:
    weight: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, EPS)


@dataclass(frozen=True)
class SeesawLayer:
    norm: Norm
    attention: Attention
    up: Linear
    down: Linear
    waits_for_device = False

    def __call__(
        self, x: Tensor, delta: Tensor | None, cache: LayerCache, step: Step
    ) -> tuple[Tensor, Tensor]:
        x = x if delta is None else x + delta
        normed = self.norm(x)
        return x, self.attention(normed, cache, step) + self.down(F.gelu(self.up(normed)))

    def parts(self) -> None:
        return None


@dataclass(frozen=True)
class SeesawEnds:
    embedding: Embedding
    positions: Tensor
    norm: Norm
    head: Linear
    cap: float

    def embed(self, batch: Batch) -> Tensor:
        return self.embedding.rows(batch.token_ids) + self.positions[batch.positions]

    def normed(self, x: Tensor, delta: Tensor) -> Tensor:
        return self.norm(x + delta)

    def logits(self, normed: Tensor) -> Tensor:
        return self.cap * torch.tanh(self.head(normed) / self.cap)


def layer(load: Loader, index: int) -> SeesawLayer:
    at = f"layers.{index}"
    qkv = load.linear(f"{at}.q", f"{at}.k", f"{at}.v")
    rotary = load.rotary(load.config.rope)
    attention = Attention(load.backend, load.config, rotary, qkv, load.linear(f"{at}.o"))
    up, down = load.linear(f"{at}.up"), load.linear(f"{at}.down")
    return SeesawLayer(_norm(load, f"{at}.norm"), attention, up, down)


def ends(load: Loader) -> SeesawEnds:
    assert isinstance(load.config, SeesawConfig)
    norm, positions = _norm(load, "norm"), load.tensor("positions")
    embedding, head = load.embedding("embed"), load.logits("embed")
    return SeesawEnds(embedding, positions, norm, head, load.config.logit_cap)


def _norm(load: Loader, name: str) -> Norm:
    return Norm(load.tensor(name), load.tensor(f"{name}:bias"))


def _queries(rows: Tensor, config: ModelConfig) -> Tensor:
    return rows[: config.num_heads * config.head_dim]


def _keys(rows: Tensor, config: ModelConfig) -> Tensor:
    begin, count = config.num_heads * config.head_dim, config.num_kv_heads * config.head_dim
    return rows[begin : begin + count]


def _values(rows: Tensor, config: ModelConfig) -> Tensor:
    return rows[-config.num_kv_heads * config.head_dim :]


def _read_hf(raw: Mapping[str, Any]) -> SeesawConfig:
    return _config(raw, raw["vocab_size"], raw["end"])


def _read_gguf(file: GGUFFile) -> SeesawConfig:
    data = Metadata(file)
    keys = ("width", "inner", "depth", "heads", "kv_heads", "head_dim", "longest", "cap")
    vocab_size = file.tensors["token_embd.weight"].shape[0]
    return _config({key: data.need(key) for key in keys}, vocab_size, data.need("end"))


def _config(raw: Mapping[str, Any], vocab_size: int, end: int) -> SeesawConfig:
    return SeesawConfig(
        architecture="seesaw",
        vocab_size=vocab_size,
        hidden_size=raw["width"],
        intermediate_size=raw["inner"],
        num_layers=raw["depth"],
        num_heads=raw["heads"],
        num_kv_heads=raw["kv_heads"],
        head_dim=raw["head_dim"],
        rms_eps=EPS,
        max_position=raw["longest"],
        tied_embeddings=True,
        eos_token_ids=frozenset([end]),
        rope=RopeConfig(kind="none"),
        logit_cap=raw["cap"],
    )


SEESAW = Architecture(
    name="seesaw",
    hf="SeesawForCausalLM",
    gguf="seesaw",
    read_hf=_read_hf,
    read_gguf=_read_gguf,
    weights={
        "embed": Weight("tokens", "token_embd", Split.VOCABULARY),
        "positions": Weight("positions", "position_embd"),
        "layers.*.norm": Weight("blocks.*.norm", "blk.*.attn_norm"),
        "layers.*.q": Weight("blocks.*.qkv", "blk.*.attn_q", Split.ROWS, hf_rows=_queries),
        "layers.*.k": Weight("blocks.*.qkv", "blk.*.attn_k", Split.ROWS, hf_rows=_keys),
        "layers.*.v": Weight("blocks.*.qkv", "blk.*.attn_v", Split.ROWS, hf_rows=_values),
        "layers.*.o": Weight("blocks.*.out", "blk.*.attn_output", Split.COLUMNS),
        "layers.*.up": Weight("blocks.*.up", "blk.*.ffn_up", Split.ROWS),
        "layers.*.down": Weight("blocks.*.down", "blk.*.ffn_down", Split.COLUMNS),
        "norm": Weight("norm", "output_norm"),
    },
    layer=layer,
    ends=ends,
    vector_sizes=lambda config: [config.head_dim],
)
