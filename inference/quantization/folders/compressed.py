"""compressed-tensors: integers of four bits packed along rows, integers of eight as they are.

Numbers are signed and packed with half their range added; so are zeros. Activations stay as they
are computed, finer than `w8a8` allows for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from inference.errors import ModelLoadError
from inference.quantization.folders.codes import Codes
from inference.quantization.folders.fp8 import KINDS, Fp8
from inference.quantization.folders.unpack import Tensors, check, need, scales, unpack, words


@dataclass(frozen=True)
class Packed:
    """`pack-quantized`: the bits are known by a row's words and its columns."""

    name = "compressed-tensors pack-quantized"
    main = "weight_packed"
    tensors = (
        *("weight_packed", "weight_shape", "weight_scale"),
        *("weight_zero_point", "weight_g_idx"),
    )

    def matrix(self, name: str, tensors: Tensors) -> Codes:
        packed = words(name, tensors, "weight_packed")
        rows, columns = _shape(name, tensors)
        bits = next((b for b in (4, 8) if packed.shape == (rows, -(-columns * b // 32))), None)
        if bits is None:
            raise ModelLoadError(
                f"{name}.weight_packed has shape {tuple(packed.shape)} for {rows} x {columns} "
                "numbers of 4 or 8 bits"
            )
        numbers = unpack(packed, bits)[:, :columns]
        given = _grouped(name, tensors, rows)
        zeros: Tensor | int = 2 ** (bits - 1)
        if "weight_zero_point" in tensors:
            stored = words(name, tensors, "weight_zero_point")
            groups = given.shape[1]
            check(
                *(name, "weight_zero_point", stored, (-(-rows * bits // 32), groups)), torch.int32
            )
            zeros = unpack(stored.T.contiguous(), bits)[:, :rows].T
        group_of = _group_of(name, tensors, columns, given.shape[1])
        return Codes(_less_zeros(numbers, zeros, group_of), given, group_of)


@dataclass(frozen=True)
class Plain:
    """`int-quantized`, `float-quantized` and `naive-quantized`: `weight` has the numbers."""

    block: tuple[int, int] | None = None
    """Rows and columns that share a scale, where floats have blocks."""

    name = "compressed-tensors"
    main = "weight"
    tensors = ("weight", "weight_scale", "weight_zero_point", "weight_g_idx")

    def matrix(self, name: str, tensors: Tensors) -> Codes | Tensor:
        weight = need(name, tensors, "weight")
        if weight.dtype in KINDS:
            return Fp8(self.block).matrix(name, tensors)
        if weight.dtype is not torch.int8 or weight.ndim != 2:
            shape = tuple(weight.shape)
            raise ModelLoadError(f"{name}.weight is {weight.dtype} {shape}, not a matrix of int8")
        rows, columns = weight.shape
        given = _grouped(name, tensors, rows)
        zeros: Tensor | int = 0
        if "weight_zero_point" in tensors:
            zeros = need(name, tensors, "weight_zero_point")
            if zeros.is_floating_point() or zeros.numel() not in (1, given.numel()):
                raise ModelLoadError(
                    f"{name}.weight_zero_point is {zeros.dtype} {tuple(zeros.shape)}, unlike its "
                    "scales"
                )
            zeros = zeros.int().reshape(-1, given.shape[1]).expand(rows, -1)
        group_of = _group_of(name, tensors, columns, given.shape[1])
        return Codes(_less_zeros(weight.int(), zeros, group_of), given, group_of)


@dataclass(frozen=True)
class Mixed:
    """Either, matrix by matrix."""

    plain: Plain

    name = "compressed-tensors"
    main = "weight_packed"
    tensors = (*Packed.tensors, "weight")

    def matrix(self, name: str, tensors: Tensors) -> Codes | Tensor:
        return (Packed() if "weight_packed" in tensors else self.plain).matrix(name, tensors)


def _shape(name: str, tensors: Tensors) -> Iterator[int]:
    shape = need(name, tensors, "weight_shape")
    if shape.numel() != 2 or shape.is_floating_point() or int(shape.min()) < 1:
        raise ModelLoadError(f"{name}.weight_shape is no pair of sizes")
    return map(int, shape.flatten().tolist())


def _grouped(name: str, tensors: Tensors, rows: int) -> Tensor:
    """(rows, groups): one for all, one a row, or one a group."""
    given = scales(name, tensors, "weight_scale")
    if given.numel() == 1:
        return given.view(1, 1).expand(rows, 1).contiguous()
    if given.ndim == 1:
        given = given[:, None]
    if given.ndim != 2 or len(given) != rows:
        raise ModelLoadError(f"{name}.weight_scale has shape {tuple(given.shape)} for {rows} rows")
    return given


def _group_of(name: str, tensors: Tensors, columns: int, groups: int) -> Tensor | None:
    """The group of each column where they are out of order."""
    if "weight_g_idx" in tensors:
        given = need(name, tensors, "weight_g_idx")
        check(name, "weight_g_idx", given, (columns,), torch.int32, torch.int64)
        if int(given.max()) >= groups:
            raise ModelLoadError(
                f"{name}.weight_g_idx has groups beyond the {groups} of its scales"
            )
        if int(given.min()) >= 0:  # -1: not computed
            return given.long()
    if columns % groups:
        raise ModelLoadError(f"{name}.weight_scale has {groups} groups for {columns} columns")
    return None


def _less_zeros(numbers: Tensor, zeros: Tensor | int, group_of: Tensor | None) -> Tensor:
    """`zeros` (rows, groups) or one for all."""
    if isinstance(zeros, int):
        return numbers - zeros if zeros else numbers
    if group_of is not None:
        return numbers - zeros[:, group_of]
    return numbers - zeros.repeat_interleave(numbers.shape[1] // zeros.shape[1], dim=1)
