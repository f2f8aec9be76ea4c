"""Slowing a flagged key or organization down. For all others it is one read in
Redis, sent together with the reservation."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from backend.accounts.principal import Principal
from backend.platform.errors import RateLimited
from backend.platform.redis import async_client, sync_client


def start(*, subject_id: UUID, requests_per_minute: int, minutes: int) -> datetime:
    """Throttle a key or an organization from now on. Returns until when.

    Losing Redis ends it early; the detector starts it again while the subject goes on.
    """
    sync_client().set(_key(subject_id), requests_per_minute, ex=minutes * 60)
    return datetime.now(UTC) + timedelta(minutes=minutes)


def stop(*, subject_id: UUID) -> None:
    sync_client().delete(_key(subject_id))


def keys(principal: Principal) -> list[str]:
    """What to read to know whether the caller is throttled."""
    subjects = [principal.organization_id]
    if principal.key_id is not None:
        subjects.append(principal.key_id)
    return [_key(subject_id) for subject_id in subjects]


async def refuse_if_over(principal: Principal, limits: Sequence[bytes | str | None]) -> None:
    """Raises RateLimited where the caller is throttled and over its rate.

    Args:
        limits: the values of `keys(principal)`.
    """
    redis = async_client()
    for key, limit in zip(keys(principal), limits, strict=True):
        if limit is None:
            continue
        minute, second = divmod(int(time.time()), 60)
        pipeline = redis.pipeline(transaction=True)
        pipeline.incr(f"{key}:{minute}")
        pipeline.expire(f"{key}:{minute}", 120)
        used, _ = await pipeline.execute()
        if used > int(limit):
            raise RateLimited(
                "Unusual use was noticed, and this account is slowed down for a while. If it is"
                " yours, check who has your keys; support can lift this.",
                code="unusual_activity",
                retry_after=60 - second,
            )


def _key(subject_id: UUID) -> str:
    return f"billing:throttled:{subject_id}"
