"""infra/pools.toml, typed: which models there are, what they cost, which replicas serve them.

`PARLEY_POOLS` is such a file, or a folder of them, read in the order of their names. They are
read again within a second of a change, by each process for itself; a change that is a mistake
is logged, and what was there stays. `${VAR}` and `${VAR:-default}` in any string are replaced
from the environment. Every mistake is a PoolsError that names the file, the model and the field.
The fields are described in docs/generation.md, "Pools".
"""

import os
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec
import structlog
from django.conf import settings

from backend.generation.pools.routing import POLICIES
from backend.generation.pools.tables import (
    Dialect,
    FileTable,
    ModelTable,
    PoolsError,
    ReplicaTable,
    SamplingField,
    named,
    with_variables,
)
from backend.generation.request import GenerationRequest
from backend.platform.errors import ModelNotFound

log = structlog.get_logger(__name__)

_CHECK_INTERVAL_S = 0.5


@dataclass(frozen=True, slots=True)
class ReplicaConfig:
    """One engine endpoint. `url` has no path: `/v1/...` is appended.

    Attributes:
        engine_id: of one that has announced itself (registry.py); "" of one that is configured.
    """

    name: str
    url: str
    api_key: str = field(default="", repr=False)
    engine_id: str = ""


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """One model and its replicas.

    Attributes:
        upstream_model: the name the replicas know it by.
        max_concurrency: generations that one replica takes at a time.
        max_image_tokens: the most tokens of one image in a prompt; None: not known, so a budget
            reserves the whole context window for a request with images.
        price_per_1k: US dollars per 1,000 `input`, `cached_input`, `output` tokens, `image` tokens
            where they cost something else than `input`, `cached_output` where reused answers cost
            something else than `output`; seconds of `audio`, `characters`.
        sampling: what the model's makers recommend, by upstream names (`temperature`, `top_p`,
            `top_k`, `min_p`, penalties); a request's own values come first.
        stop: the same, where an answer has to end for want of an end token.
        turn_tokens: what a turn of the chat page may take unless it names a limit; None: as much
            as `max_output_tokens`.
        license, notice: an SPDX name, and what its makers want said of it; shown to users.
        routing: the policy that chooses a replica, see routing.py.
        fallback: ids of models that serve in its place, in this order, while it takes no requests
            (admission/fallback.py).
        simple, simple_below: id of a model that answers in its place what is asked of an alias and
            has a difficulty below (admission/model_choice.py).
        region: where its replicas stand, as its engines announce it; "": anywhere.
        on_demand: its replica is started when it is asked for: requests wait for it.
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
    routing: str = "prefix"
    region: str = ""
    max_image_tokens: int | None = None
    stop: tuple[str, ...] = ()
    turn_tokens: int | None = None
    license: str = ""
    notice: str = ""
    on_demand: bool = False
    fallback: tuple[str, ...] = ()
    simple: str = ""
    simple_below: float = 0.25

    @property
    def turn_limit(self) -> int:
        """The most tokens of a turn that names no limit."""
        return min(self.turn_tokens or self.max_output_tokens, self.max_output_tokens)

    def answer_limit(self, request: GenerationRequest) -> int:
        """The most tokens of one choice. Upstreams are not sent a limit that the caller did not
        name: they would refuse a prompt that leaves less room."""
        usual = self.max_output_tokens if request.turn is None else self.turn_limit
        return min(request.params.max_tokens or usual, self.max_output_tokens)


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


class PoolsInForce(Protocol):
    """What the gateway asks about models: `Pools`, or `ConfiguredPools` as they change."""

    @property
    def models(self) -> tuple[PoolConfig, ...]: ...

    def get(self, model_id: str) -> PoolConfig | None: ...

    def find(self, name: str) -> PoolConfig: ...


class ConfiguredPools:
    """The configured pools as they are at each moment."""

    @property
    def models(self) -> tuple[PoolConfig, ...]:
        return load_pools().models

    def get(self, model_id: str) -> PoolConfig | None:
        return load_pools().get(model_id)

    def find(self, name: str) -> PoolConfig:
        return load_pools().find(name)


_Signature = tuple[tuple[str, int, int, int], ...]


class PoolsFiles:
    """The pools files at `path`, read again when they have changed."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self._path = path
        self._environment = environment
        self._signature: _Signature = ()
        self._pools: Pools | None = None
        self._checked_at = 0.0

    def current(self) -> Pools:
        """The pools in force; the same object until a file changes.

        Raises:
            PoolsError: at the first call only; later mistakes leave what was there.
        """
        now = time.monotonic()
        if self._pools is not None and now - self._checked_at < _CHECK_INTERVAL_S:
            return self._pools
        self._checked_at = now
        signature = self._look()
        if self._pools is not None and signature == self._signature:
            return self._pools
        self._signature = signature
        try:
            pools = read_pools(self._path, self._environment)
        except PoolsError as error:
            if self._pools is None:
                raise
            log.error("pools_not_reread", error=str(error))
            return self._pools
        if self._pools is not None:
            log.info("pools_reread", models=[pool.id for pool in pools.models])
        self._pools = pools
        return pools

    def _look(self) -> _Signature:
        """What changes when a file does; () when there is none."""
        try:
            stats = [(str(file), file.stat()) for file in _files_of(self._path)]
        except (OSError, PoolsError):
            return ()
        return tuple((name, stat.st_ino, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@cache
def _files_in_force() -> PoolsFiles:
    return PoolsFiles(Path(settings.POOLS_FILE), os.environ)


@dataclass(frozen=True, slots=True)
class PoolRow:
    """What a row of the database says of one model; see models.Pool. `pool` None: not served."""

    model_id: str
    pool: PoolConfig | None
    position: int | None = None


@dataclass(slots=True)
class _InForce:
    """What `load_pools` has made, and of what."""

    rows: tuple[PoolRow, ...] = ()
    made_of: tuple[Pools, tuple[PoolRow, ...]] | None = None
    pools: Pools = Pools(())


_in_force = _InForce()


def load_pools() -> Pools:
    """The configured pools: `PARLEY_POOLS` as the files say now, and before them what staff have
    changed, as this process read it last (rows.py)."""
    files, rows = _files_in_force().current(), _in_force.rows
    made_of = _in_force.made_of
    if made_of is None or made_of[0] is not files or made_of[1] is not rows:
        _in_force.pools, _in_force.made_of = overlaid(files, rows), (files, rows)
    return _in_force.pools


def use_rows(rows: tuple[PoolRow, ...]) -> None:
    """From now on `load_pools` goes by these rows."""
    if rows != _in_force.rows:
        _in_force.rows = rows


def overlaid(files: Pools, rows: Sequence[PoolRow]) -> Pools:
    """`files` with what `rows` say of their models, and the models of other rows after them."""
    if not rows:
        return files
    said = {row.model_id: row for row in rows}
    placed: list[tuple[int, bool, PoolConfig]] = []
    for place, pool in enumerate(files.models):
        row = said.pop(pool.id, PoolRow(pool.id, pool))
        if row.pool is not None:
            at = place if row.position is None else row.position
            placed.append((at, row.position is None, row.pool))
    for place, row in enumerate(said.values(), start=len(files.models)):
        if row.pool is not None:
            placed.append((place if row.position is None else row.position, False, row.pool))
    placed.sort(key=lambda one: one[:2])
    models: list[PoolConfig] = []
    ids = {pool.id for _, _, pool in placed}
    for _, _, pool in placed:
        taken = ids | {alias for other in models for alias in other.aliases}
        aliases = tuple(alias for alias in pool.aliases if alias not in taken)
        models.append(pool if aliases == pool.aliases else replace(pool, aliases=aliases))
    return Pools(tuple(models))


def pool_of(definition: Mapping[str, Any], environment: Mapping[str, str]) -> PoolConfig:
    """One [[model]], as a file would have it. Raises PoolsError, which names the field."""
    [pool] = _pools_of(Path("definition"), {"model": [dict(definition)]}, environment)
    return pool


def read_pools(path: Path, environment: Mapping[str, str]) -> Pools:
    """Parse and check a file, or all of a folder. PoolsError on the first thing that is wrong.

    In a folder the first file, by name, that has an alias keeps it: so a model is made the
    default by a file that comes before the others, and by none of theirs being changed.
    """
    models: list[PoolConfig] = []
    for file in _files_of(path):
        taken = {alias for pool in models for alias in pool.aliases}
        for pool in _read_file(file, environment):
            aliases = tuple(alias for alias in pool.aliases if alias not in taken)
            models.append(replace(pool, aliases=aliases))
    _check_names(path, models)
    return Pools(tuple(models))


def _files_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.toml"))
    if not files:
        raise PoolsError(f"{path} has no *.toml in it. Set PARLEY_POOLS to a file or its folder.")
    return files


def _read_file(path: Path, environment: Mapping[str, str]) -> tuple[PoolConfig, ...]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PoolsError(f"{path} cannot be read: {error}. Set PARLEY_POOLS to it.") from error
    except tomllib.TOMLDecodeError as error:
        raise PoolsError(f"{path} is not TOML: {error}") from error
    return _pools_of(path, document, environment)


def _pools_of(
    path: Path, document: dict[str, Any], environment: Mapping[str, str]
) -> tuple[PoolConfig, ...]:
    document = with_variables(path, document, environment)
    try:
        file = msgspec.convert(document, FileTable)
    except msgspec.ValidationError as error:
        raise PoolsError(f"{path}: {named(str(error), document)}.") from error
    models = tuple(_pool(path, table) for table in file.model)
    _check_names(path, models)
    return models


def _check_names(path: Path, models: Sequence[PoolConfig]) -> None:
    seen: set[str] = set()
    for pool in models:
        for name in (pool.id, *pool.aliases):
            if name in seen:
                raise PoolsError(f"{path}: the name {name!r} is used by two models.")
            seen.add(name)
        names = [replica.name for replica in pool.replicas]
        if len(set(names)) != len(names):
            raise PoolsError(f"{path}: model {pool.id!r} has two replicas of one name.")


def _pool(path: Path, table: ModelTable) -> PoolConfig:
    if table.routing not in POLICIES:
        known = ", ".join(sorted(POLICIES))
        raise PoolsError(
            f"{path}: model {table.id!r}: routing must be one of {known}, not {table.routing!r}."
        )
    if (missing := table.price_per_1k.missing) is not None:
        raise PoolsError(
            f"{path}: Object missing required field `{missing}` - at model {table.id!r}"
            " price_per_1k."
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
        price_per_1k={kind: Decimal(price) for kind, price in table.price_per_1k.given().items()},
        sampling={name: _number(name, value) for name, value in table.sampling.items()},
        stop=table.stop,
        turn_tokens=table.turn_tokens,
        license=table.license,
        notice=table.notice,
        dialect=table.dialect,
        routing=table.routing,
        region=table.region,
        on_demand=table.on_demand,
        fallback=table.fallback,
        simple=table.simple,
        simple_below=table.simple_below,
        replicas=tuple(_replica(path, table.id, replica) for replica in table.replica),
    )


def _number(name: SamplingField, value: float) -> float:
    """Engines want a count of tokens as one: 20, and not 20.0."""
    return int(value) if name == "top_k" else value


def _replica(path: Path, model_id: str, table: ReplicaTable) -> ReplicaConfig:
    url = table.url.rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path:
        raise PoolsError(
            f"{path}: model {model_id!r}, replica {table.name!r}:"
            f" url must be http(s)://host[:port], not {url!r}."
        )
    return ReplicaConfig(name=table.name, url=url, api_key=table.api_key)
