"""Parsing GGUF, llama.cpp's single-file format: metadata and where each tensor lies.

Written by hand because the reader in the `gguf` package takes seconds for a vocabulary;
the package still gives the quantization formats and their dequantization.
Source: ggml's specification of GGUF, version 3.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from inference.errors import ModelLoadError

_SCALARS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
"""Type numbers of the specification, as codes of `struct`."""
_STRING, _ARRAY = 8, 9
_MAX_DIMENSIONS = 4


def _code(kind: int) -> str:
    """Raises ValueError when the specification has no such type."""
    if kind not in _SCALARS:
        raise ValueError(f"no type has number {kind}")
    return _SCALARS[kind]


@dataclass(frozen=True)
class TensorInfo:
    """A tensor in the file: shape outermost first, and its raw blocks as bytes."""

    name: str
    shape: tuple[int, ...]
    kind: GGMLQuantizationType
    data: np.ndarray
    """(rows, bytes of a row) uint8, mapped from the file."""


class GGUFFile:
    """All metadata, and every tensor mapped but not read."""

    def __init__(self, path: Path, *, vocabulary: bool = True) -> None:
        """Map and parse the file.

        Args:
            vocabulary: False passes over lists of texts, which are then empty: a vocabulary's are
                most of what there is to parse, and weights need none.
        Raises:
            ModelLoadError: when it is not GGUF version 2 or 3, or ends too early.
        """
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ModelLoadError(f"{path} is not a GGUF file")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 4
        self._vocabulary = vocabulary
        try:
            version = self._scalar("I")
            if version not in (2, 3):
                raise ModelLoadError(f"{path} has GGUF version {version}; 2 and 3 are known")
            num_tensors, num_entries = self._scalar("Q"), self._scalar("Q")
            self.metadata = dict(self._entry() for _ in range(num_entries))
            heads = [self._tensor_head() for _ in range(num_tensors)]
            alignment = self.metadata.get("general.alignment", 32)
            base = -(-self._at // alignment) * alignment
            self.tensors = {head[0]: self._map_tensor(base, *head) for head in heads}
        except (
            *(struct.error, ValueError, TypeError, ArithmeticError),
            *(MemoryError, RecursionError),  # of a count or a depth that nobody wrote
        ) as error:
            raise ModelLoadError(f"{path} is damaged: {error}") from error

    def release(self) -> None:
        """Let go of the pages that were read so far; they are mapped again when they are."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def _scalar(self, code: str) -> Any:
        (value,) = struct.unpack_from("<" + code, self._map, self._at)
        self._at += struct.calcsize("<" + code)
        return value

    def _string(self) -> str:
        length = self._scalar("Q")
        self._at += length
        return self._map[self._at - length : self._at].decode("utf-8", "replace")

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            return self._scalar(_code(kind))
        inner, count = self._scalar("I"), self._scalar("Q")
        if inner == _STRING and not self._vocabulary:
            self._pass_over(count)
            return []
        if inner not in _SCALARS:
            return [self._value(inner) for _ in range(count)]
        if count > len(self._map):
            raise ValueError(f"an array of {count} values")
        form = f"<{count}{_SCALARS[inner]}"
        values = struct.unpack_from(form, self._map, self._at)
        self._at += struct.calcsize(form)
        return list(values)

    def _pass_over(self, count: int) -> None:
        """Go on after so many texts."""
        at, length_of = self._at, struct.Struct("<Q").unpack_from
        for _ in range(count):
            at += 8 + length_of(self._map, at)[0]
        self._at = at

    def _entry(self) -> tuple[str, Any]:
        key, kind = self._string(), self._scalar("I")
        return key, self._value(kind)

    def _tensor_head(self) -> tuple[str, tuple[int, ...], int, int]:
        name, dimensions = self._string(), self._scalar("I")
        if not 0 < dimensions <= _MAX_DIMENSIONS:
            raise ValueError(f"{name} has {dimensions} dimensions")
        inner_first = [self._scalar("Q") for _ in range(dimensions)]
        return name, tuple(reversed(inner_first)), self._scalar("I"), self._scalar("Q")

    def _map_tensor(
        self, base: int, name: str, shape: tuple[int, ...], kind_id: int, offset: int
    ) -> TensorInfo:
        kind = GGMLQuantizationType(kind_id)
        block, block_bytes = GGML_QUANT_SIZES[kind]
        if shape[-1] % block:
            raise ValueError(
                f"{name} has rows of {shape[-1]} values, {kind.name} blocks of {block}"
            )
        rows = prod(shape[:-1])
        row_bytes = shape[-1] // block * block_bytes
        end = base + offset + rows * row_bytes
        if end > len(self._map):
            raise ValueError(f"{name} would end at byte {end} of {len(self._map)}")
        data = np.frombuffer(self._map, np.uint8, rows * row_bytes, base + offset)
        return TensorInfo(name, shape, kind, data.reshape(rows, row_bytes))
