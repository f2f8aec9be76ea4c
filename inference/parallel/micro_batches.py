"""A step's batch in parts, so that a pipeline's stages work on several at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import torch
from torch import Tensor

from inference.kernels.batch import Batch, DecodeBatch, PrefillChunk


def split(batch: Batch, parts: int) -> list[Batch]:
    """At most `parts` batches of about as many chunks, in order; together they are `batch`.

    Chunks of one step may share blocks: one may read what another writes. In one batch
    every layer writes before it reads; parts are computed one after the other. So where an
    earlier part would read what a later one writes, the batch stays whole.
    """
    chunks = batch.num_decode + len(batch.prefill)
    count = min(parts, chunks)
    if count < 2:
        return [batch]
    edges = [chunks * part // count for part in range(count + 1)]
    found = [_part(batch, *pair) for pair in pairwise(edges)]
    for index, part in enumerate(found[:-1]):
        later = torch.cat([other.slots for other in found[index + 1 :]])
        if bool(torch.isin(_read_slots(part), later).any()):
            return [batch]
    return found


def _part(batch: Batch, begin: int, end: int) -> Batch:
    """The chunks [begin, end), the decode batch counted first."""
    num_decode = batch.num_decode
    decode = None
    if begin < num_decode:
        assert batch.decode is not None
        own = slice(begin, min(end, num_decode))
        decode = replace(
            batch.decode, tables=batch.decode.tables[own], lengths=batch.decode.lengths[own]
        )
    chunks = batch.prefill[max(0, begin - num_decode) : max(0, end - num_decode)]
    first = begin if begin < num_decode else chunks[0].begin
    last = chunks[-1].end if chunks else end
    moved = tuple(PrefillChunk(s.begin - first, s.end - first, s.start, s.slots) for s in chunks)
    return Batch(
        token_ids=batch.token_ids[first:last],
        positions=batch.positions[first:last],
        slots=batch.slots[first:last],
        decode=decode,
        prefill=moved,
        logits_rows=batch.logits_rows[:0],
    )


def _read_slots(batch: Batch) -> Tensor:
    """Slots of all contexts, those of padding included."""
    read = [chunk.slots for chunk in batch.prefill]
    if batch.decode is not None:
        read.append(_contexts(batch.decode))
    return torch.cat(read)


def _contexts(decode: DecodeBatch) -> Tensor:
    columns = torch.arange(decode.slots.shape[1], device=decode.slots.device)
    return decode.slots[columns < decode.lengths[:, None]]
