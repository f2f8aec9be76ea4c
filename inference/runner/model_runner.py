"""Computes a step: lays the chunks out as one batch, runs the model, samples."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from inference.config import EngineConfig
from inference.core import BlockCopies, Chunk, StageTimes, StepResult
from inference.errors import AdapterError, ModelLoadError
from inference.kernels.batch import Batch, Slots
from inference.model.adapters import AdapterTargets
from inference.model.build import build_model, build_vision
from inference.model.config import ModelConfig
from inference.model.cuda_graphs import GraphedModel, GraphLayout
from inference.model.decoder import Decoder, Encoder
from inference.model.files.open import open_weights
from inference.model.files.weights import WeightReader
from inference.model.kv_memory import (
    allocate_caches,
    count_blocks,
    count_states,
    longest_sequence,
    state_bytes,
    token_bytes,
)
from inference.model.placement import pick_device, pick_dtype, pick_kv_dtype, pick_precision
from inference.model.readout import Readout
from inference.parallel.launch import (
    Leader,
    check_can_be_split,
    is_parallel,
    lead,
    spare_slots,
)
from inference.parallel.leader import LeadingModel
from inference.quantization.precision import Precision
from inference.runner.adapters import RunningAdapters
from inference.runner.block_transfer import BlockTransfer, fingerprint
from inference.runner.checksum import BlockChecksums
from inference.runner.images import ImageFeatures, positions_of
from inference.runner.layout import StepLayout
from inference.runner.pooling import MeanPooler
from inference.runner.swap_memory import SwapMemory
from inference.sampling.guide import Guides
from inference.sampling.row_sampler import pick_row_sampler
from inference.sampling.sampler import LogitsRow, Sampler, accepted
from inference.text.load import load_text

log = logging.getLogger(__name__)

_AXES = 3
"""Time, row and column."""


class ModelRunner:
    """The model, its KV cache and the sampler; a `StepRunner` of the engine core."""

    def __init__(self, config: EngineConfig, stages: StageTimes | None = None) -> None:
        """Load the model and claim the memory of the KV cache.

        Args:
            stages: is told when each of this is done.
        Raises:
            ModelLoadError: when the weights cannot be used, or too little memory is left.
        """
        if config.num_threads:
            torch.set_num_threads(config.num_threads)
        self._device = pick_device(config)
        self._dtype = pick_dtype(config, self._device)
        model = self._load(config, stages or StageTimes())
        self._block_size = config.block_size
        self.eos_token_ids = model.eos_token_ids
        self.vocab_size = model.vocab_size
        self.embedding_size = model.hidden_size
        self.is_encoder = model.is_encoder
        self.sees_images = self._images is not None
        self.window = model.window
        self.max_model_len = longest_sequence(config, model)
        self._layout = self._step_layout(0)
        self._windowed_layout = self._step_layout(1) if self.windowed else None
        self.guides = Guides(
            lambda: load_text(config.model)[0], model.eos_token_ids, model.vocab_size
        )
        self._sampler = Sampler(model.eos_token_ids, self.guides, pick_row_sampler(self._device))
        self._pooler = MeanPooler()
        self.written: Callable[[list[Chunk], int], None] | None = None
        """Told in the middle of a step, after each layer, how many layers of `blocks` have the
        chunks' keys and values."""
        log.info(
            "%d blocks of %d tokens%s, in %s up to %.1f MB; %s%s on %s",
            self.num_blocks,
            self._block_size,
            f", {self.windowed.num_blocks} of layers with a window" if self.windowed else "",
            self.kv_dtype,
            self.kv_bytes / 1e6,
            self._dtype,
            ", activations in int8" if self._rounds else "",
            self._device,
        )

    def close(self) -> None:
        """End the other ranks, where the model has several."""
        if self.adapters is not None:
            self.adapters.close()
        if self._leader is not None:
            self._leader.close()

    def _load(self, config: EngineConfig, stages: StageTimes) -> ModelConfig:
        """Weights and caches: here, or here and on the ranks that this one leads."""
        self._leader: Leader | None = None
        self._readout: Readout | None = None
        self._images: ImageFeatures | None = None
        self.adapters: RunningAdapters | None = None
        self.whole_images = False
        self._model: Encoder | GraphedModel | LeadingModel
        self._decoder: Decoder | GraphedModel | LeadingModel | None = None
        """The model, where it predicts tokens; the server refuses answers of one that does not."""
        if is_parallel(config):
            _check_options_on_several_ranks(config)
            check_can_be_split(config)  # before any other rank is started or waited for
            self._leader = lead(config, self._dtype, self._device)
            self._model = self._decoder = self._leader.model
            own, num_layers = self._leader.part.config, self._leader.part.num_layers
            precision = self._leader.part.precision
            stages.end("weights")
        else:
            reader = open_weights(config.model)
            _check_options_beside_states(config, reader.config)
            precision = pick_precision(config, reader, self._dtype, self._device)
            self._readout = _read(config, reader.config, self._device)
            targets = self._targets(config, reader, precision)
            self._model = build_model(
                *(reader, self._dtype, self._device, precision),
                readout=self._readout,
                adapters=targets,
                stages=stages,
            )
            if targets is not None:
                self.adapters = RunningAdapters(targets, config.max_loras)
            if isinstance(self._model, Decoder):
                self._decoder = self._model
            tower = build_vision(reader, self._dtype, self._device)
            if tower is not None:
                self._images = ImageFeatures(tower, config.image_cache_bytes)
                self.whole_images = reader.architecture.whole_images
                stages.end("images")
            own, num_layers = reader.config, reader.config.num_layers
        self._allocate(config, own, num_layers, precision)
        stages.end("keys and values")
        return own

    def _allocate(
        self, config: EngineConfig, own: ModelConfig, num_layers: int, precision: Precision
    ) -> None:
        """The memory of the cache, and what copies, checks and records it."""
        self._rounds = precision.int8_activations
        kv_dtype = pick_kv_dtype(config, precision, self._dtype)
        self.kv_dtype = str(kv_dtype).removeprefix("torch.")
        self.num_states = count_states(config, own, self._device)
        of_states = state_bytes(own, self.num_states)
        counts = count_blocks(config, own, num_layers, kv_dtype, self._device, of_states)
        if self._leader:
            counts = counts.agreed(self._leader.world.least)
        self.num_blocks, self.windowed = counts.num_blocks, counts.windowed
        on_gpu = self._device.type == "cuda"
        capture = self._leader.capture if self._leader is not None else None
        spare = spare_slots(config, self._device, capture)
        slots = counts.slots(own, num_layers, config.block_size)
        self._caches = allocate_caches(
            *([each + spare for each in slots], own, num_layers),
            *(kv_dtype, self._device, self.num_states),
        )
        self.kv_bytes = sum(slots) * token_bytes(own, 1, kv_dtype) + of_states
        if on_gpu and isinstance(self._model, Decoder) and self._model.layers.can_be_recorded:
            width = -(-longest_sequence(config, own) // config.block_size)
            seats = config.scheduler.max_num_seqs
            size = config.block_size
            layout = GraphLayout.up_to(seats, width, size, *counts.spare_slots(size))
            graphed = GraphedModel(self._model, layout)
            graphed.record(self._caches)
            self._model = self._decoder = graphed
        if self._leader is not None:
            self._leader.record(config, self._caches, counts)
        self.num_readouts = self._readout.num if self._readout else 0
        kept: list[Slots] = [*self._caches]
        if self._readout is not None:
            self._readout.allocate(self.num_blocks * config.block_size + spare)
            kept.append(self._readout)
        model_id = fingerprint(own, self._dtype, kv_dtype, config.block_size, self.num_readouts)
        self._blocks = BlockTransfer(kept, config.block_size, model_id)
        apart = own.reach if self.windowed else {}
        by_group: tuple[list[Slots], list[Slots]] = ([], [])
        for index, one in enumerate(kept):
            by_group[index in apart].append(one)
        self._checksums = [BlockChecksums(group, config.block_size) for group in by_group]
        self._swap = SwapMemory(kept, config.block_size, config.swap_blocks)

    def _targets(
        self, config: EngineConfig, reader: WeightReader, precision: Precision
    ) -> AdapterTargets | None:
        """What adapters may change, where the engine takes any. They are rounded to int8 where what
        is computed beside them is rounded too."""
        if not config.max_loras:
            return None
        dtype = torch.int8 if precision.int8_activations else self._dtype
        return AdapterTargets(
            reader.architecture, reader.config, dtype, self._device, config.max_lora_rank
        )

    def adapter_key(self, adapter_id: int) -> str:
        """What tells a loaded adapter's content from any other's."""
        if self.adapters is None:
            raise AdapterError("this engine takes no adapters")
        return self.adapters.key(adapter_id)

    @torch.inference_mode()
    def execute(self, chunks: list[Chunk]) -> list[StepResult]:
        """Compute all chunks; a result for each that `samples`, None for the others."""
        ordered = sorted(chunks, key=lambda chunk: (not chunk.is_decode, chunk.request.adapter_id))
        batch = self._lay_out(ordered)
        if self.written is not None:
            batch = replace(batch, written=self._listener(ordered, self.written))
        sampling = [
            chunk for chunk in ordered if chunk.samples and not chunk.request.wants_embedding
        ]
        rows = [
            LogitsRow(chunk.request, chunk.draft[:length])
            for chunk in sampling
            for length in range(len(chunk.draft) + 1)
        ]
        self._sampler.prepare(rows)
        hidden = self._model.hidden(batch, self._caches)
        results: dict[str, StepResult] = {}
        if sampling:
            assert self._decoder is not None, "an encoder predicts no tokens"
            sampled = iter(self._sampler(self._decoder.logits(hidden, batch.logits_rows), rows))
            for chunk in sampling:
                own = list(islice(sampled, len(chunk.draft) + 1))
                results[chunk.request.request_id] = accepted(chunk.draft, own)
        first_row = 0
        for chunk in ordered:
            if chunk.request.wants_embedding:
                results[chunk.request.request_id] = self._pooler(
                    chunk, first_row, lambda rows: self._model.normed(hidden, rows)
                )
            first_row += chunk.num_tokens
        return [results.get(chunk.request.request_id) for chunk in chunks]

    def _listener(
        self, chunks: list[Chunk], notify: Callable[[list[Chunk], int], None]
    ) -> Callable[[int], None]:
        """Passes on how many layers are written; what is kept beside them is when the last is."""

        def written(num_layers: int) -> None:
            all_of_them = num_layers == len(self._caches)
            notify(chunks, self.blocks.num_layers if all_of_them else num_layers)

        return written

    def readouts(self, block_ids: Sequence[int], begin: int, end: int) -> bytes:
        """Of the computed tokens [begin, end) of a sequence in these blocks."""
        assert self._readout is not None, "the server refuses who asks for them"
        values = self._readout.values[self._layout.slots(block_ids, begin, end)]
        return values.cpu().numpy().astype("<f4").tobytes()

    def copy_blocks(self, copies: BlockCopies) -> None:
        """Copy blocks to host memory and back."""
        self._swap.copy(copies)

    @property
    def blocks(self) -> BlockTransfer:
        """What moves blocks out of the cache and into it.

        Raises:
            ModelLoadError: when layers with a window have blocks of their own.
        """
        if self.windowed is not None:
            raise ModelLoadError("blocks leave the cache of layers that all have the same, alone")
        return self._blocks

    def checksums(self, block_ids: Sequence[int], group: int = 0) -> list[int]:
        """One number for each block, of what it holds here; other ranks' parts not counted."""
        return self._checksums[group](block_ids)

    def _step_layout(self, group: int) -> StepLayout:
        return StepLayout(
            *(group, self._block_size, self.max_model_len, self._device),
            whole_images=self.whole_images,
            has_states=bool(self.num_states),
        )

    def _lay_out(self, chunks: list[Chunk]) -> Batch:
        """Flatten the chunks, the decode batch first, into tensors."""
        token_ids: list[int] = []
        rows: list[int] = []
        for chunk in chunks:
            token_ids.extend(chunk.token_ids)
            if chunk.samples and not chunk.request.wants_embedding:
                rows.extend(range(len(token_ids) - 1 - len(chunk.draft), len(token_ids)))
        logits_rows = torch.tensor(rows, dtype=torch.long, device=self._device)
        pools = any(chunk.request.wants_embedding for chunk in chunks)
        places = self._layout.places(chunks)
        return Batch(
            token_ids=torch.tensor(token_ids, device=self._device),
            positions=self._positions(chunks),
            slots=places.slots,
            decode=places.decode,
            prefill=places.prefill,
            logits_rows=logits_rows,
            features=self._images.of(chunks) if self._images is not None else None,
            adapters=self.adapters.rows(chunks) if self.adapters is not None else (),
            read_rows=None if pools or self._leader is not None else logits_rows,
            windowed=self._windowed_layout.places(chunks) if self._windowed_layout else None,
        )

    def _positions(self, chunks: list[Chunk]) -> Tensor:
        """(T,), or (3, T) where a chunk has tokens that stand in rows and columns."""
        each = [
            positions_of(chunk.request.images, chunk.start, chunk.start + chunk.num_tokens)
            for chunk in chunks
        ]
        if all(len(one) == 1 for one in each):
            return torch.tensor([at for [one] in each for at in one], device=self._device)
        whole = [one if len(one) == _AXES else one * _AXES for one in each]
        joined = [[at for one in whole for at in one[axis]] for axis in range(_AXES)]
        return torch.tensor(joined, device=self._device)


def _read(config: EngineConfig, model: ModelConfig, device: torch.device) -> Readout | None:
    """What is read between the layers, where a file is named.

    Raises:
        ModelLoadError: when it does not fit the model.
    """
    if config.readout is None:
        return None
    if model.is_encoder:
        raise ModelLoadError("--readout cannot be had for a model that makes vectors")
    return Readout.load(Path(config.readout), model, device)


def _check_options_beside_states(config: EngineConfig, model: ModelConfig) -> None:
    """Raises ModelLoadError for an option that takes blocks for all that is kept of a sequence."""
    if not model.state_shapes:
        return
    if config.swap_blocks:
        raise ModelLoadError("--swap-blocks cannot be had for a model with states")
    if config.prefill_from is not None:
        raise ModelLoadError("--prefill-from cannot be had for a model with states")
    if config.kv_store is not None or config.kv_store_memory:
        raise ModelLoadError("--kv-store cannot be had for a model with states")


def _check_options_on_several_ranks(config: EngineConfig) -> None:
    """Raises ModelLoadError for an option that reaches this rank's part of the cache only."""
    if config.swap_blocks:
        raise ModelLoadError("--swap-blocks cannot be had for a model on several ranks")
    if config.readout is not None:
        raise ModelLoadError("--readout cannot be had for a model on several ranks")
    if config.max_loras:
        raise ModelLoadError("--enable-lora cannot be had for a model on several ranks")
    if config.prefill_from is not None:
        raise ModelLoadError("--prefill-from cannot be had for a model on several ranks")
    if config.kv_store is not None or config.kv_store_memory:
        raise ModelLoadError("--kv-store cannot be had for a model on several ranks")
