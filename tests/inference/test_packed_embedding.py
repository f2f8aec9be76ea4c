"""Rows that stay where the file has them are those of the packed matrix, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gguf.constants import GGMLQuantizationType as Kind

from inference.kernels.cpu.packed_embedding import PackedEmbedding
from inference.kernels.cpu.packed_linear import KINDS, PackedLinear
from inference.quantization.packed import PackedRows
from tests.inference.blocks import random_rows


def rows_of(kind: Kind, count: int, seed: int) -> PackedRows:
    data = random_rows(kind, count, 512, np.random.default_rng(seed), 0.06)
    return PackedRows(kind, torch.from_numpy(data), 512)


@pytest.mark.parametrize("kind", sorted(KINDS), ids=lambda kind: kind.name)
def test_rows_are_those_of_the_packed_matrix(kernel_variants, kind):
    rows = rows_of(kind, 50, 4)
    whole = PackedLinear(kernel_variants, [rows], None)
    embedding = PackedEmbedding(kernel_variants, rows)
    for ids in ([49], [3, 3, 0], list(range(50))):
        token_ids = torch.tensor(ids)
        assert torch.equal(embedding.rows(token_ids), whole.rows(token_ids))
    with pytest.raises(IndexError):
        embedding.rows(torch.tensor([50]))


@pytest.mark.parametrize("counts", [(32, 16, 40), (24, 8, 16), (5, 3, 8)])
def test_parts_of_a_kind_are_the_matrix_of_all_their_rows(kernel_variants, counts):
    """Parts that fill groups are packed from where they lie, others are joined before."""
    parts = [rows_of(Kind.Q4_K, count, seed) for seed, count in enumerate(counts)]
    data = torch.cat([part.data for part in parts])
    joined = PackedLinear(kernel_variants, [PackedRows(Kind.Q4_K, data, 512)], None)
    apart = PackedLinear(kernel_variants, parts, None)
    assert apart.matrix.count == 1
    x = torch.randn(3, 512)
    assert torch.equal(apart(x), joined(x))
