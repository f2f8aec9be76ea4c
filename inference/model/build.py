"""Puts a model together from weights: which storage and which backend each part gets."""

from __future__ import annotations

import ctypes
import importlib.util
import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from inference.core import StageTimes
from inference.errors import ModelLoadError
from inference.kernels.backend import Backend, TorchBackend
from inference.kernels.batch import Batch, LayerCache, PrefillChunk
from inference.kernels.cpu.backend import CpuBackend
from inference.kernels.cpu.compile import load_kernels
from inference.kernels.cpu.low_rank import CpuLowRank
from inference.kernels.cpu.packed_embedding import PackedEmbedding
from inference.kernels.cpu.packed_linear import PackedLinear
from inference.model.adapters import AdapterTargets
from inference.model.architecture import Split, VisionTower
from inference.model.config import MoeConfig, RopeConfig
from inference.model.decoder import Decoder, DecoderEnds, Encoder, LayerStack
from inference.model.files.weights import WeightReader
from inference.model.layers.experts import GroupedExperts, SparseExperts
from inference.model.layers.linear import DenseLinear, Embedding, Linear, TokenMatrix
from inference.model.layers.mlp import Mlp, SwiGLU
from inference.model.layers.ranks import AllReduced, GatheredLogits, RankGroup, VocabularyPart
from inference.model.layers.rope import Rotary
from inference.model.readout import Readout
from inference.quantization.packed import PackedRows, joined, runs_of_a_kind
from inference.quantization.precision import Precision
from inference.quantization.rounding import fits_blocks, round_to_blocks

if TYPE_CHECKING:
    from inference.kernels.gpu.experts import ExpertMatrices

log = logging.getLogger(__name__)


def build_model(
    reader: WeightReader,
    dtype: torch.dtype,
    device: torch.device,
    precision: Precision | None = None,
    group: RankGroup | None = None,
    layers: range | None = None,
    readout: Readout | None = None,
    adapters: AdapterTargets | None = None,
    stages: StageTimes | None = None,
) -> Encoder | Decoder:
    """Read the weights and put the model together: a decoder, where its ends predict tokens.

    On a CPU in float32, quantized matrices stay as their file has them and our kernels
    compute from them, where those could be compiled; everything else is dense.

    Args:
        reader: with a `group`, one that gives this rank's part (`parallel/shard.py`).
        group: the ranks whose parts make up each product.
        layers: those that are wanted; all of them when None.
        readout: what is read between the layers.
        adapters: is told the products that adapters may change.
        stages: is told when the weights are read, and when the first token is computed.
    Raises:
        ModelLoadError: when a tensor is missing or unreadable, or the precision cannot be
            had here.
    """
    load = WeightLoader(reader, dtype, device, precision or Precision(), group, adapters)
    stages = stages or StageTimes()
    wanted = range(reader.config.num_layers) if layers is None else layers
    stack = load.stack(wanted, readout)
    ends = reader.architecture.ends(load)
    stages.end("weights")
    if not isinstance(ends, DecoderEnds):
        return Encoder(reader.config, stack, ends)
    model = Decoder(reader.config, stack, ends)
    if load.has_kernels and group is None:
        _check_sizes(model)
        stages.end("first token")
    return model


def build_decoder(
    reader: WeightReader,
    dtype: torch.dtype,
    device: torch.device,
    precision: Precision | None = None,
    group: RankGroup | None = None,
    layers: range | None = None,
    readout: Readout | None = None,
    adapters: AdapterTargets | None = None,
) -> Decoder:
    """As `build_model`, for what needs logits.

    Raises:
        ModelLoadError: also for an encoder.
    """
    model = build_model(reader, dtype, device, precision, group, layers, readout, adapters)
    if not isinstance(model, Decoder):
        raise ModelLoadError(f"{reader.config.architecture} is an encoder: it predicts no tokens")
    return model


def _check_sizes(model: Decoder) -> None:
    """Compute one token: kernels take sizes as they are told, and layers are fused only where
    theirs fit.

    Raises:
        ModelLoadError: when matrices do not fit one another.
    """
    zero = torch.zeros(1, dtype=torch.long)
    batch = Batch(zero, zero, zero, None, (PrefillChunk(0, 1, 0, zero),), zero)
    shape = (2, 1, model.config.num_kv_heads, model.config.head_dim)
    states = tuple(torch.zeros(1, *state) for state in model.config.state_shapes)
    keys, values = torch.zeros(shape)
    caches = [LayerCache(keys, values, states=states) for _ in range(len(model.layers))]
    try:
        with torch.inference_mode():
            logits = model(batch, caches)
    except (ValueError, RuntimeError, IndexError) as error:
        raise ModelLoadError(f"matrices do not fit one another: {error}") from error
    if logits.shape[-1] != model.config.vocab_size:
        raise ModelLoadError(f"{logits.shape[-1]} logits for {model.config.vocab_size} tokens")


def build_vision(
    reader: WeightReader, dtype: torch.dtype, device: torch.device
) -> VisionTower | None:
    """What looks at images, in the type that is computed in; None where the family has nothing.

    Raises:
        ModelLoadError: when a tensor is missing or unreadable.
    """
    if reader.architecture.vision is None:
        return None
    load = WeightLoader(reader, dtype, device, Precision(), None)
    return reader.architecture.vision(load)


def build_layers(
    reader: WeightReader,
    dtype: torch.dtype,
    device: torch.device,
    precision: Precision,
    group: RankGroup | None,
    layers: range,
) -> LayerStack:
    """Some layers alone, for a pipeline's later stages; as `build_model` otherwise."""
    return WeightLoader(reader, dtype, device, precision, group).stack(layers)


def can_round_activations(reader: WeightReader, dtype: torch.dtype, device: torch.device) -> bool:
    """Whether our kernels, built here, compute this model with int8 activations."""
    kernels = _cpu_kernels(reader, dtype, device)
    return kernels is not None and bool(kernels.parley_has_int8())


def _cpu_kernels(
    reader: WeightReader, dtype: torch.dtype, device: torch.device
) -> ctypes.CDLL | None:
    if device.type != "cpu" or dtype != torch.float32:
        return None
    sizes = reader.architecture.vector_sizes(reader.config)
    return load_kernels() if CpuBackend.takes(sizes) else None


class WeightLoader:
    """The `Loader` of an architecture's file: gives it matrices by name, and hides how each is
    stored, computed and shared out among ranks."""

    def __init__(
        self,
        reader: WeightReader,
        dtype: torch.dtype,
        device: torch.device,
        precision: Precision,
        group: RankGroup | None,
        adapters: AdapterTargets | None = None,
    ) -> None:
        self.config = reader.config
        self._adapters = adapters
        self._reader = reader
        self._architecture = reader.architecture
        self._dtype = dtype
        self._device = device
        self._precision = precision
        self._group = group
        self._kernels = _cpu_kernels(reader, dtype, device)
        self._has_triton = device.type == "cuda" and importlib.util.find_spec("triton") is not None
        self.has_kernels = self._kernels is not None
        self._check_precision()
        self.backend = self._pick_backend()
        self._token_matrices: dict[str, TokenMatrix] = {}
        self._rotaries: dict[RopeConfig, Rotary] = {}

    def stack(self, wanted: range, readout: Readout | None = None) -> LayerStack:
        """The layers of these numbers."""
        layers = [self._architecture.layer(self, index) for index in wanted]
        step = None if self._adapters is None else self._adapters.step
        return LayerStack(self.config, self.backend, layers, step, readout)

    def tensor(self, name: str) -> Tensor:
        return self._reader.read(name).to(self._device, self._dtype)

    def linear(self, *names: str) -> Linear:
        matrix = self._matrix(names, embedding=False)
        if self._group is not None and self._architecture.split(names[0]) is Split.COLUMNS:
            return AllReduced(matrix, self._group)
        if self._adapters is None or not self._adapters.takes(names):
            return matrix
        shapes = {name: self._shape(name) for name in names}
        add = CpuLowRank(self._kernels) if self._kernels is not None else None
        return self._adapters.adaptable(matrix, shapes, add)

    def embedding(self, name: str) -> Embedding:
        if self._group is None and not self.config.tied_embeddings and self._kernels is not None:
            rows = self._reader.read_packed(name)
            if rows is not None and PackedEmbedding.takes(rows):
                return PackedEmbedding(self._kernels, rows)
        matrix = self._token_matrix(name)
        if self._group is None:
            return matrix
        return VocabularyPart(matrix, self._group, self.config.vocab_size)

    def logits(self, name: str) -> Linear:
        matrix = self._token_matrix(name)
        if self._group is None:
            return matrix
        return GatheredLogits(matrix, self._group, self.config.vocab_size)

    def has(self, name: str) -> bool:
        return self._reader.has(name)

    def experts(self, at: str, moe: MoeConfig, correction: Tensor | None = None) -> Mlp:
        router = DenseLinear(self.tensor(f"{at}.router"))
        plain = self._group is None and correction is None and not moe.weighs_input
        if self._has_triton and plain and (grouped := self._grouped_experts(at, moe, router)):
            return grouped
        own = range(moe.num_experts) if self._group is None else self._group.part(moe.num_experts)
        computed = {i: self._expert(f"{at}.experts.{i}") for i in own}
        experts = SparseExperts(moe, router, computed, correction)
        if self._group is None:
            return experts
        return AllReduced(experts, self._group, waits_for_device=experts.waits_for_device)

    def rotary(self, rope: RopeConfig) -> Rotary:
        """One for all layers that turn alike."""
        if rope not in self._rotaries:
            head_dim, longest = self.config.head_dim, self.config.max_position
            self._rotaries[rope] = Rotary(rope, head_dim, longest, self._device)
        return self._rotaries[rope]

    def _expert(self, at: str) -> SwiGLU:
        gate_up, down = self.linear(f"{at}.gate", f"{at}.up"), self.linear(f"{at}.down")
        return SwiGLU(self.backend, gate_up, down)

    def _grouped_experts(self, at: str, moe: MoeConfig, router: Linear) -> Mlp | None:
        """All experts by one kernel; None where they are in blocks that it cannot read."""
        from inference.kernels.gpu.experts import DenseExperts, experts_swiglu

        experts = [f"{at}.experts.{index}" for index in range(moe.num_experts)]

        def matrices(*parts: str) -> ExpertMatrices | None:
            names = [tuple(f"{expert}.{part}" for part in parts) for expert in experts]
            if self._precision.rounds_weights:
                return self._packed_experts(names)
            return DenseExperts(
                torch.stack([torch.cat([self.tensor(name) for name in own]) for own in names])
            )

        gate_up, down = matrices("gate", "up"), matrices("down")
        if gate_up is None or down is None:
            return None
        return GroupedExperts(moe, router, partial(experts_swiglu, gate_up=gate_up, down=down))

    def _packed_experts(self, names: Sequence[tuple[str, ...]]) -> ExpertMatrices | None:
        """A matrix of each expert, of several parts each; None where one is in other blocks than
        the others, or in such as are not read."""
        from inference.kernels.gpu.packed_experts import PackedExperts

        found: list[PackedRows] = []
        for own in names:
            parts = self._packed(own)
            if not parts:
                dense = torch.cat([self._reader.read(name) for name in own])
                kind = self._precision.kind(embedding=False)
                parts = [round_to_blocks(dense, kind)] if fits_blocks(dense, kind) else []
            runs = runs_of_a_kind(parts)
            if len(runs) != 1:
                return None
            found.append(joined(runs[0]))
        return PackedExperts(found, self._device) if PackedExperts.takes(found) else None

    def _token_matrix(self, name: str) -> TokenMatrix:
        """Read once where rows and logits come from the same."""
        if name not in self._token_matrices:
            self._token_matrices[name] = self._matrix((name,), embedding=True)
        return self._token_matrices[name]

    def _shape(self, name: str) -> tuple[int, int]:
        """Rows and width of a matrix."""
        if packed := self._reader.read_packed(name):
            return len(packed.data), packed.width
        rows, width = self._reader.read(name).shape
        return rows, width

    def _matrix(self, names: tuple[str, ...], *, embedding: bool) -> TokenMatrix:
        """The matrices below one another, as one."""
        bias = None
        if self._reader.has(f"{names[0]}:bias"):
            bias = torch.cat([self.tensor(f"{name}:bias") for name in names])
        if matrix := self._from_blocks(self._packed(names), bias):
            self._reader.release()  # or the file would be in memory twice
            return matrix
        dense = torch.cat([self._reader.read(name) for name in names])
        if self._precision.rounds_weights:
            kind = self._precision.kind(embedding=embedding)
            if fits_blocks(dense, kind):
                matrix = self._from_blocks([round_to_blocks(dense, kind)], bias)
                assert matrix is not None
                return matrix
        return DenseLinear(dense.to(self._device, self._dtype), bias)

    def _packed(self, names: tuple[str, ...]) -> list[PackedRows]:
        """The file's quantized rows below one another; none where some are not quantized."""
        parts: list[PackedRows] = []
        for name in names:
            rows = self._reader.read_packed(name)
            if rows is None:
                return []
            if parts and parts[0].width != rows.width:
                raise ModelLoadError(
                    f"{name} has {rows.width} columns, {names[0]} {parts[0].width}"
                )
            parts.append(rows)
        return parts

    def _from_blocks(self, parts: list[PackedRows], bias: Tensor | None) -> TokenMatrix | None:
        """A matrix that computes from blocks; None where no kernel here can."""
        if self._kernels is not None:
            if not PackedLinear.takes(self._kernels, parts):
                return None
            count = sum(len(part.data) for part in parts)
            if bias is not None and len(bias) != count:
                raise ModelLoadError(f"a bias of {len(bias)} numbers for {count} rows")
            rounds = self._precision.int8_activations
            return PackedLinear(self._kernels, parts, bias, int8_activations=rounds)
        if (
            self._has_triton
            and self._precision.rounds_weights
            and len(runs := runs_of_a_kind(parts)) == 1
        ):
            from inference.kernels.gpu.packed_linear import TritonPackedLinear

            if TritonPackedLinear.takes(whole := joined(runs[0])):
                return TritonPackedLinear(whole, bias, self._device, self._dtype)
        return None

    def _pick_backend(self) -> Backend:
        if self._kernels is not None:
            return CpuBackend(self._kernels, rounds_attention=self._precision.int8_activations)
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
            self._kernels.parley_allow_tiles(precision.tiles)
