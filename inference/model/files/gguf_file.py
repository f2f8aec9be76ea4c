"""A model in a GGUF file."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from gguf.constants import GGMLQuantizationType
from gguf.quants import dequantize

from inference.errors import ModelLoadError
from inference.model import registry
from inference.model.architecture import Place
from inference.model.files.weights import check_known
from inference.model.gguf_format import GGUFFile, TensorInfo
from inference.quantization import mxfp4
from inference.quantization.packed import PackedRows

_UNQUANTIZED = (
    GGMLQuantizationType.F32,
    GGMLQuantizationType.F16,
    GGMLQuantizationType.BF16,
)


class GGUFReader:
    """A `WeightReader` over one GGUF file."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            ModelLoadError: when it is damaged, or of an architecture that is not implemented.
        """
        self._file = GGUFFile(path, vocabulary=False)
        self.architecture = registry.of_gguf(self._file.metadata)
        try:
            self.config = self.architecture.read_gguf(self._file)
        except KeyError as error:
            raise ModelLoadError(f"{path} has no {error.args[0]}") from error
        except (TypeError, ValueError, ArithmeticError) as error:
            raise ModelLoadError(f"{path} has metadata that make no model: {error}") from error
        check_known(self.architecture, self._file.tensors, "gguf")

    def has(self, name: str) -> bool:
        return self._find(self.architecture.place(name, "gguf")) is not None

    def read(self, name: str) -> torch.Tensor:
        place = self.architecture.place(name, "gguf")
        tensor = self._find(place)
        if tensor is None:
            raise ModelLoadError(f"the file has no tensor {place.name} (our {name})")
        try:
            values = dequantize(tensor.data, tensor.kind)
        except NotImplementedError as error:
            raise ModelLoadError(
                f"{tensor.name} is {tensor.kind.name}, a format we cannot read"
            ) from error
        matrix = torch.from_numpy(values.copy() if not values.flags.writeable else values)
        return self._in_our_order(place, matrix.reshape(tensor.shape))

    def read_packed(self, name: str) -> PackedRows | None:
        place = self.architecture.place(name, "gguf")
        tensor = self._find(place)
        if tensor is None or tensor.kind in _UNQUANTIZED:
            return None
        data = self._in_our_order(place, _mapped(tensor.data))
        rows = PackedRows(tensor.kind, data, tensor.shape[-1])
        return mxfp4.from_gguf(rows) if tensor.kind is GGMLQuantizationType.MXFP4 else rows

    def release(self) -> None:
        self._file.release()

    def _find(self, place: Place) -> TensorInfo | None:
        """The tensor; of an expert, its part of the layer's tensor of all experts."""
        tensor = self._file.tensors.get(place.name)
        if tensor is None or place.part is None:
            return tensor
        count, *shape = tensor.shape
        parts = tensor.data.reshape(count, -1, tensor.data.shape[1])
        return replace(tensor, shape=tuple(shape), data=parts[place.part])

    def _in_our_order(self, place: Place, rows: torch.Tensor) -> torch.Tensor:
        return rows if place.rows is None else place.rows(rows, self.config)


def _mapped(data: np.ndarray) -> torch.Tensor:
    """The file's bytes where they lie, which nobody writes to."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        return torch.from_numpy(data)
