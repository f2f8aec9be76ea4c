"""Computes a step: lays the chunks out as one batch, runs the model, samples."""

from __future__ import annotations

import logging
from itertools import islice
from math import prod

import numpy as np
import psutil
import torch
from torch import Tensor

from inference.config import EngineConfig
from inference.engine.core import StepResult
from inference.engine.scheduler import Chunk
from inference.errors import ModelLoadError
from inference.model.batch import Batch, LayerCache, Singles, Span
from inference.model.build import build_model
from inference.model.config import ModelConfig
from inference.model.open import open_weights
from inference.model.pooling import MeanPooler
from inference.sampling.guide import Guides
from inference.sampling.sampler import Place, Sampler
from inference.sampling.verify import count_verified
from inference.text.load import load_text

log = logging.getLogger(__name__)


class ModelRunner:
    """The model, its KV cache and the sampler; a `StepRunner` of the engine core."""

    def __init__(self, config: EngineConfig) -> None:
        """Load the model and claim the memory of the KV cache.

        Raises:
            ModelLoadError: when the weights cannot be used, or too little memory is left.
        """
        if config.num_threads:
            torch.set_num_threads(config.num_threads)
        self._device = _pick_device(config)
        self._dtype = _pick_dtype(config, self._device)
        reader = open_weights(config.model)
        model = reader.config
        self._model = build_model(reader, self._dtype, self._device)
        self._block_size = config.block_size
        self.eos_token_ids = model.eos_token_ids
        self.vocab_size = model.vocab_size
        self.embedding_size = model.hidden_size
        self.max_model_len = min(config.max_model_len or model.max_position, model.max_position)
        self.num_blocks = self._size_cache(config, model)
        self._caches = self._allocate(model)
        guides = Guides(lambda: load_text(config.model)[0], model.eos_token_ids, model.vocab_size)
        self._sampler = Sampler(model.eos_token_ids, guides)
        self._pooler = MeanPooler()
        log.info(
            "%d blocks of %d tokens, %s on %s",
            self.num_blocks,
            self._block_size,
            self._dtype,
            self._device,
        )

    @torch.inference_mode()
    def execute(self, chunks: list[Chunk]) -> list[StepResult]:
        """Compute all chunks; a result for each that `samples`, None for the others."""
        ordered = sorted(chunks, key=lambda chunk: not _is_stream(chunk))
        batch = self._lay_out(ordered)
        hidden = self._model.hidden(batch, self._caches)
        results: dict[str, StepResult] = {}
        sampling = [chunk for chunk in ordered if chunk.samples and not chunk.request.pools]
        if sampling:
            places = [
                Place(chunk.request, chunk.draft[:guesses])
                for chunk in sampling
                for guesses in range(len(chunk.draft) + 1)
            ]
            drawn = iter(self._sampler(self._model.logits(hidden, batch.logits_rows), places))
            for chunk in sampling:
                own = list(islice(drawn, len(chunk.draft) + 1))
                results[chunk.request.request_id] = count_verified(chunk.draft, own)
        first_row = 0
        for chunk in ordered:
            if chunk.request.pools:
                results[chunk.request.request_id] = self._pooler(
                    chunk, first_row, lambda rows: self._model.normed(hidden, rows)
                )
            first_row += chunk.num_tokens
        return [results.get(chunk.request.request_id) for chunk in chunks]

    def _lay_out(self, chunks: list[Chunk]) -> Batch:
        """Flatten the chunks, single-token ones first, into tensors."""
        token_ids: list[int] = []
        positions: list[int] = []
        rows: list[int] = []
        spans: list[Span] = []
        slots: list[Tensor] = []
        streams = [chunk for chunk in chunks if _is_stream(chunk)]
        for chunk in chunks:
            end = chunk.start + chunk.num_tokens
            begin_row = len(token_ids)
            token_ids.extend(chunk.token_ids)
            positions.extend(range(chunk.start, end))
            if chunk.samples and not chunk.request.pools:
                rows.extend(range(len(token_ids) - 1 - len(chunk.draft), len(token_ids)))
            context = self._slots(chunk.request.block_ids, end)
            slots.append(context[chunk.start :])
            if not _is_stream(chunk):
                spans.append(Span(begin_row, len(token_ids), chunk.start, context))
        return Batch(
            token_ids=torch.tensor(token_ids, device=self._device),
            positions=torch.tensor(positions, device=self._device),
            slots=torch.cat(slots),
            singles=self._singles(streams) if streams else None,
            spans=tuple(spans),
            logits_rows=torch.tensor(rows, dtype=torch.long, device=self._device),
        )

    def _slots(self, block_ids: list[int], num_tokens: int) -> Tensor:
        """The cache slots of a sequence's first `num_tokens` tokens."""
        blocks = torch.tensor(block_ids, device=self._device)
        offsets = torch.arange(self._block_size, device=self._device)
        return (blocks[:, None] * self._block_size + offsets).flatten()[:num_tokens]

    def _singles(self, chunks: list[Chunk]) -> Singles:
        """A stream's guesses are queries of their own, each with one token more to attend to."""
        lengths = [chunk.start + 1 + i for chunk in chunks for i in range(chunk.num_tokens)]
        width = -(-max(lengths) // self._block_size)
        tables = [
            (chunk.request.block_ids + [0] * width)[:width]
            for chunk in chunks
            for _ in range(chunk.num_tokens)
        ]
        return Singles(
            tables=torch.tensor(tables, dtype=torch.int32, device=self._device),
            lengths=torch.tensor(lengths, dtype=torch.int32, device=self._device),
            block_size=self._block_size,
        )

    def _size_cache(self, config: EngineConfig, model: ModelConfig) -> int:
        """How many blocks fit; never more than all seats at full length can use."""
        per_token = (
            2 * model.num_layers * model.num_kv_heads * model.head_dim * self._dtype.itemsize
        )
        useful = config.scheduler.max_num_seqs * -(-self.max_model_len // self._block_size)
        if config.num_blocks is not None:
            blocks = config.num_blocks
        else:
            if self._device.type == "cuda":
                available, _ = torch.cuda.mem_get_info(self._device)
            else:
                available = psutil.virtual_memory().available
            room = int(available * config.kv_memory_fraction)
            blocks = min(useful, room // (per_token * self._block_size))
        if blocks * self._block_size < self.max_model_len:
            raise ModelLoadError(
                f"{blocks} KV blocks hold {blocks * self._block_size} tokens, fewer than one "
                f"sequence of {self.max_model_len}: lower --max-model-len or give more memory"
            )
        return blocks

    def _allocate(self, model: ModelConfig) -> list[LayerCache]:
        shape = (self.num_blocks * self._block_size, model.num_kv_heads, model.head_dim)

        def empty() -> Tensor:
            if self._device.type == "cpu":
                # NumPy's zeros are untouched pages: memory is used when a block first is.
                size = prod(shape) * self._dtype.itemsize
                return torch.from_numpy(np.zeros(size, np.uint8)).view(self._dtype).view(shape)
            return torch.zeros(shape, dtype=self._dtype, device=self._device)

        return [LayerCache(empty(), empty()) for _ in range(model.num_layers)]


def _is_stream(chunk: Chunk) -> bool:
    """Whether its tokens are few and each is a query alone: one, or one and its guesses."""
    return chunk.num_tokens == 1 or bool(chunk.draft)


def _pick_device(config: EngineConfig) -> torch.device:
    if config.device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(config.device)


def _pick_dtype(config: EngineConfig, device: torch.device) -> torch.dtype:
    """bf16 on a GPU; float32 on a CPU, where it equals the reference token for token."""
    if config.dtype == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    dtype = getattr(torch, config.dtype)
    assert isinstance(dtype, torch.dtype)
    return dtype
