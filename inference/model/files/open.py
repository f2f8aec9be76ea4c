"""Opens a model by its path: a GGUF file or a Hugging Face folder."""

from __future__ import annotations

from pathlib import Path

from inference.errors import ModelLoadError
from inference.model.files.gguf_file import GGUFReader
from inference.model.files.hf_folder import HFReader


def open_weights(path: str) -> GGUFReader | HFReader:
    """A reader over the model's weights, nothing read yet but its configuration.

    Raises:
        ModelLoadError: when there is no model at `path` that we know.
    """
    at = Path(path)
    if at.is_dir():
        return HFReader(at)
    if at.is_file():
        return GGUFReader(at)
    raise ModelLoadError(f"no model at {path}: give a GGUF file or a Hugging Face folder")
