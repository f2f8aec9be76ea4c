"""Stops generations whose organization was suspended, or whose user was deactivated.

Streams end by themselves (backend/api/access_watch.py), but a generation may run without readers:
in the background, or for the disconnect grace. A process asks for those that it runs, so one that
was admitted at the moment of the suspension, or failed over since, is found as well.
"""

import asyncio

import structlog
from django.db import DatabaseError

from backend.accounts.access import organizations_suspended, users_inactive
from backend.generation.run.active import ActiveGenerations
from backend.platform.database import in_database

CHECK_INTERVAL_S = 4.0

log = structlog.get_logger(__name__)


class EndedAccess:
    """The check of one process."""

    def __init__(self, registry: ActiveGenerations) -> None:
        self._registry = registry

    async def run(self) -> None:
        """Its task; ends when the process drains."""
        while not self._registry.draining:
            await asyncio.sleep(CHECK_INTERVAL_S)
            try:
                await self.round()
            except DatabaseError as error:
                log.warning("ended_access_not_checked", error=str(error))

    async def round(self) -> int:
        """One look, two queries at most; how many generations were stopped."""
        principals = {active.id: active.request.principal for active in self._registry}
        if not principals:
            return 0
        organizations = {p.organization_id for p in principals.values()}
        users = {p.user_id for p in principals.values()}
        suspended = await in_database(organizations_suspended, organizations)
        inactive = await in_database(users_inactive, users)
        stopped = 0
        for active in list(self._registry):
            principal = active.request.principal
            if principal.organization_id in suspended or principal.user_id in inactive:
                log.info("generation_access_ended", generation_id=str(active.id))
                active.request_stop("cancelled")
                stopped += 1
        return stopped
