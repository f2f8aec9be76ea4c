"""Puts a decoder together from weights: which storage and which backend each part gets."""

from __future__ import annotations

import logging

import torch
from torch import Tensor

from inference.model.backend import Backend, TorchBackend
from inference.model.cpu.backend import CpuBackend, PackedLinear
from inference.model.cpu.compile import load_kernels
from inference.model.layers import DenseLinear, Mlp, SparseExperts, SwiGLU
from inference.model.llama import DecoderLayer, LlamaModel
from inference.model.weights import PackedRows, WeightReader

log = logging.getLogger(__name__)


def build_model(reader: WeightReader, dtype: torch.dtype, device: torch.device) -> LlamaModel:
    """Read every weight and put the decoder together.

    On a CPU in float32, quantized matrices stay as their file has them and our kernels
    compute from them, where those could be compiled; everything else is dense.

    Raises:
        ModelLoadError: when a tensor is missing or unreadable.
    """
    wants_kernels = device.type == "cpu" and dtype == torch.float32
    config = reader.config
    kernels = load_kernels() if wants_kernels and CpuBackend.takes(config) else None
    backend: Backend = CpuBackend(kernels) if kernels else TorchBackend()

    def tensor(name: str) -> Tensor:
        return reader.read(name).to(device, dtype)

    def linear(*names: str) -> DenseLinear | PackedLinear:
        """The matrices below one another, as one."""
        bias = None
        if reader.has(f"{names[0]}:bias"):
            bias = torch.cat([tensor(f"{name}:bias") for name in names])
        if kernels is not None:
            packed = [rows for name in names if (rows := reader.read_packed(name))]
            if len(packed) == len(names) and (joined := _join(packed)):
                return PackedLinear(kernels, joined, bias)
        return DenseLinear(torch.cat([tensor(name) for name in names]), bias)

    def optional(name: str) -> Tensor | None:
        return tensor(name) if reader.has(name) else None

    def swiglu(at: str) -> SwiGLU:
        return SwiGLU(backend, linear(f"{at}.gate", f"{at}.up"), linear(f"{at}.down"))

    def mlp(at: str) -> Mlp:
        if config.moe is None:
            return swiglu(f"{at}.mlp")
        experts = [swiglu(f"{at}.experts.{index}") for index in range(config.moe.num_experts)]
        return SparseExperts(config.moe, linear(f"{at}.router"), experts)

    def layer(index: int) -> DecoderLayer:
        at = f"layers.{index}"
        return DecoderLayer(
            attn_norm=tensor(f"{at}.attn_norm"),
            qkv=linear(f"{at}.attn.q", f"{at}.attn.k", f"{at}.attn.v"),
            out=linear(f"{at}.attn.o"),
            mlp_norm=tensor(f"{at}.mlp_norm"),
            mlp=mlp(at),
            query_norm=optional(f"{at}.attn.q_norm"),
            key_norm=optional(f"{at}.attn.k_norm"),
            window=config.windows.get(index),
        )

    layers = [layer(index) for index in range(config.num_layers)]
    embed = linear("embed")
    lm_head = embed if config.tied_embeddings else linear("lm_head")
    return LlamaModel(config, backend, embed, layers, tensor("norm"), lm_head)


def _join(parts: list[PackedRows]) -> PackedRows | None:
    """Matrices of one kind below one another; None when the kernels cannot take them."""
    first = parts[0]
    if any(part.kind != first.kind for part in parts) or not PackedLinear.takes(first):
        return None
    return PackedRows(first.kind, torch.cat([part.data for part in parts]), first.width)
