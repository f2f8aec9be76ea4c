"""A model in a Hugging Face folder: config.json and safetensors, sharded or not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from gguf.quants import dequantize
from safetensors import safe_open

from inference.errors import ModelLoadError
from inference.images.settings import image_settings
from inference.model import registry
from inference.model.architecture import Architecture, Place
from inference.model.files.stored_matrices import StoredMatrices
from inference.model.files.weights import check_known
from inference.quantization import mxfp4
from inference.quantization.folders.schemes import Scheme, scheme_of
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
        scheme = _scheme(raw, self.architecture)
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
        self._file_of = {
            self._known_name(name): (file, name)
            for file in self._files
            for name in list(file.keys())
        }
        self._stored = None if scheme is None else StoredMatrices(scheme, self._file_of, self._get)
        check_known(self.architecture, self._whole_names(), "hf")

    def has(self, name: str) -> bool:
        found = self.architecture.place(name, "hf").name
        if self._stored is not None and self._stored.has(found):
            return True
        return found in self._file_of or f"{found}{_BLOCKS}" in self._file_of

    def read(self, name: str) -> torch.Tensor:
        place = self.architecture.place(name, "hf")
        if self._stored is not None and self._stored.has(place.name):
            tensor = self._stored.dense(place.name)
        elif packed := self.read_packed(name):
            return torch.from_numpy(dequantize(packed.data.numpy(), packed.kind))
        else:
            tensor = self._tensor(place)
            if tensor.element_size() == 1:
                raise ModelLoadError(f"{place.name} is {tensor.dtype}, and no scales are beside it")
        if place.is_turned and tensor.ndim > 1:
            tensor = tensor.T
        return tensor if place.rows is None else place.rows(tensor, self.config)

    def read_packed(self, name: str) -> PackedRows | None:
        """The rows of a matrix in MXFP4, or in integers that blocks of ours hold."""
        place = self.architecture.place(name, "hf")
        if self._stored is not None and self._stored.has(place.name):
            rows = self._stored.packed(place.name)
            if rows is None or place.rows is None:
                return rows
            return replace(rows, data=place.rows(rows.data, self.config))
        if f"{place.name}{_BLOCKS}" not in self._file_of:
            return None
        parts = (self._tensor(replace(place, name=place.name + end)) for end in (_BLOCKS, _SCALES))
        if place.rows is not None:
            parts = (place.rows(part, self.config) for part in parts)
        return mxfp4.from_folder(*parts)

    def _get(self, known_name: str) -> torch.Tensor:
        file, name = self._file_of[known_name]
        tensor: torch.Tensor = file.get_tensor(name)
        return tensor

    def _tensor(self, place: Place) -> torch.Tensor:
        if place.name not in self._file_of:
            raise ModelLoadError(f"the folder has no tensor {place.name}")
        if place.part is None:
            return self._get(place.name)
        file, name = self._file_of[place.name]
        part: torch.Tensor = file.get_slice(name)[place.part]
        return part

    def _known_name(self, in_file: str) -> str:
        for begins, ours in self.architecture.hf_aliases:
            if in_file.startswith(begins):
                return ours + in_file.removeprefix(begins)
        return in_file

    def _whole_names(self) -> Iterator[str]:
        """Of the tensors, those of which quantized matrices are made by the matrix's name."""
        for name in self._file_of:
            if self._stored is not None:
                if (known := self._stored.known_name(name)) is not None:
                    yield known
            elif self.architecture.takes_mxfp4:
                yield name.removesuffix(_BLOCKS).removesuffix(_SCALES)
            else:
                yield name

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
    raw["image_processor"] = image_settings(folder)
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


def _scheme(raw: Mapping[str, Any], architecture: Architecture) -> Scheme | None:
    """How the folder's matrices are quantized; None: they are not, or in a format that the
    architecture has itself.

    Raises:
        ModelLoadError: when it is not implemented.
    """
    text = raw.get("text_config") or {}
    for key in ("quantization_config", "compression_config"):
        if quantized := raw.get(key) or text.get(key):
            if quantized.get("quant_method") == "mxfp4" and architecture.takes_mxfp4:
                return None
            return scheme_of(quantized)
    return None
