"""Slowing a flagged key or organization down. Two reads in Redis for everybody else."""

import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

from backend.accounts.principal import Principal
from backend.errors import RateLimited
from billing.redis_client import async_client, sync_client


def start(*, subject_id: UUID, requests_per_minute: int, minutes: int) -> datetime:
    """Throttle a key or an organization from now on. Returns until when.

    Losing Redis ends it early; the detector starts it again while the subject goes on.
    """
    sync_client().set(_key(subject_id), requests_per_minute, ex=minutes * 60)
    return datetime.now(UTC) + timedelta(minutes=minutes)


def stop(*, subject_id: UUID) -> None:
    sync_client().delete(_key(subject_id))


async def check(principal: Principal) -> None:
    """Raises RateLimited where the caller's key or organization is throttled and over its rate."""
    subjects = [principal.organization_id]
    if principal.key_id is not None:
        subjects.append(principal.key_id)
    redis = async_client()
    for subject_id, limit in zip(
        subjects, await redis.mget([_key(subject_id) for subject_id in subjects]), strict=True
    ):
        if limit is None:
            continue
        minute, second = divmod(int(time.time()), 60)
        counter = f"{_key(subject_id)}:{minute}"
        pipeline = redis.pipeline(transaction=True)
        pipeline.incr(counter)
        pipeline.expire(counter, 120)
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
