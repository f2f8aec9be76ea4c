"""A pools file as it is written: its tables, and how its texts are read."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from django.core.exceptions import ImproperlyConfigured

Dialect = Literal["vllm", "openai"]
SamplingField = Literal[
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
]

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")
_PLACE = re.compile(r"`\$\.model\[(\d+)\]\.?([^`]*)`")

Text = Annotated[str, msgspec.Meta(min_length=1)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
# A text, since money is never a float.
Price = Annotated[str, msgspec.Meta(pattern=r"^\d+(\.\d+)?$")]
StopText = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]


class PoolsError(ImproperlyConfigured):
    """The pools file cannot be used; the message names the place and what to write there."""


class PricesTable(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """By kind (billing/quantities.py): of tokens all three, and of images and of reused answers
    where they cost something else; or what a model of voice counts."""

    input: Price | None = None
    cached_input: Price | None = None
    output: Price | None = None
    audio: Price | None = None
    characters: Price | None = None
    image: Price | None = None
    cached_output: Price | None = None

    @property
    def missing(self) -> str | None:
        """A kind that has to have a price and has none."""
        if self.audio is not None or self.characters is not None:
            return None
        needed = {"input": self.input, "cached_input": self.cached_input, "output": self.output}
        return next((name for name, price in needed.items() if price is None), None)

    def given(self) -> dict[str, str]:
        """What has a price."""
        return {name: price for name in self.__struct_fields__ if (price := getattr(self, name))}


class ReplicaTable(msgspec.Struct, forbid_unknown_fields=True):
    name: Text
    url: Text
    api_key: str = ""


class ModelTable(msgspec.Struct, forbid_unknown_fields=True):
    """One [[model]] as it is written; see PoolConfig."""

    id: Text
    context_window: Positive
    max_output_tokens: Positive
    price_per_1k: PricesTable
    replica: list[ReplicaTable] = []
    name: str = ""
    aliases: tuple[str, ...] = ()
    max_image_tokens: Positive | None = None
    capabilities: tuple[str, ...] = ()
    upstream_model: str = ""
    max_concurrency: Positive = 64
    sampling: dict[SamplingField, NotNegative] = {}
    stop: Annotated[tuple[StopText, ...], msgspec.Meta(max_length=16)] = ()
    turn_tokens: Positive | None = None
    license: str = ""
    notice: str = ""
    dialect: Dialect = "vllm"
    routing: str = "prefix"
    region: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9-]{0,60}$")] = ""
    on_demand: bool = False
    fallback: tuple[Text, ...] = ()
    simple: str = ""
    simple_below: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.25


class FileTable(msgspec.Struct, forbid_unknown_fields=True):
    model: Annotated[list[ModelTable], msgspec.Meta(min_length=1)]


def with_variables(path: Path, value: Any, environment: Mapping[str, str]) -> Any:
    """`value` with the variables in all its strings replaced."""
    if isinstance(value, dict):
        return {key: with_variables(path, item, environment) for key, item in value.items()}
    if isinstance(value, list):
        return [with_variables(path, item, environment) for item in value]
    if not isinstance(value, str):
        return value

    def replaced(match: re.Match[str]) -> str:
        name, default = match.groups()
        found = environment.get(name) or default
        if found is None:
            raise PoolsError(
                f"{path} names ${{{name}}}, which is not set."
                f" Set it, or write ${{{name}:-default}}."
            )
        return found

    return _VARIABLE.sub(replaced, value)


def named(message: str, document: dict[str, Any]) -> str:
    """msgspec's message with the model's id in the place of its number."""

    def place(match: re.Match[str]) -> str:
        table = document["model"][int(match[1])]
        model = table.get("id", match[1]) if isinstance(table, dict) else match[1]
        return f"model {model!r} {match[2]}".rstrip()

    return _PLACE.sub(place, message)
