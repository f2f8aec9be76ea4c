"""What staff have said of models, in the database: the pools files are a first filling.

Every web process reads the rows each second; `load_pools` then goes by them. A row is checked when
it is written; one that cannot be read any more (a variable that is not set) is logged and left out,
so that the file's word holds again.
"""

import asyncio
import os
from typing import Any

import msgspec
import structlog
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from psycopg_pool import PoolTimeout

from backend.generation.models import Pool
from backend.generation.pools.config import (
    PoolConfig,
    PoolRow,
    Pools,
    PoolsError,
    load_pools,
    pool_of,
    use_rows,
)
from backend.platform.database import in_database
from billing.prices.services import prices_seed

log = structlog.get_logger(__name__)

READ_INTERVAL_S = 1.0


def pool_save(
    *,
    model_id: str,
    definition: dict[str, Any],
    is_enabled: bool = True,
    position: int | None = None,
) -> Pool:
    """Say what a model is from now on; web processes follow within a second. A model without a
    list price gets the definition's.

    Raises:
        ValidationError: with the field of the definition that is wrong.
    """
    pool = pool_check(model_id=model_id, definition=definition)
    with transaction.atomic():
        row, _ = Pool.objects.update_or_create(
            pk=model_id,
            defaults={
                "definition": definition,
                "is_enabled": is_enabled,
                "position": position,
            },
        )
        prices_seed(prices={pool.id: pool.price_per_1k})
    pool_rows_read()
    return row


def pool_check(*, model_id: str, definition: object) -> PoolConfig:
    """The pool that `definition` describes. Raises ValidationError."""
    if not isinstance(definition, dict):
        raise ValidationError({"definition": "It must be an object, as a [[model]] is."})
    try:
        pool = pool_of(definition, os.environ)
    except PoolsError as error:
        raise ValidationError({"definition": str(error)}) from error
    if pool.id != model_id:
        raise ValidationError({"definition": f"Its id is {pool.id!r}, and must be {model_id!r}."})
    names = {one.id for one in load_pools().models} - {pool.id}
    if clash := names.intersection(pool.aliases):
        raise ValidationError({"definition": f"The alias {min(clash)!r} is the id of a model."})
    return pool


def definition_of(pool: PoolConfig) -> dict[str, Any]:
    """A definition that describes `pool`; of replicas the addresses, and no keys."""
    written = msgspec.to_builtins(pool)
    prices = {kind: str(price) for kind, price in pool.price_per_1k.items()}
    replicas = [
        {"name": one.name, "url": _as_written(one.url), "api_key": "${PARLEY_ENGINE_API_KEY:-}"}
        for one in pool.replicas
        if not one.engine_id
    ]
    kept = {name: value for name, value in written.items() if value not in (None, "", [], {})}
    kept.pop("replicas", None)
    return {**kept, "price_per_1k": prices, "replica": replicas}


def _as_written(url: str) -> str:
    """The address that `make run` chooses anew at each start stays a variable."""
    return "${PARLEY_ENGINE_URL}" if url == os.environ.get("PARLEY_ENGINE_URL") else url


def pool_rows_read() -> Pools:
    """Read the rows; the pools in force, by them."""
    rows = []
    for row in Pool.objects.all():
        try:
            pool = pool_of(row.definition, os.environ) if row.is_enabled else None
        except PoolsError as error:
            log.error("pool_row_left_out", model=row.model_id, error=str(error))
            continue
        rows.append(PoolRow(row.model_id, pool, row.position))
    use_rows(tuple(rows))
    return load_pools()


async def follow_rows() -> None:
    """A loop of the web process; runs until it is cancelled."""
    while True:
        await asyncio.sleep(READ_INTERVAL_S)
        try:
            await in_database(pool_rows_read)
        except (DatabaseError, PoolTimeout) as error:
            log.warning("pool_rows_not_read", error=str(error))
