"""Which engines there are: what they announce in Redis, read by every web process for itself.

An engine (or `manage.py announce_engine` for one that is not ours) writes a record every second,
with a lifetime of three. A record counts only when it is signed with the engines' key: who can
write to Redis alone shall not have prompts sent to an address of their own. While Redis is away, or
was just emptied, what was known stays: whether a replica works is what its probes tell.
"""

import asyncio
import hmac
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlsplit

import msgspec
import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.generation.pools.config import PoolConfig, PoolsInForce, ReplicaConfig
from backend.platform.errors import ModelNotFound
from billing.tiers import TIERS

log = structlog.get_logger(__name__)

ANSWERS = "decode"
"""The role of engines that requests are sent to."""
INDEX = "engines"
"""In Redis: the ids of the engines. The record of one is at `engines:{id}`."""
TTL_MS = 3000
READ_INTERVAL_S = 0.3
ALONE_INTERVAL_S = 1.0
"""While no engine has announced itself: an installation of one engine that is configured."""
_FORGET_AFTER_S = 1.2
"""Without a record for so long, an engine is gone: one whose Redis was emptied is back by then."""
_PURPOSE = b"parley.engine.1\n"
_MAX_RECORD_BYTES = 16_384
_MAX_ID = 80
"""Of a model's name, which usage keeps with a service tier behind it."""
ADAPTER_SEPARATOR = ":"
"""Between the name of a model and that of an adapter, for clients and for engines."""

_Short = Annotated[str, msgspec.Meta(max_length=200)]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
_Names = Annotated[tuple[_Short, ...], msgspec.Meta(max_length=64)]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_Size = Annotated[int, msgspec.Meta(ge=0)]
_Seconds = Annotated[float, msgspec.Meta(ge=0)]


class Capacity(msgspec.Struct, frozen=True):
    """`sequences`: computed at once; 0: not known. A block has `block_size` tokens."""

    sequences: _Size = 0
    blocks: _Size = 0
    block_size: _Size = 0
    max_model_len: _Size = 0


class PrefixSummary(msgspec.Struct, frozen=True):
    """Of the prefix cache: tokens looked up and found, and how often it began empty."""

    tokens_asked: _Count = 0
    tokens_hit: _Count = 0
    restarts: _Count = 0


class Load(msgspec.Struct, frozen=True):
    running: _Count = 0
    waiting: _Count = 0
    free_blocks: int = 0
    step_ms: float = 0.0
    prefix: PrefixSummary = PrefixSummary()


class Totals(msgspec.Struct, frozen=True):
    """Since this run of the engine began: seconds, of these at work, and tokens. `input_tokens`
    holds the cached ones."""

    up_s: _Seconds = 0.0
    busy_s: _Seconds = 0.0
    input_tokens: _Count = 0
    cached_tokens: _Count = 0
    output_tokens: _Count = 0


class EngineRecord(msgspec.Struct, frozen=True):
    """What an engine says of itself (inference/server/registration.py writes the same).

    Attributes:
        id: of this run of the engine: another after each start.
        model: the name it is asked for by, a pool's `upstream_model`.
        hour_price: US dollars; "" where it is not known.
    """

    id: _Name
    name: _Name
    model: _Name
    url: _Name
    state: Literal["ready", "draining", "down"]
    revision: _Short = ""
    hardware: _Short = ""
    region: _Short = ""
    hour_price: _Short = ""
    roles: _Names = ("prefill", "decode")
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    adapters: _Names = ()
    capacity: Capacity = Capacity()
    load: Load = Load()
    totals: Totals = Totals()


_DECODER = msgspec.json.Decoder(EngineRecord)


def sealed(record: EngineRecord, key: str) -> bytes:
    """`record` as it lies in Redis."""
    content = msgspec.json.encode(record)
    return _mac(content, key) + b"\n" + content


def opened(raw: bytes, key: str) -> EngineRecord | None:
    """The record in `raw`; None where it is not ours or not one."""
    mac, _, content = raw.partition(b"\n")
    if not key or len(raw) > _MAX_RECORD_BYTES or not hmac.compare_digest(mac, _mac(content, key)):
        return None
    try:
        record = _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    parts = urlsplit(record.url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path:
        return None
    return record


def _mac(content: bytes, key: str) -> bytes:
    return hmac.digest(key.encode(), _PURPOSE + content, "sha256").hex().encode()


class Registry:
    """The engines as this process last read them.

    Args:
        key: that signs records, and that engines ask for.
        allowed: whether prompts may be sent to such an address.
    """

    def __init__(
        self,
        key: str,
        *,
        allowed: Callable[[str], bool] = lambda url: True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.key = key
        self._allowed = allowed
        self._clock = clock
        self._engines: dict[str, EngineRecord] = {}
        self._seen_at: dict[str, float] = {}
        self._refused: set[str] = set()
        self.version = 0
        """Grows when an engine comes, goes or changes its address, state or adapters; not with its
        load."""

    @property
    def engines(self) -> list[EngineRecord]:
        return list(self._engines.values())

    def at(self, url: str) -> EngineRecord | None:
        """The engine at this address, if one has announced itself."""
        return next((record for record in self._engines.values() if record.url == url), None)

    def take(self, found: Mapping[str, bytes | None]) -> None:
        """What Redis holds now, by id."""
        now = self._clock()
        for engine_id, raw in found.items():
            record = opened(raw, self.key) if raw else None
            if record is None or record.id != engine_id or not self._allowed(record.url):
                self._note_refused(engine_id, raw)
                continue
            before = self._engines.get(engine_id)
            self._engines[engine_id], self._seen_at[engine_id] = record, now
            if before is None or _offers(before) != _offers(record):
                self.version += 1
                log.info("engine_registered", **_about(record))
        for engine_id, seen_at in list(self._seen_at.items()):
            if now - seen_at > _FORGET_AFTER_S:
                log.info("engine_gone", **_about(self._engines.pop(engine_id)))
                del self._seen_at[engine_id]
                self.version += 1

    def hold(self) -> None:
        """Redis could not be asked: nothing has become older."""
        self._seen_at = dict.fromkeys(self._seen_at, self._clock())

    def _note_refused(self, engine_id: str, raw: bytes | None) -> None:
        if raw and engine_id not in self._refused:
            self._refused = {*list(self._refused)[-1000:], engine_id}
            log.warning("engine_record_refused", engine_id=engine_id[:100])


def _offers(record: EngineRecord) -> tuple[str, str, tuple[str, ...]]:
    return record.url, record.state, record.adapters


def _about(record: EngineRecord) -> dict[str, Any]:
    return {
        "engine_id": record.id,
        "engine": record.name,
        "model": record.model,
        "url": record.url,
        "state": record.state,
    }


async def read(client: Redis, registry: Registry) -> None:
    """Read all records once. Raises RedisError, OSError."""
    ids = sorted(raw.decode() for raw in cast(set[bytes], await client.smembers(INDEX)))
    places = [f"{INDEX}:{engine_id}" for engine_id in ids]
    records = cast(list[bytes | None], await client.mget(places)) if ids else []
    found = dict(zip(ids, records, strict=True))
    registry.take(found)
    if gone := [engine_id for engine_id, raw in found.items() if raw is None]:
        await client.srem(INDEX, *gone)  # one that lives adds itself again within a second


async def announce(client: Redis, record: EngineRecord, key: str) -> None:
    """Write `record` for the next three seconds, for an engine that does not do so itself."""
    async with client.pipeline(transaction=False) as pipeline:
        pipeline.set(f"{INDEX}:{record.id}", sealed(record, key), px=TTL_MS)
        pipeline.sadd(INDEX, record.id)
        await pipeline.execute()


class RegistryReader:
    """Reads the registry three times a second, once where it is empty.

    Args:
        on_read: called after each reading.
    """

    def __init__(
        self,
        client: Redis,
        registry: Registry,
        *,
        on_read: Callable[[], None],
    ) -> None:
        self._client = client
        self._registry = registry
        self._on_read = on_read

    async def run(self) -> None:
        """The reader's task; runs until it is cancelled."""
        while True:
            await self.read_once()
            await asyncio.sleep(self.pause_s)

    @property
    def pause_s(self) -> float:
        """Until the next reading."""
        return READ_INTERVAL_S if self._registry.engines else ALONE_INTERVAL_S

    async def read_once(self) -> None:
        try:
            await read(self._client, self._registry)
        except (RedisError, OSError) as error:
            self._registry.hold()
            log.warning("registry_not_read", error=str(error))
        self._on_read()


class FleetPools:
    """The configured pools, each with the engines that have announced its model, and after them a
    pool for each adapter that some of those have: `pool:adapter`.

    A replica that is configured and has announced itself is one: they are told by their address.
    The same objects are returned as long as nothing has changed.
    """

    def __init__(self, configured: PoolsInForce, registry: Registry) -> None:
        self._configured = configured
        self._registry = registry
        self._made_of: tuple[tuple[PoolConfig, ...], int] | None = None
        self._models: tuple[PoolConfig, ...] = ()

    @property
    def models(self) -> tuple[PoolConfig, ...]:
        configured, version = self._configured.models, self._registry.version
        made = self._made_of
        if made is None or made[0] is not configured or made[1] != version:
            before = {pool.id: pool for pool in self._models}
            pools = [*configured, *adapted(configured, self._registry)]
            fresh = [with_engines(pool, self._registry) for pool in pools]
            # An equal pool stays the same object: its queue looks for another object.
            self._models = tuple(
                before[pool.id] if before.get(pool.id) == pool else pool for pool in fresh
            )
            self._made_of = (configured, version)
        return self._models

    def get(self, model_id: str) -> PoolConfig | None:
        return next((pool for pool in self.models if pool.id == model_id), None)

    def find(self, name: str) -> PoolConfig:
        pool = next((p for p in self.models if name == p.id or name in p.aliases), None)
        if pool is None:
            raise ModelNotFound(
                f"The model {name!r} does not exist. GET /v1/models lists those that do.",
                param="model",
            )
        return pool


def with_engines(pool: PoolConfig, registry: Registry) -> PoolConfig:
    """`pool` with the engines that serve its model, after its configured replicas."""
    configured = {replica.url for replica in pool.replicas}
    names = {replica.name for replica in pool.replicas}
    added = []
    for record in sorted(registry.engines, key=lambda record: (record.name, record.id)):
        if not (serves(record, pool.upstream_model) and stands_in(record, pool)):
            continue
        if record.url in configured:
            continue
        name = record.name if record.name not in names else f"{record.name}-{record.id[:8]}"
        names.add(name)
        added.append(ReplicaConfig(name, record.url, registry.key, engine_id=record.id))
    return replace(pool, replicas=(*pool.replicas, *added)) if added else pool


def serves(record: EngineRecord, model: str) -> bool:
    """Whether an engine answers for a model by this name: its own, or that with one of its
    adapters. One that only computes prompts for others answers nobody."""
    if ANSWERS not in record.roles:
        return False
    base, _, adapter = model.partition(ADAPTER_SEPARATOR)
    return record.model == model or (record.model == base and adapter in record.adapters)


def stands_in(record: EngineRecord, pool: PoolConfig) -> bool:
    """Whether an engine is where the prompts of `pool` may go: one that does not say where it
    stands gets none of a pool that has a region."""
    return pool.region in ("", record.region)


def adapted(configured: Iterable[PoolConfig], registry: Registry) -> list[PoolConfig]:
    """A pool for each adapter that engines have announced of a pool's model, as that is but for its
    names and replicas. One that is configured, or whose name would be a service tier's, has none.
    """
    pools = list(configured)
    taken = {name for pool in pools for name in (pool.id, *pool.aliases)}
    made: list[PoolConfig] = []
    for pool in pools:
        records = [
            one
            for one in registry.engines
            if one.model == pool.upstream_model and stands_in(one, pool)
        ]
        for adapter in sorted({name for record in records for name in record.adapters}):
            model_id = f"{pool.id}{ADAPTER_SEPARATOR}{adapter}"
            if adapter in TIERS or model_id in taken or len(model_id) > _MAX_ID:
                continue
            having = {record.url for record in records if adapter in record.adapters}
            made.append(
                replace(
                    pool,
                    id=model_id,
                    name=f"{pool.name} ({adapter})",
                    aliases=(),
                    upstream_model=f"{pool.upstream_model}{ADAPTER_SEPARATOR}{adapter}",
                    replicas=tuple(one for one in pool.replicas if one.url in having),
                    fallback=(),
                    on_demand=False,
                )
            )
    return made


def unserved(records: Iterable[EngineRecord], pools: PoolsInForce) -> list[EngineRecord]:
    """Engines whose model no pool names where they stand: nobody is sent to them."""
    return [
        record
        for record in records
        if not any(
            pool.upstream_model == record.model and stands_in(record, pool) for pool in pools.models
        )
    ]
