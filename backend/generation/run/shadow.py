"""Copies of requests for a model that is only looked at: nobody reads or pays its answers.

A trial in shadow (pools/rollouts.py) sends the candidate what the usual model is answering. A copy
takes a place that is left over at that moment, is the last among what the engine runs, and is given
up where there is none. Counted is what any trial counts: did it fail, when did its text begin.
What its caller wants stored nowhere, or may not send to the candidate, is not copied.
"""

import asyncio
import contextvars
import time
from collections.abc import Mapping

import structlog
from redis.exceptions import RedisError

from backend.generation import metrics
from backend.generation.admission.fallback import can_serve, may_be_used
from backend.generation.admission.queue import AdmissionQueue
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import PoolConfig, PoolsInForce
from backend.generation.pools.continuation import path_for, upstream_body
from backend.generation.pools.errors import ReplicaUnavailable, RequestRefused
from backend.generation.pools.replicas import Replica
from backend.generation.pools.rollouts import Rollouts, Trial
from backend.generation.run.active import ActiveGeneration
from backend.platform.errors import Overloaded

log = structlog.get_logger(__name__)

_MAX_AT_ONCE = 4
"""Of one web process: a copy costs it what an answer costs."""
_LAST_PRIORITY = 1_000
"""After every plan's."""
_TIMEOUT_S = 120.0


class ShadowCopies:
    """The copies that this process has under way."""

    def __init__(
        self,
        pools: PoolsInForce,
        queues: Mapping[str, AdmissionQueue],
        rollouts: Rollouts,
        client: UpstreamClient,
    ) -> None:
        self._pools = pools
        self._queues = queues
        self._rollouts = rollouts
        self._client = client
        self.tasks: set[asyncio.Task[None]] = set()

    def offer(self, active: ActiveGeneration) -> None:
        """Copy it if a trial wants it and there is room. Never waits, never fails."""
        request = active.request
        trial = self._rollouts.shadow_of(active.admitted.mark)
        candidate = self._pools.get(trial.candidate) if trial is not None else None
        if trial is None or candidate is None or candidate.id == active.pool.id:
            return
        if len(self.tasks) >= _MAX_AT_ONCE or request.n > 1 or not request.outlives_delivery:
            return
        if not can_serve(candidate, request):
            return
        copying = self._copy(active, candidate, trial)
        task = asyncio.create_task(copying, name="shadow copy", context=contextvars.Context())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _copy(self, active: ActiveGeneration, candidate: PoolConfig, trial: Trial) -> None:
        if not await may_be_used(candidate, active.request.principal):
            return
        try:
            ticket = self._queues[candidate.id].reserve(
                priority=_LAST_PRIORITY, weight=1, affinity=None, is_batch=True
            )
        except Overloaded:
            return
        try:
            replica = ticket.take_if_free()
            if replica is None:
                metrics.SHADOW_COPIES.labels(active.pool.id, candidate.id, "no_room").inc()
                return
            await self._answer(active, candidate, replica, trial)
        finally:
            ticket.release()

    async def _answer(
        self, active: ActiveGeneration, candidate: PoolConfig, replica: Replica, trial: Trial
    ) -> None:
        request, began, ttft_ms, failed = active.request, time.monotonic(), None, False
        body = upstream_body(request, candidate, choice=0, text_so_far="", tokens_so_far=0)
        if candidate.dialect == "vllm":
            body["priority"] = _LAST_PRIORITY
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                stream = await self._client.open(
                    replica.config,
                    path_for(request),
                    body,
                    request_id=f"{request.request_id}-shadow",
                    usage_key=f"shadow-{active.id}",
                )
                try:
                    while chunks := await stream.chunks():
                        if ttft_ms is None:
                            ttft_ms = round(1000 * (time.monotonic() - began))
                        if any(chunk.finish_reason for chunk in chunks):
                            break
                finally:
                    await stream.close()
            replica.breaker.succeeded()
        except RequestRefused:
            failed = True
        except (ReplicaUnavailable, TimeoutError) as error:
            failed = True
            if isinstance(error, ReplicaUnavailable) and not error.busy:
                replica.failed(str(error))
            log.warning("shadow_copy_failed", replica=replica.name, error=str(error))
        outcome = "failed" if failed else "answered"
        metrics.SHADOW_COPIES.labels(active.pool.id, candidate.id, outcome).inc()
        try:
            mark = self._rollouts.mark(trial, is_candidate=True)
            await self._rollouts.note(mark, failed=failed, ttft_ms=ttft_ms)
        except (RedisError, OSError) as error:
            log.warning("shadow_copy_not_counted", error=str(error))
