"""Integers of few bits out of int32, and what is wrong with a tensor, by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from inference.errors import ModelLoadError

Tensors = Mapping[str, Tensor]
"""What a folder has of a matrix, by the end of the names."""


def unpack(packed: Tensor, bits: int, order: Sequence[int] | None = None) -> Tensor:
    """(rows, words) int32 to (rows, words * 32 / bits) int32, the lowest bits first.

    Args:
        order: where in its word's result each number belongs; in order where None.
    """
    places = torch.arange(0, 32, bits, dtype=torch.int32)
    numbers = (packed[..., None] >> places) & (2**bits - 1)
    if order is not None:
        numbers = numbers[..., torch.tensor(order).argsort()]
    return numbers.flatten(1)


def need(name: str, tensors: Tensors, end: str) -> Tensor:
    """Raises ModelLoadError when a matrix lacks it."""
    if end not in tensors:
        raise ModelLoadError(f"the folder has no tensor {name}.{end}, which its matrix needs")
    return tensors[end]


def check(name: str, end: str, tensor: Tensor, shape: Sequence[int], *dtypes: torch.dtype) -> None:
    """Raises ModelLoadError, with the name, when a tensor is of another shape or type."""
    if tensor.dtype not in dtypes:
        raise ModelLoadError(f"{name}.{end} is {tensor.dtype}, not {' or '.join(map(str, dtypes))}")
    if tuple(tensor.shape) != tuple(shape):
        raise ModelLoadError(f"{name}.{end} has shape {tuple(tensor.shape)}, not {tuple(shape)}")


def words(name: str, tensors: Tensors, end: str) -> Tensor:
    """A matrix of int32, whatever its shape.

    Raises:
        ModelLoadError: when it is missing or something else.
    """
    tensor = need(name, tensors, end)
    if tensor.dtype is not torch.int32 or tensor.ndim != 2:
        shape = tuple(tensor.shape)
        raise ModelLoadError(f"{name}.{end} is {tensor.dtype} {shape}, not a matrix of int32")
    return tensor


def scales(name: str, tensors: Tensors, end: str) -> Tensor:
    """Scales in float32, whatever their shape.

    Raises:
        ModelLoadError: when they are missing, no floats or not finite.
    """
    tensor = need(name, tensors, end)
    if not tensor.is_floating_point() or not bool(tensor.isfinite().all()):
        raise ModelLoadError(f"{name}.{end} has scales that are no finite numbers")
    return tensor.float()
