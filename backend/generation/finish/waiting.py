"""What has been delivered is stored and billed, however long PostgreSQL is away meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
from django.db import DatabaseError, DataError, IntegrityError

from backend.generation.records import Finished, generation_stored
from backend.generation.request import AdmittedGeneration
from backend.platform.database import in_database

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

_RETRY_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


async def when_database_is_back(
    store: Callable[[int], Awaitable[Result]], *, is_ours: Callable[[], bool] = lambda: True
) -> Result | None:
    """The result of `store`, which is called until PostgreSQL has answered it.

    Args:
        store: gets the number of the attempt; the ones before may have been carried out.
        is_ours: asked after each failure; None is returned where it is not.
    Raises:
        DataError, IntegrityError: PostgreSQL does not take these values, now or later.
    """
    attempt = 0
    while True:
        try:
            return await store(attempt)
        except (DataError, IntegrityError):
            raise
        except DatabaseError as error:
            # Of any other kind: the server is away, read-only (a failover), or its tables
            # are being migrated. All of these pass.
            log.error("generation_not_stored", error=str(error), attempt=attempt)
            await asyncio.sleep(_RETRY_S[min(attempt, len(_RETRY_S) - 1)])
            attempt += 1
            if not is_ours():
                return None


async def whole_generation_store(
    admitted: AdmittedGeneration, store: Callable[[], Finished]
) -> Finished:
    """Store a generation whose row is made and ended in one transaction, `store`. One that was
    carried out although its reply was lost is not repeated.

    Raises:
        IntegrityError: there is another one of its id.
    """

    def attempt(number: int) -> Finished:
        before = generation_stored(admitted) if number else None
        return before if before is not None else store()

    finished = await when_database_is_back(lambda number: in_database(attempt, number))
    assert finished is not None
    return finished
