"""The Llama-family decoder over a flat batch of tokens and a paged KV cache."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from inference.model.attention import Attention, Batch, LayerCache
from inference.model.config import ModelConfig
from inference.model.layers import Linear, RMSNorm, Rotary, rotate
from inference.model.weights import WeightReader


class SelfAttention(nn.Module):
    """Grouped-query attention; query, key and value in one matrix product."""

    def __init__(self, config: ModelConfig, qkv: Linear, out: Linear) -> None:
        super().__init__()
        self.qkv, self.out = qkv, out
        self.heads, self.kv_heads, self.dim = (
            config.num_heads,
            config.num_kv_heads,
            config.head_dim,
        )

    def forward(
        self,
        x: Tensor,
        angles: tuple[Tensor, Tensor],
        cache: LayerCache,
        batch: Batch,
        attention: Attention,
    ) -> Tensor:
        qkv = self.qkv(x).view(x.shape[0], -1, self.dim)
        queries, keys, values = qkv.split((self.heads, self.kv_heads, self.kv_heads), dim=1)
        cache.write(batch.slots, rotate(keys, *angles), values)
        attended = attention(rotate(queries, *angles), cache, batch)
        return self.out(attended.flatten(1))


class SwiGLU(nn.Module):
    """down(silu(gate(x)) * up(x)); gate and up in one matrix product.

    Source: Shazeer 2020.
    """

    def __init__(self, gate_up: Linear, down: Linear) -> None:
        super().__init__()
        self.gate_up, self.down = gate_up, down

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)


class DecoderLayer(nn.Module):
    def __init__(
        self, attn_norm: RMSNorm, attn: SelfAttention, mlp_norm: RMSNorm, mlp: SwiGLU
    ) -> None:
        super().__init__()
        self.attn_norm, self.attn, self.mlp_norm, self.mlp = attn_norm, attn, mlp_norm, mlp

    def forward(
        self,
        x: Tensor,
        angles: tuple[Tensor, Tensor],
        cache: LayerCache,
        batch: Batch,
        attention: Attention,
    ) -> Tensor:
        x = x + self.attn(self.attn_norm(x), angles, cache, batch, attention)
        return x + self.mlp(self.mlp_norm(x))


class LlamaModel(nn.Module):
    def __init__(
        self,
        config: ModelConfig,
        embed: Tensor,
        layers: list[DecoderLayer],
        norm: RMSNorm,
        lm_head: Linear,
        attention: Attention,
    ) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Parameter(embed, requires_grad=False)
        self.layers = nn.ModuleList(layers)
        self.norm = norm
        self.lm_head = lm_head
        self.attention = attention
        self.rotary = Rotary(config.head_dim, config.max_position, config.rope_theta, embed.device)

    def forward(self, batch: Batch, caches: list[LayerCache]) -> Tensor:
        """Logits (R, vocab) in float32 of the batch's `logits_rows`.

        Writes the keys and values of every token of the batch into `caches`.
        """
        x = F.embedding(batch.token_ids, self.embed)
        angles = self.rotary.at(batch.positions, x.dtype)
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, angles, cache, batch, self.attention)
        return self.lm_head(self.norm(x[batch.logits_rows])).float()


def build_llama(
    reader: WeightReader, dtype: torch.dtype, device: torch.device, attention: Attention
) -> LlamaModel:
    """Read every weight and put the decoder together.

    Raises:
        ModelLoadError: when a tensor is missing or unreadable.
    """
    config = reader.config

    def tensor(name: str) -> Tensor:
        return reader.read(name).to(device, dtype)

    def linear(*names: str) -> Linear:
        bias = None
        if reader.has(f"{names[0]}:bias"):
            bias = torch.cat([tensor(f"{name}:bias") for name in names])
        return Linear(torch.cat([tensor(name) for name in names]), bias)

    def norm(name: str) -> RMSNorm:
        return RMSNorm(tensor(name), config.rms_eps)

    layers = []
    for index in range(config.num_layers):
        at = f"layers.{index}"
        layers.append(
            DecoderLayer(
                norm(f"{at}.attn_norm"),
                SelfAttention(
                    config,
                    linear(f"{at}.attn.q", f"{at}.attn.k", f"{at}.attn.v"),
                    linear(f"{at}.attn.o"),
                ),
                norm(f"{at}.mlp_norm"),
                SwiGLU(linear(f"{at}.mlp.gate", f"{at}.mlp.up"), linear(f"{at}.mlp.down")),
            )
        )
    embed = tensor("embed")
    lm_head = Linear(embed) if config.tied_embeddings else linear("lm_head")
    return LlamaModel(config, embed, layers, norm("norm"), lm_head, attention)
