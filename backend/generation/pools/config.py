"""infra/pools.toml, typed: which models there are, what they cost, which replicas serve them.

Read once at start; a change takes a restart. `${VAR}` and `${VAR:-default}` in any string are
replaced from the environment. Every mistake is a PoolsError that names the file, the model and
the field. All fields: docs/generation.md, "Pools"; an example: infra/pools.example.toml.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from backend.platform.errors import ModelNotFound

Dialect = Literal["vllm", "openai"]

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_PRICES = ("input", "cached_input", "output")
_MODEL_FIELDS = {
    "id",
    "name",
    "aliases",
    "context_window",
    "max_output_tokens",
    "max_image_tokens",
    "capabilities",
    "upstream_model",
    "max_concurrency",
    "price_per_1k",
    "sampling",
    "dialect",
    "replica",
}
_SAMPLING_FIELDS = {"temperature", "top_p", "top_k", "min_p", "repetition_penalty"}
_REPLICA_FIELDS = {"name", "url", "api_key"}


class PoolsError(ImproperlyConfigured):
    """The pools file cannot be used; the message names the place and what to write there."""


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
    tables = document.get("model")
    if not isinstance(tables, list) or not tables:
        raise PoolsError(f"{path} has no [[model]]; at least one is needed.")
    models = tuple(_pool(_Table(path, f"model {n}", t, environment)) for n, t in enumerate(tables))
    _check_names(path, models)
    return Pools(models)


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


class _Table:
    """One TOML table with typed access; knows where it stands, for the errors."""

    def __init__(
        self, path: Path, place: str, table: dict[str, Any], environment: Mapping[str, str]
    ) -> None:
        self.path, self.place, self.table, self.environment = path, place, table, environment

    def wrong(self, key: str, expected: str) -> PoolsError:
        found = repr(self.table[key]) if key in self.table else "nothing"
        return PoolsError(f"{self.path}: {self.place}: {key} must be {expected}, not {found}.")

    def refuse_unknown(self, known: set[str]) -> None:
        unknown = sorted(self.table.keys() - known)
        if unknown:
            raise PoolsError(
                f"{self.path}: {self.place}: unknown field {unknown[0]!r};"
                f" known are {', '.join(sorted(known))}."
            )

    def text(self, key: str, default: str | None = None) -> str:
        value = self.table.get(key, default)
        if not isinstance(value, str) or (default is None and not value):
            raise self.wrong(key, "a text")
        return _VARIABLE.sub(self._variable, value)

    def _variable(self, match: re.Match[str]) -> str:
        name, default = match.groups()
        value = self.environment.get(name) or default
        if value is None:
            raise PoolsError(
                f"{self.path}: {self.place} names ${{{name}}}, which is not set."
                f" Set it, or write ${{{name}:-default}}."
            )
        return value

    def positive(self, key: str, default: int | None = None) -> int:
        value = self.table.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self.wrong(key, "a whole number over 0")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "a list of texts")
        return tuple(value)

    def sampling(self) -> dict[str, float]:
        value = self.table.get("sampling", {})
        if (
            not isinstance(value, dict)
            or not value.keys() <= _SAMPLING_FIELDS
            or not all(type(number) in (int, float) and number >= 0 for number in value.values())
        ):
            raise self.wrong(
                "sampling", f"a table of numbers: {', '.join(sorted(_SAMPLING_FIELDS))}"
            )
        return dict(value)

    def prices(self) -> dict[str, Decimal]:
        value = self.table.get("price_per_1k", {})
        if not isinstance(value, dict) or set(value) != set(_PRICES):
            raise self.wrong("price_per_1k", 'a table of "input", "cached_input" and "output"')
        try:
            prices = {name: Decimal(value[name]) for name in _PRICES if _is_text(value[name])}
        except InvalidOperation:
            prices = {}
        if len(prices) != len(_PRICES) or any(not p.is_finite() or p < 0 for p in prices.values()):
            raise self.wrong("price_per_1k", 'texts such as "0.0002": money is never a float')
        return prices


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _pool(table: _Table) -> PoolConfig:
    model_id = table.text("id")
    table.place = f"model {model_id!r}"
    table.refuse_unknown(_MODEL_FIELDS)
    dialect = table.text("dialect", "vllm")
    if dialect not in get_args(Dialect):
        raise table.wrong("dialect", '"vllm" or "openai"')
    replicas = table.table.get("replica")
    if not isinstance(replicas, list) or not replicas:
        raise PoolsError(f"{table.path}: {table.place} has no [[model.replica]].")
    return PoolConfig(
        id=model_id,
        name=table.text("name", model_id),
        aliases=table.texts("aliases"),
        context_window=table.positive("context_window"),
        max_output_tokens=table.positive("max_output_tokens"),
        max_image_tokens=(
            table.positive("max_image_tokens") if "max_image_tokens" in table.table else None
        ),
        capabilities=table.texts("capabilities"),
        upstream_model=table.text("upstream_model", model_id),
        max_concurrency=table.positive("max_concurrency", 64),
        price_per_1k=table.prices(),
        sampling=table.sampling(),
        dialect=cast(Dialect, dialect),
        replicas=tuple(
            _replica(_Table(table.path, f"{table.place}, replica {n}", r, table.environment))
            for n, r in enumerate(replicas)
        ),
    )


def _replica(table: _Table) -> ReplicaConfig:
    table.refuse_unknown(_REPLICA_FIELDS)
    url = table.text("url").rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path:
        raise PoolsError(
            f"{table.path}: {table.place}: url must be http(s)://host[:port], not {url!r}."
        )
    return ReplicaConfig(name=table.text("name"), url=url, api_key=table.text("api_key", ""))
