"""What the file of an architecture says, and what it may ask of the loader.

Everything that differs between families of models stands in such a file (`architectures/`), which
has one line in `registry.py`: how its configuration is read, what its tensors are called in both
file formats, how they are shared out among ranks, which layers it has, which kernels can compute
them. Readers, sharding and builder ask the `Architecture`, and know no family by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Protocol

from torch import Tensor

from inference.core import PromptImage
from inference.kernels.backend import Backend
from inference.model.config import ModelConfig, MoeConfig, RopeConfig
from inference.model.decoder import Ends, Layer
from inference.model.gguf_format import GGUFFile
from inference.model.layers.linear import Embedding, Linear
from inference.model.layers.mlp import Mlp
from inference.model.layers.rope import Rotary

Format = Literal["hf", "gguf"]
Rows = Callable[[Tensor, ModelConfig], Tensor]
"""Rows of a tensor (out, ...) in the order, or the part of them, that we want. The same function is
given a matrix, its bias, and the bytes of quantized rows."""


class Split(Enum):
    """How a tensor is shared out among the ranks of a tensor-parallel group."""

    WHOLE = "whole"
    """Every rank has it all; of a mixture, an expert is whole on the rank that it was dealt to."""
    ROWS = "rows"
    """By outputs."""
    COLUMNS = "columns"
    """By inputs: the ranks' products are summed, and a bias is added by the first."""
    VOCABULARY = "vocabulary"
    """By tokens."""


@dataclass(frozen=True)
class Weight:
    """A tensor of an architecture in both file formats, without `.weight` or `.bias`.

    `*` stands for the numbers of our name, in order. `[*]` at the end is a part of a tensor that
    holds those of all experts, as GGUF has them.
    """

    hf: str
    gguf: str
    split: Split = Split.WHOLE
    hf_rows: Rows | None = None
    """Our rows from those in the file; None: as they are."""
    gguf_rows: Rows | None = None
    hf_suffixes: tuple[str, str] = (".weight", ".bias")
    """What follows the name of the tensor, and that of its bias, in a Hugging Face folder."""
    gguf_suffixes: tuple[str, str] = (".weight", ".bias")
    """The same in a GGUF file."""
    hf_turned: bool = False
    """Whether folders have the matrix as (in, out)."""

    def suffixes(self, form: Format) -> tuple[str, str]:
        return self.hf_suffixes if form == "hf" else self.gguf_suffixes


@dataclass(frozen=True)
class Place:
    """Where a tensor is in a file."""

    name: str
    part: int | None
    """Of a tensor of all experts."""
    rows: Rows | None
    is_turned: bool = False
    """Whether a matrix is (in, out) there."""


class Loader(Protocol):
    """What an architecture's file asks for. Names are ours, those of `Architecture.weights`."""

    config: ModelConfig
    """With this rank's number of heads."""
    backend: Backend

    def tensor(self, name: str) -> Tensor:
        """As it is, in the type that is computed in; `name:bias` is the bias beside a matrix."""
        ...

    def linear(self, *names: str) -> Linear:
        """Matrices below one another as one, with their biases where the first has one."""
        ...

    def embedding(self, name: str) -> Embedding: ...

    def logits(self, name: str) -> Linear:
        """A matrix with a row for each token."""
        ...

    def has(self, name: str) -> bool: ...

    def experts(self, at: str, moe: MoeConfig, correction: Tensor | None = None) -> Mlp:
        """The mixture whose router is `at.router` and whose matrices are `at.experts.*.gate`,
        `up` and `down`; `correction` is `SparseExperts`'."""
        ...

    def rotary(self, rope: RopeConfig) -> Rotary: ...


class VisionTower(Protocol):
    """Looks at images: what it returns takes the place of their tokens' embeddings."""

    def __call__(self, image: PromptImage) -> Tensor:
        """(num_tokens, hidden)."""
        ...


def _all_sizes(config: ModelConfig) -> Sequence[int]:
    return config.hidden_size, config.intermediate_size, config.head_dim


@dataclass(frozen=True)
class Architecture:
    """A family of models. Two differ by `dataclasses.replace` where they differ in little."""

    name: str
    hf: str | None
    """In `architectures` of config.json; None: this family is not read from such folders."""
    gguf: str | None
    """`general.architecture`; None: this family is not read from such files."""
    read_hf: Callable[[Mapping[str, Any]], ModelConfig]
    """The configuration from config.json; `eos_token_id` is that of generation_config.json where
    there is one."""
    read_gguf: Callable[[GGUFFile], ModelConfig]
    weights: Mapping[str, Weight]
    """Every tensor by our name, with `*` for numbers."""
    layer: Callable[[Loader, int], Layer]
    ends: Callable[[Loader], Ends]
    """`DecoderEnds` make it a decoder, others an encoder."""
    takes_gguf: Callable[[Mapping[str, Any]], bool] = lambda metadata: True
    """Which files of that `general.architecture` it is: GGUF names some families alike."""
    vector_sizes: Callable[[ModelConfig], Sequence[int]] = _all_sizes
    """Lengths of the rows that kernels are given: those for CPUs work in whole vectors."""
    takes_mxfp4: bool = False
    """Whether matrices of its folders may be in MXFP4: `NAME_blocks` and `NAME_scales`."""
    ignored: tuple[str, ...] = ()
    """Tensors of files that are not weights, with `*` for numbers."""
    hf_aliases: tuple[tuple[str, str], ...] = ()
    """How some folders begin the names of tensors that others have otherwise."""
    vision: Callable[[Loader], VisionTower] | None = None
    """What looks at images, of families that can."""
    whole_images: bool = False
    """Whether the tokens of an image attend to one another."""

    def split(self, name: str) -> Split:
        return self._weight(name)[0].split

    def place(self, name: str, form: Format) -> Place:
        """Where our tensor `name` is in a file of that form."""
        weight, numbers = self._weight(name)
        is_bias = name.endswith(":bias")
        suffix = weight.suffixes(form)[is_bias]
        pattern = weight.hf if form == "hf" else weight.gguf
        rows = weight.hf_rows if form == "hf" else weight.gguf_rows
        for number in numbers:
            pattern = pattern.replace("*", number, 1)
        in_file, _, part = pattern.removesuffix("]").partition("[")
        is_turned = form == "hf" and weight.hf_turned
        return Place(f"{in_file}{suffix}", int(part) if part else None, rows, is_turned)

    def unknown(self, in_file: Iterable[str], form: Format) -> list[str]:
        """Tensors of a file that this architecture has no use for."""
        patterns = [
            (weight.hf if form == "hf" else weight.gguf).partition("[")[0] + suffix
            for weight in self.weights.values()
            for suffix in weight.suffixes(form)
        ]
        known = re.compile("|".join(map(_expression, [*patterns, *self.ignored])))
        return [name for name in in_file if not known.fullmatch(name)]

    def _weight(self, name: str) -> tuple[Weight, list[str]]:
        parts = name.partition(":")[0].split(".")
        pattern = ".".join("*" if part.isdigit() else part for part in parts)
        return self.weights[pattern], [part for part in parts if part.isdigit()]


def _expression(pattern: str) -> str:
    return pattern.replace(".", r"\.").replace("*", r"\d+")
