"""What a decoder of the Llama family is: sizes and switches, wherever they were read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelConfig:
    """One dataclass for the family; a switch that a model lacks has its neutral value."""

    architecture: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    rms_eps: float
    rope_theta: float
    max_position: int
    tied_embeddings: bool
    eos_token_ids: frozenset[int]
