"""Attention within chunks of a sequence: a token attends to those before it in its own chunk.

It is causal attention over another batch, in which each sequence begins where the chunk does; so
every backend computes it with the kernels that it has. Source: Meta 2025, Llama 4.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from inference.kernels.batch import Batch, DecodeBatch, PrefillChunk


def in_chunks(batch: Batch, size: int) -> Batch:
    """The batch whose sequences begin with the chunks of `size` tokens that its tokens are in."""
    prefill = [part for chunk in batch.prefill for part in _parts(chunk, size)]
    decode = batch.decode
    if decode is not None and size % decode.block_size:
        return replace(batch, decode=None, prefill=(*_alone(decode, size), *prefill))
    return replace(batch, decode=decode and _moved(decode, size), prefill=tuple(prefill))


def _parts(chunk: PrefillChunk, size: int) -> list[PrefillChunk]:
    """A prompt's chunk, cut where chunks of attention begin."""
    end = chunk.start + chunk.end - chunk.begin
    parts = []
    for first in range(chunk.start // size * size, end, size):
        begins, ends = max(first, chunk.start), min(first + size, end)
        parts.append(
            replace(
                chunk,
                begin=chunk.begin + begins - chunk.start,
                end=chunk.begin + ends - chunk.start,
                start=begins - first,
                slots=chunk.slots[first:ends],
            )
        )
    return parts


def _moved(decode: DecodeBatch, size: int) -> DecodeBatch:
    """Tables that begin with the block in which the chunk does."""
    before = (decode.lengths - 1) // size * size
    width = min(decode.tables.shape[1], size // decode.block_size)
    columns = (
        torch.arange(width, device=decode.tables.device) + before[:, None] // decode.block_size
    )
    tables = decode.tables.gather(1, columns.clamp(max=decode.tables.shape[1] - 1).long())
    return replace(decode, tables=tables, lengths=decode.lengths - before)


def _alone(decode: DecodeBatch, size: int) -> list[PrefillChunk]:
    """Where chunks begin within a block: each row as a prompt's chunk of one token."""
    parts = []
    for row, length in enumerate(decode.lengths.tolist()):
        first = (length - 1) // size * size
        slots = decode.slots[row, first:length]
        parts.append(PrefillChunk(row, row + 1, length - 1 - first, slots))
    return parts
