"""The cores that replicas of one machine share, and what else computes there: processor sharing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class _Job:
    left_s: float
    contends: float
    done: asyncio.Future[None]


class Host:
    """What computes at the same time gets equal parts of the cores, at most one each.

    On top of that comes what those who compute do to each other by memory bandwidth and caches:
    `prompts` and `decodes` say by how much work of each kind takes longer while one, two, ... jobs
    compute, beside having only a part of a core (the last one holds beyond).
    """

    def __init__(
        self, cores: float, prompts: Sequence[float] = (1.0,), decodes: Sequence[float] = (1.0,)
    ) -> None:
        self._cores = cores
        self._prompts, self._decodes = prompts, decodes
        self._jobs: list[_Job] = []
        self._at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def compute(self, seconds: float, prompts: float = 0.0) -> None:
        """Wait until work of so many seconds alone is done.

        Args:
            prompts: the part of it that is of prompts.
        """
        if seconds <= 0:
            return
        loop = asyncio.get_running_loop()
        self._advance(loop.time())
        job = _Job(seconds, prompts, loop.create_future())
        self._jobs.append(job)
        self._wait(loop)
        try:
            await job.done
        finally:
            if job in self._jobs:  # cancelled
                self._advance(loop.time())
                self._jobs.remove(job)
                self._wait(loop)

    def slowdown(self, prompts: float, more: int = 0) -> float:
        """Of work of that kind, with `more` jobs than there are."""
        busy = len(self._jobs) + more
        if not busy:
            return 1.0
        at = min(busy, len(self._prompts)) - 1, min(busy, len(self._decodes)) - 1
        contended = prompts * self._prompts[at[0]] + (1 - prompts) * self._decodes[at[1]]
        return max(1.0, busy / self._cores) * contended

    def _advance(self, now: float) -> None:
        passed, self._at = now - self._at, now
        for job in self._jobs:
            job.left_s -= passed / self.slowdown(job.contends)

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = None
        if self._jobs:
            soonest = min(job.left_s * self.slowdown(job.contends) for job in self._jobs)
            self._timer = loop.call_later(max(0.0, soonest), self._finish, loop)

    def _finish(self, loop: asyncio.AbstractEventLoop) -> None:
        self._advance(loop.time())
        ended = [job for job in self._jobs if job.left_s <= 1e-9]
        self._jobs = [job for job in self._jobs if job.left_s > 1e-9]
        for job in ended:
            if not job.done.done():
                job.done.set_result(None)
        self._wait(loop)
