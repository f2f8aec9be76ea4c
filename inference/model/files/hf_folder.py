"""A model in a Hugging Face folder: config.json and safetensors, sharded or not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from gguf.quants import dequantize
from safetensors import safe_open

from inference.errors import ModelLoadError
from inference.model import registry
from inference.model.architecture import Architecture, Place
from inference.model.files.weights import check_known
from inference.quantization import mxfp4
from inference.quantization.packed import PackedRows

_BLOCKS, _SCALES = "_blocks", "_scales"
"""What follows the name of a matrix in MXFP4."""


class HFReader:
    """A `WeightReader` over a folder; tensors are mapped until they are read."""

    def __init__(self, folder: Path) -> None:
        """Open the folder.

        Raises:
            ModelLoadError: when its configuration or weights are missing or unknown.
        """
        raw = _configuration(folder)
        self.architecture = registry.of_hf(raw)
        _check_weights_are_plain(raw, self.architecture)
        try:
            self.config = self.architecture.read_hf(raw)
        except KeyError as error:
            raise ModelLoadError(f"{folder}/config.json has no {error.args[0]}") from error
        if self.config.is_encoder:
            _check_pooling(folder)
        files = _weight_files(folder)
        if not files:
            raise ModelLoadError(f"{folder} has no .safetensors files")
        self._files = [safe_open(str(file), framework="pt") for file in files]
        self._file_of = {name: file for file in self._files for name in list(file.keys())}
        check_known(self.architecture, map(self._whole_name, self._file_of), "hf")

    def has(self, name: str) -> bool:
        found = self.architecture.place(name, "hf").name
        return found in self._file_of or f"{found}{_BLOCKS}" in self._file_of

    def read(self, name: str) -> torch.Tensor:
        if packed := self.read_packed(name):
            return torch.from_numpy(dequantize(packed.data.numpy(), packed.kind))
        place = self.architecture.place(name, "hf")
        tensor = self._tensor(place)
        if place.is_turned and tensor.ndim > 1:
            tensor = tensor.T
        return tensor if place.rows is None else place.rows(tensor, self.config)

    def read_packed(self, name: str) -> PackedRows | None:
        """The rows of a matrix in MXFP4; nothing else in a folder is quantized."""
        place = self.architecture.place(name, "hf")
        if f"{place.name}{_BLOCKS}" not in self._file_of:
            return None
        parts = (self._tensor(replace(place, name=place.name + end)) for end in (_BLOCKS, _SCALES))
        if place.rows is not None:
            parts = (place.rows(part, self.config) for part in parts)
        return mxfp4.from_folder(*parts)

    def _tensor(self, place: Place) -> torch.Tensor:
        file = self._file_of.get(place.name)
        if file is None:
            raise ModelLoadError(f"the folder has no tensor {place.name}")
        if place.part is not None:
            part: torch.Tensor = file.get_slice(place.name)[place.part]
            return part
        tensor: torch.Tensor = file.get_tensor(place.name)
        return tensor

    def _whole_name(self, in_file: str) -> str:
        """Of the matrix that a tensor is a part of."""
        if not self.architecture.takes_mxfp4:
            return in_file
        return in_file.removesuffix(_BLOCKS).removesuffix(_SCALES)

    def release(self) -> None:
        """Nothing: safetensors maps a tensor only while it is used."""


def _configuration(folder: Path) -> dict[str, Any]:
    """config.json, with the end of texts from generation_config.json where that has one."""
    try:
        raw: dict[str, Any] = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError) as error:
        raise ModelLoadError(f"{folder} has no readable config.json: {error}") from error
    file = folder / "generation_config.json"
    generation = json.loads(file.read_text()) if file.exists() else {}
    if "eos_token_id" in generation:
        raw["eos_token_id"] = generation["eos_token_id"]
    return raw


def _weight_files(folder: Path) -> list[Path]:
    """The shards that the index lists, or the one file; any where there is neither. Folders hold
    other tools' weights of the same model beside them."""
    index, single = folder / "model.safetensors.index.json", folder / "model.safetensors"
    if index.exists():
        listed = set(json.loads(index.read_text())["weight_map"].values())
        return [folder / name for name in sorted(listed) if (folder / name).exists()]
    return [single] if single.exists() else sorted(folder.glob("*.safetensors"))


def _check_pooling(folder: Path) -> None:
    """Raises ModelLoadError when Sentence-BERT's files ask for more than the mean of the states."""
    modules = folder / "modules.json"
    for module in json.loads(modules.read_text()) if modules.exists() else []:
        kind = module["type"].rpartition(".")[2]
        if kind not in ("Transformer", "Pooling", "Normalize"):
            raise ModelLoadError(f"{modules} has a module {kind}, which is not implemented")
        if kind == "Pooling":
            pooling = json.loads((folder / module["path"] / "config.json").read_text())
            modes = {key for key, on in pooling.items() if on is True and "pooling_mode" in key}
            if modes - {"pooling_mode_mean_tokens"}:
                raise ModelLoadError(
                    f"{', '.join(sorted(modes))} is not implemented: only the mean"
                )


def _check_weights_are_plain(raw: Mapping[str, Any], architecture: Architecture) -> None:
    """Raises ModelLoadError when the numbers in the files are neither the weights nor in a format
    that the architecture has."""
    for key in ("quantization_config", "compression_config"):
        if quantized := raw.get(key):
            method = quantized.get("quant_method") or quantized
            if method == "mxfp4" and architecture.takes_mxfp4:
                continue
            raise ModelLoadError(
                f"weights with {key} {method!r} are not implemented: give the folder that they "
                "were made from, or a GGUF file"
            )
