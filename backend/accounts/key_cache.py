"""What Redis remembers of API keys: principals for ten seconds, refusals for five, revocations,
which keys were right within a day, last uses.

Protocol between the processes. A reader that misses loads the row and stores the principal
with SET NX. A revocation, once committed, overwrites the entry with a tombstone that lives
longer than any load that began before it could take. So a slow reader cannot put a revoked
principal back, and from the commit on every process sees the revocation.

A lost Redis loses nothing: each function falls back to what the database says.
"""

import time
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from typing import Any, cast
from uuid import UUID

import orjson
import redis
import structlog

from backend.accounts.principal import ModelLimit, PlanLimits, Principal, ProjectRules
from backend.platform.redis import CACHE, async_client, sync_client
from backend.platform.redis_batch import async_batch

PRINCIPAL_TTL_S = 10
_TOMBSTONE_TTL_S = 60
_TOMBSTONE = b"revoked"
_PRINCIPALS_KEPT = 1024
# So that one wrong key, however often it comes, is looked up once in this time.
_REFUSED = b"refused"
_REFUSED_TTL_S = 5
_CONFIRMED_TTL_S = 24 * 3600
_SUSPENDED = b"suspended:"  # and the reason
_LAST_USED = "accounts:keys:last_used"
_LAST_USED_FLUSHING = "accounts:keys:last_used:flushing"

log = structlog.get_logger(__name__)


class RefusedKey(Exception):
    """The cache knows that this key was revoked, or that the database has just refused it."""


class SuspendedKey(Exception):
    """The cache knows that the key's organization is suspended; the reason is its argument."""


async def principal_read(sha256: str) -> Principal | None:
    """The cached principal, None for a miss, without Redis, or past the time that it was written
    for: the entry itself lives a moment longer, by what its way to Redis took.

    Raises RefusedKey, SuspendedKey."""
    try:
        stored = await async_batch(CACHE).execute("GET", _entry(sha256))
    except redis.RedisError as error:
        log.warning("api_key_cache_unavailable", error=str(error))
        return None
    if stored is None:
        return None
    if stored in (_TOMBSTONE, _REFUSED):
        raise RefusedKey
    _refuse_suspended(stored)
    principal, valid_until = _read(stored)
    return principal if time.time() < valid_until else None


async def principal_write(sha256: str, principal: Principal, now: datetime, ttl_s: float) -> None:
    """Remember `principal` for `ttl_s` seconds from `now` on, when its key was used.

    Raises:
        RefusedKey, SuspendedKey: what the caller loaded has ended meanwhile.
    """
    try:
        pipeline = async_client(CACHE).pipeline(transaction=False)
        entry = _principal_to_json(principal, now.timestamp() + ttl_s)
        pipeline.set(_entry(sha256), entry, px=int(ttl_s * 1000), nx=True)
        pipeline.get(_entry(sha256))
        pipeline.set(_confirmed(sha256), b"", ex=_CONFIRMED_TTL_S)
        pipeline.hset(_LAST_USED, str(principal.key_id), now.isoformat())
        _, stored, *_ = await pipeline.execute()
    except redis.RedisError as error:
        log.warning("api_key_cache_unavailable", error=str(error))
        return
    if stored == _TOMBSTONE:
        raise RefusedKey
    _refuse_suspended(stored)


async def refusal_write(sha256: str) -> None:
    """Remember for some seconds that the database refused the key."""
    try:
        await async_client(CACHE).set(_entry(sha256), _REFUSED, ex=_REFUSED_TTL_S, nx=True)
    except redis.RedisError as error:
        log.warning("api_key_cache_unavailable", error=str(error))


async def is_confirmed(sha256: str) -> bool:
    """Whether the key was right within a day; True without Redis, which then limits nothing."""
    try:
        return bool(await async_client(CACHE).exists(_confirmed(sha256)))
    except redis.RedisError as error:
        log.warning("api_key_cache_unavailable", error=str(error))
        return True


def revocation_write(sha256: str) -> None:
    """Make every process refuse the key from now on. Called after the commit."""
    sync_client(CACHE).set(_entry(sha256), _TOMBSTONE, ex=_TOMBSTONE_TTL_S)


def suspensions_write(hashes: list[str], reason: str) -> None:
    """Make every process refuse these keys of a suspended organization. Called after the commit;
    when the entries lapse, what the database says is in force everywhere."""
    pipeline = sync_client(CACHE).pipeline(transaction=False)
    for sha256 in hashes:
        pipeline.set(_entry(sha256), _SUSPENDED + reason.encode(), ex=_TOMBSTONE_TTL_S)
    pipeline.execute()


def suspensions_forget(hashes: list[str]) -> None:
    """The organization is served again. Called after the commit."""
    client = sync_client(CACHE)
    for sha256 in hashes:
        stored = cast("bytes | None", client.get(_entry(sha256)))
        if stored is not None and stored.startswith(_SUSPENDED):
            client.delete(_entry(sha256))


def last_uses_take() -> dict[UUID, datetime]:
    """The uses noted since `last_uses_forget`. A crash in between leaves them to be taken again."""
    client = sync_client(CACHE)
    if not client.exists(_LAST_USED_FLUSHING) and client.exists(_LAST_USED):
        client.rename(_LAST_USED, _LAST_USED_FLUSHING)
    noted = cast(dict[bytes, bytes], client.hgetall(_LAST_USED_FLUSHING))
    return {UUID(key.decode()): datetime.fromisoformat(at.decode()) for key, at in noted.items()}


def last_uses_forget() -> None:
    sync_client(CACHE).delete(_LAST_USED_FLUSHING)


def _refuse_suspended(stored: object) -> None:
    if isinstance(stored, bytes) and stored.startswith(_SUSPENDED):
        raise SuspendedKey(stored.removeprefix(_SUSPENDED).decode())


def _entry(sha256: str) -> str:
    return f"accounts:key:{sha256}"


def _confirmed(sha256: str) -> str:
    return f"accounts:key:confirmed:{sha256}"


def _principal_to_json(principal: Principal, valid_until: float) -> bytes:
    """`valid_until` is in seconds since the epoch."""
    plan = principal.plan
    return orjson.dumps(
        {
            "valid_until": valid_until,
            "organization_id": principal.organization_id,
            "project_id": principal.project_id,
            "user_id": principal.user_id,
            "key_id": principal.key_id,
            "role": principal.role,
            "scopes": sorted(principal.scopes),
            "plan": {
                "slug": plan.slug,
                "queue_priority": plan.queue_priority,
                "requests_per_minute": plan.requests_per_minute,
                "tokens_per_minute": plan.tokens_per_minute,
                "concurrent_generations": plan.concurrent_generations,
            },
            "allowed_models": sorted(principal.project.allowed_models),
            "limits": [asdict(limit) for limit in principal.project.limits],
        }
    )


@lru_cache(_PRINCIPALS_KEPT)
def _read(stored: bytes) -> tuple[Principal, float]:
    """A principal and until when it holds. The same bytes are read at each request."""
    fields = orjson.loads(stored)
    return _principal_of(fields), fields["valid_until"]


def _principal_of(fields: dict[str, Any]) -> Principal:
    return Principal(
        organization_id=UUID(fields["organization_id"]),
        project_id=UUID(fields["project_id"]),
        user_id=UUID(fields["user_id"]),
        key_id=UUID(fields["key_id"]),
        role=fields["role"],
        plan=PlanLimits(**fields["plan"]),
        scopes=frozenset(fields["scopes"]),
        project=ProjectRules(
            allowed_models=frozenset(fields.get("allowed_models", ())),
            limits=tuple(ModelLimit(**limit) for limit in fields.get("limits", ())),
        ),
    )
