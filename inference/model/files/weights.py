"""Reading weights: one interface, whatever the file.

Names are the short ones of this engine (`layers.3.attn.q`, its bias `layers.3.attn.q:bias`), those
of `Architecture.weights`, so that modules know neither GGUF's names nor Hugging Face's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import torch

from inference.errors import ModelLoadError
from inference.model.architecture import Architecture, Format
from inference.model.config import ModelConfig
from inference.quantization.packed import PackedRows

_SHOWN = 3


class WeightReader(Protocol):
    """An opened model: what it is, and its tensors by our names."""

    architecture: Architecture
    config: ModelConfig

    def has(self, name: str) -> bool: ...

    def read(self, name: str) -> torch.Tensor:
        """The tensor, shape (out, in) for matrices; float32 where it was quantized.

        Raises:
            ModelLoadError: when it is missing or in a format that we cannot read.
        """
        ...

    def read_packed(self, name: str) -> PackedRows | None:
        """The tensor's quantized rows, or None where it is not quantized. They may be the file's
        own memory: not to be changed."""
        ...

    def release(self) -> None:
        """Give back the memory that the file takes in this process; what is asked for later is
        read again."""
        ...


def check_known(architecture: Architecture, in_file: Iterable[str], form: Format) -> None:
    """Raises ModelLoadError when there are tensors that the architecture does not use: what they
    would change, as scales of weights do, must not be left out in silence."""
    if unknown := sorted(architecture.unknown(in_file, form)):
        shown = ", ".join(unknown[:_SHOWN]) + (", ..." if len(unknown) > _SHOWN else "")
        raise ModelLoadError(
            f"{len(unknown)} tensors that {architecture.name} does not have are not implemented: "
            f"{shown}"
        )
