"""Keeps this process's claims on the answers that it is about to begin, and ends those of others
that have lapsed (backend/conversations/orphaned_turns.py)."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import structlog

from backend.conversations.orphaned_turns import orphaned_turns_fail, turns_renew
from backend.generation.gateway import Gateway
from backend.platform.database import in_database
from backend.platform.services_away import SERVICES_AWAY

log = structlog.get_logger(__name__)

_LOOK_S = 1.5

_beginning: set[UUID] = set()


@contextmanager
def turn_claimed(message_id: UUID) -> Iterator[None]:
    """While the block runs, the answer is being begun here."""
    _beginning.add(message_id)
    try:
        yield
    finally:
        _beginning.discard(message_id)


async def _run(gateway: Gateway) -> None:
    """Until the process drains."""
    while not gateway.active.draining:
        await asyncio.sleep(_LOOK_S)
        try:
            if _beginning:
                await in_database(turns_renew, list(_beginning))
            if ended := await in_database(orphaned_turns_fail):
                log.warning("orphaned_turns_failed", count=ended)
        except SERVICES_AWAY as error:
            log.warning("turns_not_looked_at", error=str(error))


def turn_loops(gateway: Gateway) -> dict[str, Any]:
    """For the lifespan of a web process."""
    return {"turns": lambda: _run(gateway)}
