"""Notes that generations are running: for many at once, since nothing depends on it but what
people see in the admin."""

import asyncio
from collections import defaultdict
from uuid import UUID

import structlog
from django.db import DatabaseError

from backend.generation.records import generations_mark_running
from backend.platform.database import in_database

log = structlog.get_logger(__name__)

_TOGETHER_S = 0.5


class RunningMarks:
    """Those of one process that are still to be written."""

    def __init__(self) -> None:
        self._waiting: defaultdict[tuple[str, str], list[UUID]] = defaultdict(list)
        self._task: asyncio.Task[None] | None = None

    def add(self, generation_id: UUID, *, replica: str, pool: str) -> None:
        self._waiting[replica, pool].append(generation_id)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._waiting:
            await asyncio.sleep(_TOGETHER_S)
            waiting, self._waiting = self._waiting, defaultdict(list)
            for (replica, pool), ids in waiting.items():
                try:
                    await in_database(generations_mark_running, ids, replica=replica, pool=pool)
                except DatabaseError as error:
                    log.warning("running_not_marked", error=str(error))
