"""A decoder's sizes from a GGUF file's metadata."""

from __future__ import annotations

from typing import Any

import numpy as np

from inference.errors import ModelLoadError
from inference.model.config import ModelConfig, MoeConfig, RopeConfig
from inference.model.gguf_format import GGUFFile

_SOFTMAX_GATING = 1


class Metadata:
    """The entries of a file under its architecture's name."""

    def __init__(self, file: GGUFFile) -> None:
        self.file = file
        self._prefix = file.metadata["general.architecture"]

    def get(self, key: str, default: Any = None) -> Any:
        return self.file.metadata.get(f"{self._prefix}.{key}", default)

    def need(self, key: str) -> Any:
        """Raises KeyError with the whole key when it is not there."""
        return self.file.metadata[f"{self._prefix}.{key}"]


def decoder_config(name: str, file: GGUFFile, *, moe: MoeConfig | None = None) -> ModelConfig:
    """What most decoders have.

    Args:
        name: of the architecture.
    Raises:
        ModelLoadError: when the rotation is not implemented.
    """
    data = Metadata(file)
    heads, hidden = data.need("attention.head_count"), data.need("embedding_length")
    inner = data.need("feed_forward_length")
    return ModelConfig(
        architecture=name,
        vocab_size=file.tensors["token_embd.weight"].shape[0],
        hidden_size=hidden,
        intermediate_size=data.get("expert_feed_forward_length", inner) if moe else inner,
        num_layers=data.need("block_count"),
        num_heads=heads,
        num_kv_heads=data.get("attention.head_count_kv", heads),
        head_dim=data.get("attention.key_length", hidden // heads),
        rms_eps=data.need("attention.layer_norm_rms_epsilon"),
        max_position=data.need("context_length"),
        tied_embeddings="output.weight" not in file.tensors,
        eos_token_ids=eos_token_ids(file),
        rope=rope_config(file),
        moe=moe,
    )


def eos_token_ids(file: GGUFFile) -> frozenset[int]:
    """The end of the text, and that of a turn."""
    found = (file.metadata.get(f"tokenizer.ggml.{key}_token_id") for key in ("eos", "eot"))
    return frozenset(token for token in found if token is not None)


def moe_config(file: GGUFFile) -> MoeConfig:
    """A mixture of experts that is routed as Mixtral's and Qwen3-MoE's are.

    Raises:
        ModelLoadError: when it chooses or weighs its experts in another way.
    """
    data = Metadata(file)
    for key, known in (
        ("expert_gating_func", _SOFTMAX_GATING),
        ("expert_weights_scale", 1.0),
        ("leading_dense_block_count", 0),
        ("expert_shared_count", 0),
    ):
        if (found := data.get(key, known)) != known:
            raise ModelLoadError(f"a mixture of experts with {key} {found} is not implemented")
    return MoeConfig(
        data.need("expert_count"),
        data.need("expert_used_count"),
        # llama.cpp normalises both families' weights unless it is told not to.
        normalise=bool(data.get("expert_weights_norm", True)),
    )


def rope_config(file: GGUFFile) -> RopeConfig:
    """Rotary settings; llama3's scaling is a tensor of divisors.

    Raises:
        ModelLoadError: when the context was extended in a way that we cannot read.
    """
    data = Metadata(file)
    kind = data.get("rope.scaling.type", "none")
    if kind not in ("none", "linear", "yarn"):
        raise ModelLoadError(f"rotary scaling {kind!r} from GGUF is not implemented")
    if data.get("rope.scaling.attn_factor", 1.0) != 1.0:
        raise ModelLoadError("rotary scaling with an attention factor is not implemented")
    divisors = file.tensors.get("rope_freqs.weight")
    return RopeConfig(
        theta=data.get("rope.freq_base", 10000.0),
        kind="default" if kind == "none" else kind,
        factor=data.get("rope.scaling.factor", 1.0),
        original_max_position=data.get("rope.scaling.original_context_length", 0),
        beta_fast=data.get("rope.scaling.yarn_beta_fast", RopeConfig.beta_fast),
        beta_slow=data.get("rope.scaling.yarn_beta_slow", RopeConfig.beta_slow),
        slowed_by=tuple(divisors.data.view(np.float32).flatten().tolist()) if divisors else (),
    )
