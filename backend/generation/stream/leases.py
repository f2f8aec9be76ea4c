"""Who may write a generation's events: opening, renewing, claiming, giving back.

A lease is `<epoch>:<process id>`. The epoch is counted in PostgreSQL (Generation.epoch), where
it also decides who may end the generation; Redis can lose a lease, never revive an old one.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Literal, cast
from uuid import UUID

import msgspec
import orjson
from redis.asyncio import Redis

from backend.generation.request import AdmittedGeneration
from backend.generation.stream import keys
from backend.generation.stream.log import Entry, StreamEntries
from backend.generation.stream.scripts import (
    ACQUIRE,
    END_WITH,
    FENCED,
    LAPSED,
    MEMORY_AGE,
    MISSING,
    PRESENT,
    RELEASE,
    RENEW,
)
from backend.platform.redis_batch import Batch

# A claim only keeps two processes from doing the same work; the epoch keeps them from harm.
_CLAIM_MS = 5_000
_CANCEL_TTL_S = 3600
_UNSTORED_BUFFER_MS = 30_000


Renewal = Literal["renewed", "cancel", "missing", "fenced"]
_RENEWALS: dict[int, Renewal] = {1: "renewed", 2: "cancel", MISSING: "missing", FENCED: "fenced"}

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(AdmittedGeneration)


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """Milliseconds: how long a lease lasts, how long a stream is kept after its end."""

    lease: int
    buffer: int


class Leases:
    """The leases of one process."""

    def __init__(self, redis: Redis, process_id: str, times: LeaseTimes) -> None:
        self._redis = redis
        self._process_id = process_id
        self._times = times
        batch = Batch(redis)
        self._acquire = batch.script(ACQUIRE)
        self._renew = redis.register_script(RENEW)
        self._release = batch.script(RELEASE)
        self._end_with = redis.register_script(END_WITH)
        self._lapsed = redis.register_script(LAPSED)
        self._memory_age = redis.register_script(MEMORY_AGE)
        self._present = redis.register_script(PRESENT)

    def value(self, epoch: int) -> str:
        return f"{epoch}:{self._process_id}"

    async def acquire(self, generation: AdmittedGeneration, *, epoch: int, ttl_ms: int) -> bool:
        """Take the lease; False when a process with a higher epoch has it.

        Args:
            ttl_ms: how long the request is kept; longer than the generation can last.
        """
        taken = await self._acquire(
            keys=[
                keys.lease(generation.id),
                keys.request(generation.id),
                keys.leases(keys.shard_of(generation.id)),
            ],
            args=[
                self.value(epoch),
                epoch,
                self._times.lease,
                _ENCODER.encode(generation),
                ttl_ms,
                str(generation.id),
            ],
        )
        return bool(taken)

    async def renew(self, held: Sequence[tuple[UUID, str]]) -> list[Renewal]:
        """Renew leases, given as (generation, lease value); what became of each."""
        of_shards: defaultdict[int, list[tuple[UUID, str]]] = defaultdict(list)
        for generation_id, value in held:
            of_shards[keys.shard_of(generation_id)].append((generation_id, value))
        found: dict[UUID, Renewal] = {}
        for renewed in await asyncio.gather(*starmap(self._renew_shard, of_shards.items())):
            found |= renewed
        return [found[generation_id] for generation_id, _ in held]

    async def _renew_shard(
        self, shard: int, held: Sequence[tuple[UUID, str]]
    ) -> dict[UUID, Renewal]:
        names, arguments = [keys.leases(shard)], [str(self._times.lease)]
        for generation_id, value in held:
            names += (keys.lease(generation_id), keys.cancelled(generation_id))
            arguments += (value, str(generation_id))
        results = await self._renew(keys=names, args=arguments)
        return {
            generation_id: _RENEWALS[int(result)]
            for (generation_id, _), result in zip(held, results, strict=True)
        }

    async def release(
        self,
        generation_id: UUID,
        value: str,
        why: Literal["ended", "handover"],
        *,
        outlives_delivery: bool = True,
    ) -> None:
        """Give the lease back; see scripts.RELEASE.

        Args:
            outlives_delivery: False: its stream is kept for a reader that has just lost its
                connection, and no longer.
        """
        await self._release(
            keys=[
                keys.lease(generation_id),
                keys.leases(keys.shard_of(generation_id)),
                keys.request(generation_id),
                keys.events(generation_id),
            ],
            args=[
                value,
                str(generation_id),
                why,
                self._times.buffer if outlives_delivery else _UNSTORED_BUFFER_MS,
            ],
        )

    async def end_with(self, generation_id: UUID, value: str, entries: Sequence[Entry]) -> bool:
        """Give the lease back with `entries` as the whole stream, whatever Redis holds of it.

        Returns:
            False when another process has the lease; nothing is changed then.
        """
        lengths = [length for entry in entries for length in (len(entry.data), len(entry.meta))]
        return bool(
            await self._end_with(
                keys=[
                    keys.lease(generation_id),
                    keys.leases(keys.shard_of(generation_id)),
                    keys.request(generation_id),
                    keys.events(generation_id),
                ],
                args=[
                    value,
                    str(generation_id),
                    self._times.buffer,
                    orjson.dumps(lengths),
                    b"".join(part for entry in entries for part in entry),
                ],
            )
        )

    async def lapsed(self, most: int) -> list[UUID]:
        """Generations whose lease has lapsed."""
        found = await asyncio.gather(
            *(self._lapsed(keys=[keys.leases(shard)], args=[most]) for shard in keys.shards())
        )
        ids = [UUID(generation_id.decode()) for of_shard in found for generation_id in of_shard]
        return ids[:most]

    async def claim(self, generation_id: UUID) -> bool:
        """Announce that this process takes the generation up; False when another just did.

        A claim of its own may be repeated: PostgreSQL was away after it, say.
        """
        name = keys.claim(generation_id)
        if await self._redis.set(name, self._process_id, nx=True, px=_CLAIM_MS):
            return True
        return bool(await self._redis.get(name) == self._process_id.encode())

    async def forget(self, generation_id: UUID) -> None:
        """Drop an id from the leases that nothing can be done about here."""
        leases = keys.leases(keys.shard_of(generation_id))
        await self._redis.zrem(leases, str(generation_id))

    async def stored(self, generation_id: UUID) -> AdmittedGeneration | None:
        """What its process kept for a successor; None when Redis has lost it."""
        found = cast(bytes | None, await self._redis.get(keys.request(generation_id)))
        return _DECODER.decode(found) if found is not None else None

    async def owner(self, generation_id: UUID) -> str | None:
        """The id of the process that holds the lease."""
        held = cast(bytes | None, await self._redis.get(keys.lease(generation_id)))
        return held.decode().partition(":")[2] if held is not None else None

    async def in_hand(self, generation_ids: Sequence[UUID]) -> list[bool]:
        """For each: whether Redis knows of it, leased or waiting to be claimed."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            for generation_id in generation_ids:
                pipeline.exists(keys.lease(generation_id), keys.request(generation_id))
            return [bool(found) for found in await pipeline.execute()]

    async def memory_age_s(self) -> int:
        """For how long Redis has lost nothing, as far as its processes have looked."""
        ages = await asyncio.gather(
            *(self._memory_age(keys=[keys.since(shard)]) for shard in keys.shards())
        )
        return min(int(age) for age in ages)

    async def mark_cancelled(self, generation_id: UUID) -> None:
        await self._redis.set(keys.cancelled(generation_id), 1, ex=_CANCEL_TTL_S)

    async def is_cancelled(self, generation_id: UUID) -> bool:
        return bool(await self._redis.exists(keys.cancelled(generation_id)))

    async def mark_readers(self, generation_ids: Sequence[UUID]) -> None:
        """Tell the owners that there are readers here."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            for generation_id in generation_ids:
                pipeline.set(keys.readers(generation_id), 1, px=2 * self._times.lease)
            await pipeline.execute()

    async def has_readers(self, generation_id: UUID) -> bool:
        return bool(await self._redis.exists(keys.readers(generation_id)))

    async def processes(self) -> int:
        """Count this process as present; how many are."""
        return int(
            await self._present(
                keys=[keys.PROCESSES], args=[self._process_id, 2 * self._times.lease]
            )
        )

    async def leave(self) -> None:
        """This process is going: it no longer counts."""
        await self._redis.zrem(keys.PROCESSES, self._process_id)

    async def entries(self, generation_id: UUID) -> list[Entry]:
        """All events that Redis has of a generation."""
        found = cast(StreamEntries, await self._redis.xrange(keys.events(generation_id)))
        return [Entry(fields[b"d"], fields[b"m"]) for _, fields in found]
