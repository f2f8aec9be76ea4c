"""A step's batch in parts, so that a pipeline's stages work on several at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import torch
from torch import Tensor

from inference.kernels.batch import Batch, Singles, Span


def split(batch: Batch, parts: int) -> list[Batch]:
    """At most `parts` batches of about as many chunks, in order; together they are `batch`.

    Chunks of one step may share blocks: one may read what another writes. In one batch
    every layer writes before it reads; parts are computed one after the other. So where an
    earlier part would read what a later one writes, the batch stays whole.
    """
    chunks = batch.num_singles + len(batch.spans)
    count = min(parts, chunks)
    if count < 2:
        return [batch]
    edges = [chunks * part // count for part in range(count + 1)]
    pieces = [_piece(batch, *pair) for pair in pairwise(edges)]
    for index, piece in enumerate(pieces[:-1]):
        later = torch.cat([other.slots for other in pieces[index + 1 :]])
        if bool(torch.isin(_read_slots(piece), later).any()):
            return [batch]
    return pieces


def _piece(batch: Batch, begin: int, end: int) -> Batch:
    """The chunks [begin, end), streams counted first."""
    streams = batch.num_singles
    singles = None
    if begin < streams:
        assert batch.singles is not None
        own = slice(begin, min(end, streams))
        singles = replace(
            batch.singles, tables=batch.singles.tables[own], lengths=batch.singles.lengths[own]
        )
    spans = batch.spans[max(0, begin - streams) : max(0, end - streams)]
    first = begin if begin < streams else spans[0].begin
    last = spans[-1].end if spans else end
    moved = tuple(Span(s.begin - first, s.end - first, s.start, s.slots) for s in spans)
    return Batch(
        token_ids=batch.token_ids[first:last],
        positions=batch.positions[first:last],
        slots=batch.slots[first:last],
        singles=singles,
        spans=moved,
        logits_rows=batch.logits_rows[:0],
    )


def _read_slots(batch: Batch) -> Tensor:
    """Slots of all contexts, those of padding included."""
    read = [span.slots for span in batch.spans]
    if batch.singles is not None:
        read.append(_contexts(batch.singles))
    return torch.cat(read)


def _contexts(singles: Singles) -> Tensor:
    columns = torch.arange(singles.slots.shape[1], device=singles.slots.device)
    return singles.slots[columns < singles.lengths[:, None]]
