"""Which graph holds a decode step, and what its empty rows do, with a stand-in for recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from inference.kernels.batch import Batch, DecodeBatch, LayerCache, PrefillChunk
from inference.kernels.low_rank import AdaptedRows, Adapter
from inference.model.cuda_graphs import DecodeGraphs, GraphLayout
from inference.model.decoder import Hidden

BLOCK, WIDTH, SPARE = 16, 4, 999
LAYOUT = GraphLayout.up_to(20, WIDTH, BLOCK, SPARE)


def step(rows: int, width: int = WIDTH) -> Batch:
    tables = torch.arange(rows * width, dtype=torch.int32).view(rows, width) + 1
    lengths = torch.full((rows,), 20, dtype=torch.int32)
    return Batch(
        token_ids=torch.arange(rows) + 100,
        positions=torch.arange(rows) + 19,
        slots=torch.arange(rows) + 50,
        decode=DecodeBatch(tables, lengths, BLOCK),
        prefill=(),
        logits_rows=torch.arange(rows),
    )


def test_least_graph_that_holds_a_step_is_taken():
    assert LAYOUT.sizes == (16, 8, 4, 2, 1)
    assert [LAYOUT.size_for(step(rows)) for rows in (1, 2, 3, 8, 9, 16)] == [1, 2, 4, 8, 16, 16]


def test_steps_that_no_graph_holds_are_computed_as_they_are():
    one = step(3)
    chunk = PrefillChunk(2, 3, 0, torch.arange(1))
    assert LAYOUT.size_for(step(17)) is None
    assert LAYOUT.size_for(step(3, width=WIDTH + 1)) is None
    assert LAYOUT.size_for(replace(one, prefill=(chunk,))) is None
    assert LAYOUT.size_for(replace(one, decode=None)) is None
    assert LAYOUT.size_for(replace(one, adapters=(AdaptedRows(0, 3, Adapter({})),))) is None
    assert LAYOUT.size_for(replace(one, positions=one.positions.expand(3, -1))) is None


def test_empty_rows_write_to_the_spare_slot_after_a_larger_step_too():
    seen: list[Batch] = []

    def layers(batch: Batch, _: list[LayerCache]) -> Hidden:
        seen.append(batch)
        x = batch.token_ids[:, None].float()
        return x, 2 * x

    def capture(compute: Callable[[], Hidden]) -> tuple[Callable[[], None], Hidden]:
        recorded = compute()

        def replay() -> None:
            for to, found in zip(recorded, compute(), strict=True):
                to.copy_(found)

        return replay, recorded

    graphs = DecodeGraphs(LAYOUT, layers, capture)
    graphs.record(4, [LayerCache(torch.zeros(1), torch.zeros(1))])
    with torch.inference_mode():
        graphs.replay(4, step(4))
        x, delta = graphs.replay(4, step(3, width=2))
    batch = seen[-1]
    assert batch.decode is not None
    assert x[:, 0].tolist() == [100, 101, 102]
    assert torch.equal(delta, 2 * x)
    assert batch.slots.tolist() == [50, 51, 52, SPARE]
    assert batch.decode.lengths.tolist() == [20, 20, 20, 1]
    assert batch.decode.tables[:3, :2].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert not batch.decode.tables[:, 2:].any()
    assert not batch.decode.tables[3].any()
