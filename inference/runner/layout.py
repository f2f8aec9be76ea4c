"""Where a step's tokens lie: its chunks' slots and block tables, of layers of one kind."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from inference.core import Chunk, Request
from inference.kernels.batch import DecodeBatch, Places, PrefillChunk
from inference.runner.block_tables import BlockTables


class StepLayout:
    """Lays chunks out by the tables of one group of layers."""

    def __init__(
        self,
        group: int,
        block_size: int,
        longest: int,
        device: torch.device,
        *,
        whole_images: bool,
        has_states: bool,
    ) -> None:
        """
        Args:
            group: which of a request's tables.
            longest: tokens of the longest sequence.
            whole_images: whether the tokens of an image attend to one another.
            has_states: whether layers keep a state of each sequence.
        """
        self._group = group
        self._block_size = block_size
        self._device = device
        self._whole_images = whole_images
        self._has_states = has_states
        self._tables = BlockTables(-(-longest // block_size), device, group)

    def places(self, chunks: Sequence[Chunk]) -> Places:
        """Of chunks in the order of the batch, those that decode first."""
        prefill: list[PrefillChunk] = []
        slots: list[Tensor] = []
        row = 0
        for chunk in chunks:
            end = chunk.start + chunk.num_tokens
            if chunk.is_decode:
                slots.append(self.slots(self._block_ids(chunk.request), chunk.start, end))
            else:
                context = self._context(chunk.request, end)
                slots.append(context[chunk.start :])
                images = _whole(chunk) if self._whole_images else ()
                rows_of = (row, row + chunk.num_tokens, chunk.start)
                prefill.append(PrefillChunk(*rows_of, context, images, chunk.request.state_slot))
            row += chunk.num_tokens
        decode = [chunk for chunk in chunks if chunk.is_decode]
        return Places(
            torch.cat(slots), self._decode_batch(decode) if decode else None, tuple(prefill)
        )

    def slots(self, block_ids: Sequence[int], begin: int, end: int) -> Tensor:
        """The cache slots of some tokens of a sequence."""
        size = self._block_size
        slots = [block_ids[at // size] * size + at % size for at in range(begin, end)]
        return torch.tensor(slots, dtype=torch.long, device=self._device)

    def _block_ids(self, request: Request) -> list[int]:
        return request.tables[self._group].block_ids

    def _context(self, request: Request, end: int) -> Tensor:
        """The cache slots of a request's first `end` tokens."""
        [blocks] = self._tables.of([request], -(-end // self._block_size))
        offsets = torch.arange(self._block_size, device=self._device)
        return (blocks.long()[:, None] * self._block_size + offsets).flatten()[:end]

    def _decode_batch(self, chunks: list[Chunk]) -> DecodeBatch:
        """A chunk's tokens are queries of their own, each with one token more to attend to."""
        lengths = [chunk.start + 1 + i for chunk in chunks for i in range(chunk.num_tokens)]
        width = -(-max(lengths) // self._block_size)
        requests = [chunk.request for chunk in chunks for _ in range(chunk.num_tokens)]
        return DecodeBatch(
            tables=self._tables.of(requests, width),
            lengths=torch.tensor(lengths, dtype=torch.int32, device=self._device),
            block_size=self._block_size,
            states=self._states(chunks) if self._has_states else None,
        )

    def _states(self, chunks: list[Chunk]) -> Tensor:
        """Slots of the states of decode requests; none of them has draft tokens."""
        return torch.tensor([chunk.request.state_slot for chunk in chunks], device=self._device)


def _whole(chunk: Chunk) -> tuple[tuple[int, int], ...]:
    """The images of which a chunk has tokens."""
    end = chunk.start + chunk.num_tokens
    return tuple(
        (image.start, image.end)
        for image in chunk.request.images
        if image.overlaps(chunk.start, end)
    )
