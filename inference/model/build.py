"""Puts a decoder together from weights: which storage and which backend each part gets."""

from __future__ import annotations

import ctypes
import importlib.util
import logging
from typing import TypeVar

import torch
from torch import Tensor

from inference.errors import ModelLoadError
from inference.kernels.backend import Backend, TorchBackend
from inference.kernels.cpu.backend import CpuBackend
from inference.kernels.cpu.compile import load_kernels
from inference.kernels.cpu.packed_linear import PackedLinear
from inference.model.layers import (
    DenseLinear,
    GroupedExperts,
    Linear,
    Mlp,
    SparseExperts,
    SwiGLU,
    TokenMatrix,
)
from inference.model.llama import DecoderLayer, LayerStack, LlamaModel
from inference.model.weights import WeightReader
from inference.parallel.group import TensorGroup
from inference.parallel.layers import AllReduced, GatheredLogits, VocabularyPart
from inference.quantization.packed import PackedRows
from inference.quantization.precision import Precision
from inference.quantization.rounding import fits_blocks, round_to_blocks

log = logging.getLogger(__name__)

Part = TypeVar("Part", Linear, Mlp)


def build_model(
    reader: WeightReader,
    dtype: torch.dtype,
    device: torch.device,
    precision: Precision | None = None,
    group: TensorGroup | None = None,
    layers: range | None = None,
) -> LlamaModel:
    """Read the weights and put the decoder together.

    On a CPU in float32, quantized matrices stay as their file has them and our kernels
    compute from them, where those could be compiled; everything else is dense.

    Args:
        reader: with a `group`, one that gives this rank's part (`parallel/shard.py`).
        group: the ranks whose parts make up each product.
        layers: those that are wanted; all of them when None.
    Raises:
        ModelLoadError: when a tensor is missing or unreadable, or the precision cannot be
            had here.
    """
    builder = _Builder(reader, dtype, device, precision or Precision(), group)
    return builder.build(range(reader.config.num_layers) if layers is None else layers)


def build_layers(
    reader: WeightReader,
    dtype: torch.dtype,
    device: torch.device,
    precision: Precision,
    group: TensorGroup | None,
    layers: range,
) -> LayerStack:
    """Some layers alone, for a pipeline's later stages; as `build_model` otherwise."""
    return _Builder(reader, dtype, device, precision, group).stack(layers)


class _Builder:
    def __init__(
        self,
        reader: WeightReader,
        dtype: torch.dtype,
        device: torch.device,
        precision: Precision,
        group: TensorGroup | None,
    ) -> None:
        self._reader = reader
        self._config = reader.config
        self._dtype = dtype
        self._device = device
        self._precision = precision
        self._group = group
        self._kernels = self._cpu_kernels()
        self._has_triton = device.type == "cuda" and importlib.util.find_spec("triton") is not None
        self._check_precision()
        self._backend = self._pick_backend()

    def stack(self, wanted: range) -> LayerStack:
        layers = [self._layer(index) for index in wanted]
        return LayerStack(self._config, self._backend, layers)

    def build(self, wanted: range) -> LlamaModel:
        config = self._config
        layers = [self._layer(index) for index in wanted]
        embed = self._token_matrix("embed")
        head = embed if config.tied_embeddings else self._token_matrix("lm_head")
        norm = self._tensor("norm")
        if self._group is None:
            return LlamaModel(config, self._backend, embed, layers, norm, head)
        return LlamaModel(
            config,
            self._backend,
            VocabularyPart(embed, self._group, config.vocab_size),
            layers,
            norm,
            GatheredLogits(head, self._group, config.vocab_size),
        )

    def _layer(self, index: int) -> DecoderLayer:
        at = f"layers.{index}"
        return DecoderLayer(
            attn_norm=self._tensor(f"{at}.attn_norm"),
            qkv=self._linear(f"{at}.attn.q", f"{at}.attn.k", f"{at}.attn.v"),
            out=self._summed(self._linear(f"{at}.attn.o")),
            mlp_norm=self._tensor(f"{at}.mlp_norm"),
            mlp=self._mlp(at),
            query_norm=self._optional(f"{at}.attn.q_norm"),
            key_norm=self._optional(f"{at}.attn.k_norm"),
            window=self._config.windows.get(index),
        )

    def _mlp(self, at: str) -> Mlp:
        moe = self._config.moe
        if moe is None:
            return self._summed(self._swiglu(f"{at}.mlp"))
        router = DenseLinear(self._tensor(f"{at}.router"))
        own = range(moe.num_experts) if self._group is None else self._group.part(moe.num_experts)
        if self._has_triton and self._group is None and not self._precision.rounds_weights:
            return self._grouped_experts(at, router)
        experts = {index: self._swiglu(f"{at}.experts.{index}") for index in own}
        return self._summed(SparseExperts(moe, router, experts))

    def _grouped_experts(self, at: str, router: Linear) -> Mlp:
        from inference.kernels.gpu.experts import experts_swiglu

        assert self._config.moe is not None
        names = [f"{at}.experts.{index}" for index in range(self._config.moe.num_experts)]
        gate_up = [
            torch.cat((self._tensor(f"{name}.gate"), self._tensor(f"{name}.up"))) for name in names
        ]
        down = [self._tensor(f"{name}.down") for name in names]
        stacked = torch.stack(gate_up), torch.stack(down)
        return GroupedExperts(self._config.moe, router, *stacked, experts_swiglu)

    def _swiglu(self, at: str) -> SwiGLU:
        gate_up, down = self._linear(f"{at}.gate", f"{at}.up"), self._linear(f"{at}.down")
        return SwiGLU(self._backend, gate_up, down)

    def _summed(self, part: Part) -> Part | AllReduced:
        """With a group, each rank has a part of the sum."""
        return part if self._group is None else AllReduced(part, self._group)

    def _linear(self, *names: str) -> Linear:
        """The matrices below one another, as one."""
        return self._matrix(names, embedding=False)

    def _token_matrix(self, name: str) -> TokenMatrix:
        return self._matrix((name,), embedding=True)

    def _matrix(self, names: tuple[str, ...], *, embedding: bool) -> TokenMatrix:
        bias = None
        if self._reader.has(f"{names[0]}:bias"):
            bias = torch.cat([self._tensor(f"{name}:bias") for name in names])
        packed = self._packed(names)
        if packed is not None and (matrix := self._from_blocks(packed, bias)):
            return matrix
        dense = torch.cat([self._reader.read(name) for name in names])
        if self._precision.rounds_weights:
            kind = self._precision.kind(embedding=embedding)
            if fits_blocks(dense, kind):
                matrix = self._from_blocks(round_to_blocks(dense, kind), bias)
                assert matrix is not None
                return matrix
        return DenseLinear(dense.to(self._device, self._dtype), bias)

    def _packed(self, names: tuple[str, ...]) -> PackedRows | None:
        """The file's quantized rows below one another, if all are of one kind."""
        parts = [rows for name in names if (rows := self._reader.read_packed(name))]
        if len(parts) < len(names) or any(part.kind != parts[0].kind for part in parts):
            return None
        return PackedRows(parts[0].kind, torch.cat([p.data for p in parts]), parts[0].width)

    def _from_blocks(self, rows: PackedRows, bias: Tensor | None) -> TokenMatrix | None:
        """A matrix that computes from blocks; None where no kernel here can."""
        if self._kernels is not None:
            if not PackedLinear.takes(rows):
                return None
            rounds = self._precision.int8_activations
            return PackedLinear(self._kernels, rows, bias, int8_activations=rounds)
        if self._has_triton and self._precision.rounds_weights:
            from inference.kernels.gpu.packed_linear import TritonPackedLinear

            if TritonPackedLinear.takes(rows):
                return TritonPackedLinear(rows, bias, self._device, self._dtype)
        return None

    def _tensor(self, name: str) -> Tensor:
        return self._reader.read(name).to(self._device, self._dtype)

    def _optional(self, name: str) -> Tensor | None:
        return self._tensor(name) if self._reader.has(name) else None

    def _cpu_kernels(self) -> ctypes.CDLL | None:
        if self._device.type != "cpu" or self._dtype != torch.float32:
            return None
        config = self._config
        sizes = (config.hidden_size, config.intermediate_size, config.head_dim)
        return load_kernels() if CpuBackend.takes(sizes) else None

    def _pick_backend(self) -> Backend:
        if self._kernels is not None:
            return CpuBackend(self._kernels)
        if self._has_triton:
            from inference.kernels.gpu.backend import TritonBackend

            return TritonBackend()
        return TorchBackend()

    def _check_precision(self) -> None:
        precision = self._precision
        if precision.rounds_weights and self._kernels is None and not self._has_triton:
            raise ModelLoadError(
                "quantization needs our kernels: on a CPU a C++ compiler and float32, "
                "on a GPU Triton"
            )
        if precision.int8_activations:
            if self._kernels is None:
                raise ModelLoadError("int8 activations are implemented for CPUs")
            if not self._kernels.parley_has_int8():
                raise ModelLoadError("int8 activations need a processor with AVX2 and F16C")
