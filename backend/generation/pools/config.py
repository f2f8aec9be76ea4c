"""infra/pools.toml, typed: which models there are, what they cost, which replicas serve them.

Read once at start; a change takes a restart. `${VAR}` and `${VAR:-default}` in any string are
replaced from the environment. Every mistake is a PoolsError that names the file, the model and
the field. The fields are described in docs/generation.md, "Pools".
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from backend.generation.pools.routing import POLICIES
from backend.platform.errors import ModelNotFound

Dialect = Literal["vllm", "openai"]
SamplingField = Literal["temperature", "top_p", "top_k", "min_p", "repetition_penalty"]

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_PLACE = re.compile(r"`\$\.model\[(\d+)\]\.?([^`]*)`")

Text = Annotated[str, msgspec.Meta(min_length=1)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
# A text, since money is never a float.
Price = Annotated[str, msgspec.Meta(pattern=r"^\d+(\.\d+)?$")]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]


class PoolsError(ImproperlyConfigured):
    """The pools file cannot be used; the message names the place and what to write there."""


class _Prices(msgspec.Struct, forbid_unknown_fields=True):
    input: Price
    cached_input: Price
    output: Price


class _ReplicaTable(msgspec.Struct, forbid_unknown_fields=True):
    name: Text
    url: Text
    api_key: str = ""


class _ModelTable(msgspec.Struct, forbid_unknown_fields=True):
    """One [[model]] as it is written; see PoolConfig."""

    id: Text
    context_window: Positive
    max_output_tokens: Positive
    price_per_1k: _Prices
    replica: Annotated[list[_ReplicaTable], msgspec.Meta(min_length=1)]
    name: str = ""
    aliases: tuple[str, ...] = ()
    max_image_tokens: Positive | None = None
    capabilities: tuple[str, ...] = ()
    upstream_model: str = ""
    max_concurrency: Positive = 64
    sampling: dict[SamplingField, NotNegative] = {}
    dialect: Dialect = "vllm"
    routing: str = "affinity"


class _File(msgspec.Struct, forbid_unknown_fields=True):
    model: Annotated[list[_ModelTable], msgspec.Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class ReplicaConfig:
    """One engine endpoint. `url` has no path: `/v1/...` is appended."""

    name: str
    url: str
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """One model and its replicas.

    Attributes:
        upstream_model: the name the replicas know it by.
        max_concurrency: generations that one replica takes at a time.
        max_image_tokens: the most tokens of one image in a prompt; None: not known, so a budget
            reserves the whole context window for a request with images.
        price_per_1k: US dollars per 1,000 `input`, `cached_input`, `output` tokens.
        sampling: what the model's makers recommend, by upstream names (`temperature`, `top_p`,
            `top_k`, `min_p`, `repetition_penalty`); a request's own values come first.
        routing: the policy that chooses a replica, see routing.py.
        dialect: `vllm` (our engine, vLLM, SGLang) knows `priority`, `cache_salt`,
            `continuous_usage_stats` and `continue_final_message`; `openai` knows only what OpenAI
            documents, so an answer whose replica fails half-way ends there, with its text kept.
    """

    id: str
    name: str
    aliases: tuple[str, ...]
    context_window: int
    max_output_tokens: int
    capabilities: tuple[str, ...]
    upstream_model: str
    max_concurrency: int
    price_per_1k: dict[str, Decimal]
    sampling: dict[str, float]
    dialect: Dialect
    replicas: tuple[ReplicaConfig, ...]
    routing: str = "affinity"
    max_image_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Pools:
    """Every model, in the file's order."""

    models: tuple[PoolConfig, ...]

    def get(self, model_id: str) -> PoolConfig | None:
        """The pool with exactly this id; None when the pools file does not have it any more."""
        return next((pool for pool in self.models if pool.id == model_id), None)

    def find(self, name: str) -> PoolConfig:
        """The pool that serves `name`, an id or an alias. ModelNotFound where none does."""
        for pool in self.models:
            if name == pool.id or name in pool.aliases:
                return pool
        raise ModelNotFound(
            f"The model {name!r} does not exist. GET /v1/models lists those that do.",
            param="model",
        )


@cache
def load_pools() -> Pools:
    """The configured pools (`PARLEY_POOLS`), read once."""
    return read_pools(Path(settings.POOLS_FILE), os.environ)


def read_pools(path: Path, environment: Mapping[str, str]) -> Pools:
    """Parse and check `path`. PoolsError on the first thing that is wrong."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PoolsError(f"{path} cannot be read: {error}. Set PARLEY_POOLS to it.") from error
    except tomllib.TOMLDecodeError as error:
        raise PoolsError(f"{path} is not TOML: {error}") from error
    document = _with_variables(path, document, environment)
    try:
        file = msgspec.convert(document, _File)
    except msgspec.ValidationError as error:
        raise PoolsError(f"{path}: {_named(str(error), document)}.") from error
    models = tuple(_pool(path, table) for table in file.model)
    _check_names(path, models)
    return Pools(models)


def _with_variables(path: Path, value: Any, environment: Mapping[str, str]) -> Any:
    """`value` with the variables in all its strings replaced."""
    if isinstance(value, dict):
        return {key: _with_variables(path, item, environment) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_variables(path, item, environment) for item in value]
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


def _named(message: str, document: dict[str, Any]) -> str:
    """msgspec's message with the model's id in the place of its number."""

    def place(match: re.Match[str]) -> str:
        table = document["model"][int(match[1])]
        model = table.get("id", match[1]) if isinstance(table, dict) else match[1]
        return f"model {model!r} {match[2]}".rstrip()

    return _PLACE.sub(place, message)


def _check_names(path: Path, models: tuple[PoolConfig, ...]) -> None:
    seen: set[str] = set()
    for pool in models:
        for name in (pool.id, *pool.aliases):
            if name in seen:
                raise PoolsError(f"{path}: the name {name!r} is used by two models.")
            seen.add(name)
        names = [replica.name for replica in pool.replicas]
        if len(set(names)) != len(names):
            raise PoolsError(f"{path}: model {pool.id!r} has two replicas of one name.")


def _pool(path: Path, table: _ModelTable) -> PoolConfig:
    if table.routing not in POLICIES:
        known = ", ".join(sorted(POLICIES))
        raise PoolsError(
            f"{path}: model {table.id!r}: routing must be one of {known}, not {table.routing!r}."
        )
    return PoolConfig(
        id=table.id,
        name=table.name or table.id,
        aliases=table.aliases,
        context_window=table.context_window,
        max_output_tokens=table.max_output_tokens,
        max_image_tokens=table.max_image_tokens,
        capabilities=table.capabilities,
        upstream_model=table.upstream_model or table.id,
        max_concurrency=table.max_concurrency,
        price_per_1k={
            kind: Decimal(price)
            for kind, price in msgspec.structs.asdict(table.price_per_1k).items()
        },
        sampling={str(name): value for name, value in table.sampling.items()},
        dialect=table.dialect,
        routing=table.routing,
        replicas=tuple(_replica(path, table.id, replica) for replica in table.replica),
    )


def _replica(path: Path, model_id: str, table: _ReplicaTable) -> ReplicaConfig:
    url = table.url.rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path:
        raise PoolsError(
            f"{path}: model {model_id!r}, replica {table.name!r}:"
            f" url must be http(s)://host[:port], not {url!r}."
        )
    return ReplicaConfig(name=table.name, url=url, api_key=table.api_key)
