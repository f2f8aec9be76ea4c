"""What engines have counted, handed to billing: whose hours they are, by the model they serve."""

from collections.abc import Sequence
from typing import cast

from django.conf import settings
from django.utils import timezone

from backend.generation.pools.config import PoolConfig
from backend.generation.pools.registry import INDEX, EngineRecord, opened, stands_in
from backend.generation.pools.rows import pool_rows_read
from backend.platform.redis import sync_client
from billing.engines.hours import Counted, EngineSeen, engine_hours_note, price_of


def engines_note() -> int:
    """Note the hours of all engines that are announced now; how many there are.

    Raises: RedisError.
    """
    records = _announced()
    pools = pool_rows_read().models
    return engine_hours_note((_seen(record, pools) for record in records), at=timezone.now())


def _announced() -> list[EngineRecord]:
    client = sync_client()
    ids = sorted(raw.decode() for raw in cast(set[bytes], client.smembers(INDEX)))
    if not ids:
        return []
    found = cast(list[bytes | None], client.mget([f"{INDEX}:{engine_id}" for engine_id in ids]))
    records = [opened(raw, settings.ENGINE_API_KEY) for raw in found if raw]
    return [record for record in records if record is not None]


def _seen(record: EngineRecord, pools: Sequence[PoolConfig]) -> EngineSeen:
    totals = record.totals
    serving = (p for p in pools if p.upstream_model == record.model and stands_in(record, p))
    pool = next(serving, None)
    return EngineSeen(
        engine_id=record.id,
        model=record.model if pool is None else pool.id,
        name=record.name,
        hardware=record.hardware,
        region=record.region,
        hour_price=price_of(record.hour_price),
        counted=Counted(
            totals.up_s,
            totals.busy_s,
            totals.input_tokens,
            totals.cached_tokens,
            totals.output_tokens,
        ),
    )
