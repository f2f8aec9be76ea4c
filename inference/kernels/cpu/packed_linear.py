"""A quantized matrix that multiplies activations by our kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import Structure, c_int, c_void_p

import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from torch import Tensor

from inference.errors import ModelLoadError
from inference.kernels.cpu.address import at
from inference.kernels.cpu.memory import LargePages
from inference.quantization.packed import PackedRows, joined, runs_of_a_kind

KINDS = frozenset(
    GGMLQuantizationType[name]
    for name in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K")
)
_MAX_PARTS = 3
_PAGES = LargePages()


class Part(Structure):
    """`ParleyPart` of matrix.h."""

    _fields_ = [("kind", c_int), ("first", c_int), ("rows", c_int), ("data", c_void_p)]


class Matrix(Structure):
    """`ParleyMatrix` of matrix.h."""

    _fields_ = [
        ("rows", c_int),
        ("width", c_int),
        ("rounds", c_int),
        ("count", c_int),
        ("parts", Part * _MAX_PARTS),
        ("bias", c_void_p),
    ]


class PackedLinear:
    """y = x @ weight.T + bias from quantized rows. Also an `Embedding`, whose rows are exact.

    Rows are kept in groups as `blocks.h` describes, in about the size that they have in the file;
    the last group is filled up with rows of zeros.
    """

    def __init__(
        self,
        kernels: ctypes.CDLL,
        parts: Sequence[PackedRows],
        bias: Tensor | None,
        *,
        int8_activations: bool = False,
    ) -> None:
        """
        Args:
            parts: rows below one another, as `takes` allows; those of a kind are kept as one.
            int8_activations: round x to int8 in blocks of 32, each with its scale (those of 256 are
                a unit by powers of two, where the processor has AVX-512 and weights are of
                K-formats), or where the processor has AMX and x many rows, to bfloat16.
        """
        self._kernels = kernels
        self.num_rows = sum(len(rows.data) for rows in parts)
        self.width = parts[0].width
        self.rounds = int8_activations and bool(kernels.parley_has_int8())
        together = max(kernels.parley_rounded_together(int(rows.kind)) for rows in parts)
        group = kernels.parley_group()
        self._padded = -(-self.num_rows // group) * group
        runs = runs_of_a_kind(parts)
        self._data = [_packed(kernels, run) for run in runs]
        missing = self._padded - self.num_rows
        self._bias = None if bias is None else torch.nn.functional.pad(bias, (0, missing))
        self.matrix = Matrix(
            rows=self._padded,
            width=self.width,
            rounds=together if self.rounds else 0,
            count=len(runs),
            bias=at(self._bias),
        )
        first = 0
        for index, (run, data) in enumerate(zip(runs, self._data, strict=True)):
            padded = -(-_count(run) // group) * group
            self.matrix.parts[index] = Part(int(run[0].kind), first, padded, at(data))
            first += padded
        self._kind = int(parts[0].kind)

    @staticmethod
    def takes(kernels: ctypes.CDLL, parts: Sequence[PackedRows]) -> bool:
        """Whether these rows can be one matrix: known formats, all but the last whole groups."""
        group, runs = kernels.parley_group(), runs_of_a_kind(parts)
        return (
            0 < len(runs) <= _MAX_PARTS
            and all(rows.kind in KINDS for rows in parts)
            and all(_count(run) % group == 0 for run in runs[:-1])
        )

    def __call__(self, x: Tensor) -> Tensor:
        if x.shape[-1] != self.width:
            raise ValueError(f"{x.shape[-1]} values for rows of {self.width}")
        x = x.contiguous()
        y = torch.empty(len(x), self._padded)
        self._kernels.parley_multiply(ctypes.byref(self.matrix), at(x), at(y), len(x))
        return y[:, : self.num_rows]

    def rows(self, token_ids: Tensor) -> Tensor:
        if len(self._data) > 1:
            raise ModelLoadError(
                f"an embedding is one matrix of a file, not {len(self._data)} of them"
            )
        token_ids = token_ids.contiguous()
        out = torch.empty(len(token_ids), self.width)
        self._kernels.parley_rows(
            *(self._kind, at(self._data[0]), at(token_ids), at(out)),
            *(len(token_ids), self.width),
        )
        return out


def _count(run: Sequence[PackedRows]) -> int:
    return sum(len(rows.data) for rows in run)


def _packed(kernels: ctypes.CDLL, run: Sequence[PackedRows]) -> Tensor:
    """The rows of a kind in whole groups: each part from where its file has it to its place."""
    group, kind, width = kernels.parley_group(), int(run[0].kind), run[0].width
    if any(len(rows.data) % group for rows in run[:-1]):
        run = [joined(run)]
    packed = _PAGES.take(packed_bytes(kernels, kind, _count(run), width))
    first = 0
    for rows in run:
        pack(kernels, rows, packed[first:])
        first += packed_bytes(kernels, kind, len(rows.data), width)
    return packed


def packed_bytes(kernels: ctypes.CDLL, kind: int, rows: int, width: int) -> int:
    """What so many rows take in whole groups."""
    size = kernels.parley_packed_bytes
    size.restype = ctypes.c_int64
    return int(size(kind, rows, width))


def pack(kernels: ctypes.CDLL, rows: PackedRows, to: Tensor) -> None:
    """Write the rows to the beginning of `to`, in whole groups."""
    data = rows.data.contiguous()
    _, block_bytes = GGML_QUANT_SIZES[rows.kind]
    kernels.parley_pack(
        *(int(rows.kind), at(data), block_bytes, at(to), len(data), rows.width),
    )
