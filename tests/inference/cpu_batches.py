"""Batches of decode requests for the tests of the CPU kernels."""

from __future__ import annotations

import torch

from inference.kernels.batch import Batch, DecodeBatch

BLOCK = 16


def make_batch(lengths: list[int]) -> Batch:
    """One query token a sequence, blocks handed out in a scattered order."""
    width = -(-max(lengths) // BLOCK)
    order = torch.randperm(len(lengths) * width)
    tables = order.view(len(lengths), width).int()
    last = torch.tensor([int(tables[i, (n - 1) // BLOCK]) for i, n in enumerate(lengths)])
    return Batch(
        token_ids=torch.zeros(len(lengths), dtype=torch.long),
        positions=torch.tensor(lengths) - 1,
        slots=last * BLOCK + (torch.tensor(lengths) - 1) % BLOCK,
        decode=DecodeBatch(tables, torch.tensor(lengths, dtype=torch.int32), BLOCK),
        prefill=(),
        logits_rows=torch.arange(len(lengths)),
    )
