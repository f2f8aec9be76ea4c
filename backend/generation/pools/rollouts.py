"""Models that are tried on a part of another one's requests, as staff have said it (decision 0246).

Every web process reads the rows each second, counts what comes of the answers in Redis, and takes a
candidate back that does worse: one transaction, which the first process to see it makes.
"""

import asyncio
from dataclasses import dataclass
from hashlib import blake2b
from typing import cast
from uuid import UUID, uuid4

import structlog
from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from psycopg_pool import PoolTimeout
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.audit.actions import Action
from backend.audit.services import SYSTEM, record, staff
from backend.generation.models import Rollout
from backend.generation.pools.trial import Answers, Margins, latency_bucket, worse_by
from backend.platform.compiled_query import CompiledQuery
from backend.platform.database import in_database

log = structlog.get_logger(__name__)

INTERVAL_S = 1.0
_WINDOW = 5_000
"""After so many answers of a candidate counting begins anew: what was good for long shall not hide
what is bad now."""
_KEPT_S = 7 * 86_400
_STABLE, _CANDIDATE = "stable", "candidate"


@dataclass(frozen=True, slots=True)
class Trial:
    """A rollout in force, as this process knows it.

    Attributes:
        id: of this try; another one after each change.
        share: of the requests, from 0 to 1.
        is_shadow: the candidate gets copies, whose answers nobody reads.
    """

    id: UUID
    model: str
    candidate: str
    share: float
    margins: Margins
    is_shadow: bool = False

    def is_chosen(self, root: bytes) -> bool:
        """Whether the requests of a conversation go to the candidate: always the same."""
        digest = blake2b(root, key=self.id.bytes, digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64 < self.share


def trial_of(row: Rollout) -> Trial:
    margins = Margins(row.failure_margin, row.slow_margin, row.min_answers)
    share = row.percent / 100
    return Trial(row.trial_id, row.model, row.candidate, share, margins, row.is_shadow)


def trials_read() -> dict[str, Trial]:
    """Those in force, by the model or alias that is asked for."""
    if not _ANY_IN_FORCE.rows():
        return {}
    return {row.model: trial_of(row) for row in _in_force()}


def _in_force() -> QuerySet[Rollout]:
    return Rollout.objects.filter(is_active=True, percent__gt=0)


# Nearly always there is none, and every web process looks once a second.
_ANY_IN_FORCE = CompiledQuery(lambda: _in_force().values_list("pk")[:1])


def rollout_save(row: Rollout, *, by: UUID) -> None:
    """Begin a new trial as `row` says: nothing is counted yet.

    Args:
        by: the member of staff.
    """
    row.trial_id, row.retreated_at, row.reason = uuid4(), None, ""
    with transaction.atomic():
        row.save()
        record(
            Action.ROLLOUT_UPDATED,
            organization_id=None,
            actor=staff(by),
            target=("model", row.candidate),
            details={
                "model": row.model,
                "percent": row.percent,
                "is_shadow": row.is_shadow,
                "is_active": row.is_active,
            },
        )


def trial_retreat(trial: Trial, reason: str) -> bool:
    """Send nothing to the candidate any more; False where somebody else has changed it."""
    with transaction.atomic():
        changed = Rollout.objects.filter(trial_id=trial.id, is_active=True).update(
            is_active=False, retreated_at=timezone.now(), reason=reason[:500]
        )
        if changed:
            record(
                Action.ROLLOUT_RETREATED,
                organization_id=None,
                actor=SYSTEM,
                target=("model", trial.candidate),
                details={"model": trial.model, "reason": reason},
            )
    return bool(changed)


class Rollouts:
    """The trials of one web process, and what comes of them."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self.trials: dict[str, Trial] = {}

    def mark(self, trial: Trial, *, is_candidate: bool) -> str:
        """What an admitted generation carries, to be counted by."""
        return f"{trial.id.hex}:{_CANDIDATE if is_candidate else _STABLE}"

    def shadow_of(self, mark: str) -> Trial | None:
        """The trial in shadow that a generation with this mark is copied for."""
        trial_id, _, _ = mark.partition(":")
        shadows = (trial for trial in self.trials.values() if trial.is_shadow)
        return next((trial for trial in shadows if trial.id.hex == trial_id), None)

    async def note(self, mark: str, *, failed: bool, ttft_ms: int | None) -> None:
        """Count one answer. Raises RedisError, OSError."""
        trial_id, _, arm = mark.partition(":")
        key = _key(trial_id)
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.hincrby(key, f"{arm}:count", 1)
            pipeline.hincrby(key, f"{arm}:failed", int(failed))
            if ttft_ms is not None:
                pipeline.hincrby(key, f"{arm}:ttft:{latency_bucket(ttft_ms)}", 1)
            pipeline.expire(key, _KEPT_S)
            await pipeline.execute()

    async def answers(self, trial: Trial) -> tuple[Answers, Answers]:
        """Of the usual model and of the candidate. Raises RedisError, OSError."""
        found = {_STABLE: Answers(), _CANDIDATE: Answers()}
        stored = cast(dict[bytes, bytes], await self._redis.hgetall(_key(trial.id.hex)))
        for name, value in stored.items():
            arm, _, what = name.decode().partition(":")
            answers, count = found[arm], int(value)
            if what == "count":
                answers.count = count
            elif what == "failed":
                answers.failed = count
            else:
                answers.ttft[int(what.removeprefix("ttft:"))] = count
        return found[_STABLE], found[_CANDIDATE]

    async def judge(self) -> None:
        """Read the rows, and take back what does worse."""
        self.trials = await in_database(trials_read)
        for trial in self.trials.values():
            stable, candidate = await self.answers(trial)
            if reason := worse_by(stable, candidate, trial.margins):
                if await in_database(trial_retreat, trial, reason):
                    log.error("rollout_retreated", candidate=trial.candidate, reason=reason)
                self.trials = {name: one for name, one in self.trials.items() if one != trial}
            elif candidate.count >= _WINDOW:
                await self._redis.delete(_key(trial.id.hex))

    async def run(self) -> None:
        """A loop of the web process; runs until it is cancelled."""
        while True:
            try:
                await self.judge()
            except (DatabaseError, PoolTimeout, RedisError, OSError) as error:
                log.warning("rollouts_not_judged", error=str(error))
            await asyncio.sleep(INTERVAL_S)


def _key(trial_id: str) -> str:
    return f"rollout:{trial_id}"
