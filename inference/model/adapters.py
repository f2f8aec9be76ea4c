"""LoRA adapters in PEFT's files: read, checked against the model, in the form that products take.

A folder has `adapter_config.json` and `adapter_model.safetensors`, whose tensors are named by the
modules of transformers: an adapter of a model fits whichever file of that model is served. What
such a folder can hold beyond plain LoRA (DoRA, biases, whole modules) is refused by name.
Source: Hu et al. 2021 (LoRA); Kalajdzievski 2023 (the scale of `use_rslora`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from inference.errors import AdapterError
from inference.kernels.cpu.memory import LargePages
from inference.kernels.low_rank import (
    AdaptedProduct,
    Adapter,
    Adds,
    LowRank,
    Product,
    StepAdapters,
    TorchLowRank,
    Update,
)
from inference.model.architecture import Architecture
from inference.model.config import ModelConfig

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"
_PREFIX = "base_model.model."
_DOWN, _UP = ".lora_A.weight", ".lora_B.weight"
_WIDTHS = 4
"""`down` has a multiple of so many rows: kernels compute them together."""
_VECTOR = 16
_BLOCK = 32
_SHOWN = 3
_PARTS = [1 - step / 16 for step in range(10)]
"""Of a row's largest number, which its scale is tried for."""
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "peft_type": ("LORA",),
    "bias": ("none", None),
    "modules_to_save": (None, []),
    "use_dora": (False, None),
    "lora_bias": (False, None),
    "fan_in_fan_out": (False, None),
    "alpha_pattern": ({}, None),
    "layer_replication": (None, []),
    "target_parameters": (None, []),
    "trainable_token_indices": (None, []),
}
"""Entries that change what is computed, with the values that mean plain LoRA."""
_CHANGES_BASE = ("pissa", "olora", "corda", "loftq")
"""Values of `init_lora_weights` whose training began from other base weights."""


@dataclass(frozen=True)
class _Matrix:
    """One of the matrices of a product."""

    name: str
    first: int
    rows: int
    width: int


@dataclass(frozen=True)
class _Target:
    """A product that adapters may change."""

    matrices: list[_Matrix]
    add: Adds


@dataclass
class AdapterTargets:
    """The products of a model that adapters may change, collected while it is put together.

    Attributes:
        dtype: that an adapter's numbers are kept in; int8: whole ones, with a scale for each rank,
            in as few bits as a kernel takes.
    """

    architecture: Architecture
    config: ModelConfig
    dtype: torch.dtype
    device: torch.device
    max_rank: int
    step: StepAdapters = field(default_factory=StepAdapters)
    _products: dict[str, _Target] = field(default_factory=dict)

    def takes(self, names: Sequence[str]) -> bool:
        """Whether adapters may change these matrices: not those of experts, which see some rows of
        a batch only."""
        return not any(".experts." in name for name in names)

    def adaptable(
        self, product: Product, shapes: Mapping[str, tuple[int, int]], add: Adds | None
    ) -> AdaptedProduct:
        """The product of these matrices, each with its rows and width, for adapters to change.

        Args:
            add: how it is computed where rows and widths fill a kernel's vectors.
        """
        matrices, first = [], 0
        for name, (rows, width) in shapes.items():
            matrices.append(_Matrix(name, first, rows, width))
            first += rows
        key = matrices[0].name
        fits = all(one.rows % _VECTOR == 0 == one.width % _BLOCK for one in matrices)
        target = _Target(matrices, add if add is not None and fits else TorchLowRank())
        self._products[key] = target
        return AdaptedProduct(product, key, self.step, target.add)

    def load(self, folder: Path) -> tuple[Adapter, str]:
        """The adapter in a folder, and what tells its content from any other's.

        Raises:
            AdapterError: saying what cannot be used.
        """
        raw = _configuration(folder)
        scale = self._scale(raw)
        modules = self._tensors(folder / WEIGHTS_FILE)
        updates = {}
        for key, target in self._products.items():
            found = [
                (matrix, *pair)
                for matrix in target.matrices
                if (pair := self._of(matrix, modules)) is not None
            ]
            if found:
                updates[key] = self._low_rank(target.add, found, scale)
        self._check_all_used(modules)
        return self._kept(updates), _fingerprint(folder)

    def random(self, rank: int) -> Adapter:
        """One of random numbers that changes every product, for measurements."""
        updates = {}
        for key, target in self._products.items():
            found = [
                (one, torch.randn(rank, one.width), torch.randn(one.rows, rank) / one.width)
                for one in target.matrices
            ]
            updates[key] = self._low_rank(target.add, found, 1 / rank)
        return self._kept(updates)

    def _kept(self, updates: dict[str, LowRank]) -> Adapter:
        """On a CPU in large pages of its own, which end with it: a step reads all of an adapter."""
        if self.device.type != "cpu":
            return Adapter(updates)
        pages = LargePages()
        for key, low in updates.items():
            ups = tuple(replace(update, up=pages.copy(update.up)) for update in low.updates)
            updates[key] = replace(low, down=pages.copy(low.down), updates=ups)
        return Adapter(updates)

    def _scale(self, raw: Mapping[str, Any]) -> float:
        rank, alpha = raw.get("r"), raw.get("lora_alpha")
        if type(rank) is not int or not 0 < rank <= self.max_rank:
            raise AdapterError(f"r is {rank!r}: this engine takes ranks from 1 to {self.max_rank}")
        if type(alpha) not in (int, float):
            raise AdapterError(f"lora_alpha is {alpha!r}, which is no number")
        assert isinstance(alpha, int | float)
        return float(alpha / (rank**0.5 if raw.get("use_rslora") else rank))

    def _tensors(self, file: Path) -> dict[str, dict[str, Tensor]]:
        """Each module's tensors, by what follows its name."""
        modules: dict[str, dict[str, Tensor]] = {}
        try:
            with safe_open(str(file), framework="pt") as opened:
                for name in list(opened.keys()):
                    module, suffix = _split(name)
                    module = self._known(module)
                    modules.setdefault(module, {})[suffix] = opened.get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise AdapterError(f"{file.name} cannot be read: {error}") from error
        if not modules:
            raise AdapterError(f"{file.name} is empty")
        for module, tensors in modules.items():
            self._check(module, tensors)
        return modules

    def _known(self, module: str) -> str:
        for begins, ours in self.architecture.hf_aliases:
            if module.startswith(begins):
                return ours + module.removeprefix(begins)
        return module

    def _check(self, module: str, tensors: Mapping[str, Tensor]) -> None:
        if set(tensors) != {_DOWN, _UP}:
            raise AdapterError(f"{module} has not both of lora_A and lora_B")
        down, up = tensors[_DOWN], tensors[_UP]
        if down.ndim != 2 or up.ndim != 2 or len(down) != up.shape[1]:
            shapes = f"{tuple(down.shape)} and {tuple(up.shape)}"
            raise AdapterError(f"{module} has lora_A and lora_B of {shapes}: no common rank")
        if len(down) > self.max_rank:
            raise AdapterError(
                f"{module} has rank {len(down)}: this engine takes up to {self.max_rank}"
            )
        if not all(tensor.is_floating_point() and tensor.isfinite().all() for tensor in (down, up)):
            raise AdapterError(f"{module} has values that are no finite numbers")

    def _of(
        self, matrix: _Matrix, modules: Mapping[str, Mapping[str, Tensor]]
    ) -> tuple[Tensor, Tensor] | None:
        """`lora_A`, and `lora_B` in the order of our rows; None where it is not adapted."""
        place = self.architecture.place(matrix.name, "hf")
        tensors = modules.get(place.name.removesuffix(".weight"))
        if tensors is None:
            return None
        down, up = tensors[_DOWN], tensors[_UP]
        whole = up.shape
        if place.rows is not None:
            up = place.rows(up, self.config)
        if down.shape[1] != matrix.width or len(up) != matrix.rows or place.is_turned:
            raise AdapterError(
                f"it was made for another model: {place.name} is {matrix.rows} x {matrix.width} "
                f"here, and {whole[0]} x {down.shape[1]} there"
            )
        return down, up

    def _low_rank(
        self, add: Adds, found: Sequence[tuple[_Matrix, Tensor, Tensor]], scale: float
    ) -> LowRank:
        """What an adapter adds to a product whose matrices have these `lora_A` and `lora_B`."""
        down = torch.cat([each.float() for _, each, _ in found])
        down = torch.nn.functional.pad(down, (0, 0, 0, -len(down) % _WIDTHS))
        ups = [up.float().T * scale for _, _, up in found]
        scales = None
        if self.dtype is torch.int8:
            down, scales = _rounded(down, add.largest_whole)
            row = 0
            for index, up in enumerate(ups):
                ups[index], own = _rounded(up, add.largest_whole)
                scales[row : row + len(up)] *= own
                row += len(up)
        updates, row = [], 0
        for (matrix, _, _), up in zip(found, ups, strict=True):
            ordered = add.ordered_up(up.to(self.dtype).contiguous()).to(self.device)
            updates.append(Update(matrix.first, matrix.rows, row, len(up), ordered))
            row += len(up)
        whole = add.ordered_down(down.to(self.dtype).contiguous()).to(self.device)
        return LowRank(whole, tuple(updates), None if scales is None else scales.to(self.device))

    def _check_all_used(self, modules: Mapping[str, object]) -> None:
        names = (one.name for target in self._products.values() for one in target.matrices)
        known = {self.architecture.place(name, "hf").name.removesuffix(".weight") for name in names}
        if unknown := sorted(set(modules) - known):
            shown = ", ".join(unknown[:_SHOWN]) + (", ..." if len(unknown) > _SHOWN else "")
            raise AdapterError(
                f"it adapts {len(unknown)} modules that cannot be adapted in this model: {shown}"
            )


def _configuration(folder: Path) -> dict[str, Any]:
    try:
        raw = json.loads((folder / CONFIG_FILE).read_text())
    except (OSError, ValueError) as error:
        raise AdapterError(f"{folder} has no readable {CONFIG_FILE}: {error}") from error
    if not isinstance(raw, dict):
        raise AdapterError(f"{CONFIG_FILE} is no object")
    for key, plain in _NEUTRAL.items():
        if raw.get(key, plain[0] if key != "peft_type" else None) not in plain:
            raise AdapterError(f"{key} {raw.get(key)!r} is not implemented: only plain LoRA is")
    if str(raw.get("init_lora_weights")).lower().startswith(_CHANGES_BASE):
        raise AdapterError(
            f"init_lora_weights {raw['init_lora_weights']!r} changed the model's own weights: "
            "convert it to plain LoRA"
        )
    return raw


def _rounded(rows: Tensor, largest_whole: int) -> tuple[Tensor, Tensor]:
    """Rows as whole numbers up to `largest_whole`, and the scale of each: of those tried the one
    with the least squared error. With few bits the largest numbers are better cut off."""
    largest = rows.abs().amax(dim=1, keepdim=True)
    best, scales = torch.full_like(largest, torch.inf), largest
    for part in _PARTS:
        tried = part * largest / largest_whole
        error = (_whole(rows, tried, largest_whole) * tried - rows).square().sum(1, keepdim=True)
        scales, best = torch.where(error < best, tried, scales), torch.minimum(error, best)
    return _whole(rows, scales, largest_whole), scales.flatten()


def _whole(rows: Tensor, scales: Tensor, largest_whole: int) -> Tensor:
    steps = torch.where(scales > 0, 1 / scales, 0.0)
    return (rows * steps).round().clamp(-largest_whole, largest_whole)


def _split(name: str) -> tuple[str, str]:
    """The module of a tensor, and what follows it."""
    for suffix in (_DOWN, _UP):
        if name.startswith(_PREFIX) and name.endswith(suffix):
            return name.removeprefix(_PREFIX).removesuffix(suffix), suffix
    raise AdapterError(f"{name} is no tensor of plain LoRA")


def _fingerprint(folder: Path) -> str:
    digest = hashlib.blake2b(digest_size=16, person=b"adapter")
    for name in (CONFIG_FILE, WEIGHTS_FILE):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()
