"""The quantized matrices of a Hugging Face folder, by their names before that."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from torch import Tensor

from inference.errors import ModelLoadError
from inference.quantization.folders.codes import Codes
from inference.quantization.folders.schemes import UNUSED, Scheme
from inference.quantization.packed import PackedRows

log = logging.getLogger(__name__)

_WEIGHT = ".weight"


class StoredMatrices:
    """Each is read when it is wanted, and checked then."""

    def __init__(
        self, scheme: Scheme, in_file: Iterable[str], get: Callable[[str], Tensor]
    ) -> None:
        """
        Args:
            in_file: every tensor's name.
            get: the tensor of a name.
        Raises:
            ModelLoadError: when tensors of a quantized matrix lie there without its numbers.
        """
        self._scheme = scheme
        self._get = get
        self._ends: dict[str, list[str]] = {}
        for name in in_file:
            base, _, end = name.rpartition(".")
            if end in scheme.tensors:
                self._ends.setdefault(base, []).append(end)
        # A matrix that was not quantized, a norm or an embedding, has its weight and nothing else.
        self._ends = {base: ends for base, ends in self._ends.items() if ends != ["weight"]}
        self._reasons: set[str] = set()
        for base, ends in self._ends.items():
            if scheme.main not in ends and "weight" not in ends:
                raise ModelLoadError(
                    f"the folder has {base}.{ends[0]}, and no tensor {base}.{scheme.main}"
                )

    def has(self, name: str) -> bool:
        """Whether this tensor is a quantized matrix."""
        return name.endswith(_WEIGHT) and name.removesuffix(_WEIGHT) in self._ends

    def packed(self, name: str) -> PackedRows | None:
        """The matrix in blocks of the same numbers; None where there are no such blocks.

        Raises:
            ModelLoadError: when a tensor is missing or does not fit, by its name.
        """
        matrix = self._matrix(name)
        why = matrix.why_dense() if isinstance(matrix, Codes) else "no block format has its floats"
        if why is None and isinstance(matrix, Codes):
            return matrix.blocks()
        if why not in self._reasons:
            assert why is not None
            self._reasons.add(why)
            log.warning(
                "%s in %s, and others like it, become dense: %s", name, self._scheme.name, why
            )
        return None

    def dense(self, name: str) -> Tensor:
        """(out, in) float32. Raises as `packed`."""
        matrix = self._matrix(name)
        return matrix.dense() if isinstance(matrix, Codes) else matrix

    def known_name(self, in_file: str) -> str | None:
        """The matrix that a tensor is a part of, itself where it is none; None: not needed."""
        base, _, end = in_file.rpartition(".")
        if end in UNUSED:
            return None
        return base + _WEIGHT if base in self._ends and end in self._scheme.tensors else in_file

    def _matrix(self, name: str) -> Codes | Tensor:
        base = name.removesuffix(_WEIGHT)
        return self._scheme.matrix(
            base, {end: self._get(f"{base}.{end}") for end in self._ends[base]}
        )
