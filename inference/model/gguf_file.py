"""A Llama-family model in a GGUF file: its configuration, and its tensors by our names.

GGUF stores the query and key rows of `llama` models in the pairwise order of llama.cpp's
rotary embedding; `_unpermute` brings them back to the half-split order that we (and the
original checkpoints) use.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf.constants import GGMLQuantizationType
from gguf.quants import dequantize

from inference.errors import ModelLoadError
from inference.model.config import ModelConfig, MoeConfig, RopeConfig
from inference.model.gguf_format import GGUFFile, TensorInfo
from inference.quantization.packed import PackedRows

_UNQUANTIZED = (
    GGMLQuantizationType.F32,
    GGMLQuantizationType.F16,
    GGMLQuantizationType.BF16,
)
_TOP = {"embed": "token_embd", "norm": "output_norm", "lm_head": "output"}
_LAYER = {
    "attn_norm": "attn_norm",
    "attn.q": "attn_q",
    "attn.k": "attn_k",
    "attn.v": "attn_v",
    "attn.o": "attn_output",
    "attn.q_norm": "attn_q_norm",
    "attn.k_norm": "attn_k_norm",
    "mlp_norm": "ffn_norm",
    "mlp.gate": "ffn_gate",
    "mlp.up": "ffn_up",
    "mlp.down": "ffn_down",
    "router": "ffn_gate_inp",
}
_ARCHITECTURES = ("llama", "qwen2", "qwen3", "qwen3moe")
_SOFTMAX_GATING = 1


class GGUFReader:
    """A `WeightReader` over one GGUF file."""

    def __init__(self, path: Path) -> None:
        self._file = GGUFFile(path)
        self.config = self._read_config()

    def has(self, name: str) -> bool:
        return self._find(name) is not None

    def read(self, name: str) -> torch.Tensor:
        tensor = self._find(name)
        if tensor is None:
            raise ModelLoadError(f"the file has no tensor {_gguf_name(name)[0]} (our {name})")
        try:
            values = dequantize(tensor.data, tensor.kind)
        except NotImplementedError as error:
            raise ModelLoadError(
                f"{tensor.name} is {tensor.kind.name}, a format we cannot read"
            ) from error
        matrix = torch.from_numpy(values.copy() if not values.flags.writeable else values)
        return self._in_our_order(name, matrix.reshape(tensor.shape))

    def read_packed(self, name: str) -> PackedRows | None:
        tensor = self._find(name)
        if tensor is None or tensor.kind in _UNQUANTIZED:
            return None
        data = self._in_our_order(name, torch.from_numpy(tensor.data.copy()))
        return PackedRows(tensor.kind, data, tensor.shape[-1])

    def _find(self, name: str) -> TensorInfo | None:
        """The tensor; of an expert, its part of the layer's tensor of all experts."""
        in_file, expert = _gguf_name(name)
        tensor = self._file.tensors.get(in_file)
        if tensor is None or expert is None:
            return tensor
        count, *shape = tensor.shape
        parts = tensor.data.reshape(count, -1, tensor.data.shape[1])
        return replace(tensor, shape=tuple(shape), data=parts[expert])

    def _in_our_order(self, name: str, rows: torch.Tensor) -> torch.Tensor:
        if self.config.architecture == "llama":
            if ".attn.q" in name:
                return _unpermute(rows, self.config.num_heads)
            if ".attn.k" in name:
                return _unpermute(rows, self.config.num_kv_heads)
        return rows

    def _read_config(self) -> ModelConfig:
        architecture = self._file.metadata.get("general.architecture")
        if architecture not in _ARCHITECTURES:
            raise ModelLoadError(f"GGUF architecture {architecture!r} is not implemented")

        def get(key: str, default: Any = None) -> Any:
            return self._file.metadata.get(f"{architecture}.{key}", default)

        heads = get("attention.head_count")
        hidden = get("embedding_length")
        inner = get("feed_forward_length")
        moe = _moe(self._file, architecture)
        return ModelConfig(
            architecture=architecture,
            vocab_size=self._file.tensors["token_embd.weight"].shape[0],
            hidden_size=hidden,
            intermediate_size=get("expert_feed_forward_length", inner) if moe else inner,
            num_layers=get("block_count"),
            num_heads=heads,
            num_kv_heads=get("attention.head_count_kv", heads),
            head_dim=get("attention.key_length", hidden // heads),
            rms_eps=get("attention.layer_norm_rms_epsilon"),
            max_position=get("context_length"),
            tied_embeddings="output.weight" not in self._file.tensors,
            eos_token_ids=frozenset(
                token
                for key in ("eos_token_id", "eot_token_id")
                if (token := self._file.metadata.get(f"tokenizer.ggml.{key}")) is not None
            ),
            rope=_rope(self._file, architecture),
            moe=moe,
        )


def _moe(file: GGUFFile, architecture: str) -> MoeConfig | None:
    """The mixture of experts of Mixtral (a `llama`) and Qwen3-MoE; None for a dense model.

    Raises:
        ModelLoadError: when it chooses or weighs its experts in another way.
    """

    def get(key: str, default: Any = None) -> Any:
        return file.metadata.get(f"{architecture}.{key}", default)

    if not get("expert_count"):
        return None
    for key, known in (
        ("expert_gating_func", _SOFTMAX_GATING),
        ("expert_weights_scale", 1.0),
        ("leading_dense_block_count", 0),
        ("expert_shared_count", 0),
    ):
        if get(key, known) != known:
            raise ModelLoadError(f"a mixture of experts with {key} {get(key)} is not implemented")
    # llama.cpp normalises the chosen experts' weights of both families unless it is told not to.
    return MoeConfig(
        get("expert_count"), get("expert_used_count"), bool(get("expert_weights_norm", True))
    )


def _rope(file: GGUFFile, architecture: str) -> RopeConfig:
    """Rotary settings; llama3's scaling is a tensor of divisors.

    Raises:
        ModelLoadError: when the context was extended in a way that we cannot read.
    """

    def get(key: str, default: Any) -> Any:
        return file.metadata.get(f"{architecture}.rope.{key}", default)

    kind = get("scaling.type", "none")
    if kind not in ("none", "linear", "yarn"):
        raise ModelLoadError(f"rotary scaling {kind!r} from GGUF is not implemented")
    if get("scaling.attn_factor", 1.0) != 1.0:
        raise ModelLoadError("rotary scaling with an attention factor is not implemented")
    divisors = file.tensors.get("rope_freqs.weight")
    return RopeConfig(
        theta=get("freq_base", 10000.0),
        kind="default" if kind == "none" else kind,
        factor=get("scaling.factor", 1.0),
        original_max_position=get("scaling.original_context_length", 0),
        slowed_by=tuple(divisors.data.view(np.float32).flatten().tolist()) if divisors else (),
    )


def _gguf_name(name: str) -> tuple[str, int | None]:
    """The tensor's name in the file, and which expert's part of it, where it is of all."""
    name, _, kind = name.partition(":")
    kind = kind or "weight"
    if not name.startswith("layers."):
        return f"{_TOP[name]}.{kind}", None
    _, index, part = name.split(".", 2)
    if part.startswith("experts."):
        _, expert, which = part.split(".")
        return f"blk.{index}.ffn_{which}_exps.{kind}", int(expert)
    return f"blk.{index}.{_LAYER[part]}.{kind}", None


def _unpermute(rows: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Rows of each head from (pair, 2) order back to (2, pair) order."""
    grouped = rows.reshape(num_heads, -1, 2, *rows.shape[1:])
    return grouped.swapaxes(1, 2).reshape(rows.shape).contiguous()
