"""A quantized matrix as its file has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import torch
from gguf.constants import GGMLQuantizationType
from torch import Tensor


@dataclass(frozen=True)
class PackedRows:
    """A matrix as its file has it: rows of quantized blocks."""

    kind: GGMLQuantizationType
    data: Tensor
    """(out, bytes of a row) uint8."""
    width: int
    """Values of a row."""


def runs_of_a_kind(parts: Sequence[PackedRows]) -> list[list[PackedRows]]:
    """Parts below one another, those that are next to each other and of one kind together."""
    return [list(run) for _, run in groupby(parts, key=lambda part: part.kind)]


def joined(run: Sequence[PackedRows]) -> PackedRows:
    """Parts of a kind as one, which is a copy where there are several."""
    if len(run) == 1:
        return run[0]
    return replace(run[0], data=torch.cat([part.data for part in run]))
