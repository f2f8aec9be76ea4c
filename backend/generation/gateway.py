"""The gateway of one web process: built, run and stopped as a whole.

The composition root of this folder: it makes every part and hands each what it needs. lifespan.py
starts it with the web server and puts it into the scope of each request.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError
from psycopg_pool import PoolTimeout
from redis.exceptions import RedisError

from backend.generation.admission.late_place import LatePlace
from backend.generation.admission.pipeline import AdmissionPipeline
from backend.generation.admission.queue import PlaceAsked, Ticket
from backend.generation.admission.queues import PoolQueues
from backend.generation.admission.rate_limits import Limiter
from backend.generation.admission.shared_queue import QueueRounds, demand_of, describe
from backend.generation.admission.shed import LoadShedder
from backend.generation.finish.finalize import Finisher
from backend.generation.finish.settle import Settlement
from backend.generation.models import Generation
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import ConfiguredPools, PoolConfig, Pools, PoolsInForce
from backend.generation.pools.demand import DemandReport
from backend.generation.pools.health import HealthMonitor
from backend.generation.pools.placements import Placements
from backend.generation.pools.prefixes import Prefix, prefix_of
from backend.generation.pools.registry import FleetPools, Registry, RegistryReader
from backend.generation.pools.rollouts import Rollouts
from backend.generation.pools.rows import follow_rows, pool_rows_read
from backend.generation.recovery.disconnect import DisconnectCheck
from backend.generation.recovery.ended_access import EndedAccess
from backend.generation.recovery.failover import Failover
from backend.generation.recovery.heartbeat import Heartbeat
from backend.generation.recovery.reaper import Reaper
from backend.generation.request import AdmittedGeneration
from backend.generation.reuse.finder import Finder
from backend.generation.reuse.plan import ReusePlan
from backend.generation.run.active import ActiveGeneration, ActiveGenerations
from backend.generation.run.shadow import ShadowCopies
from backend.generation.run.task import GenerationTasks
from backend.generation.settings import GatewaySettings
from backend.generation.stations import StationClock
from backend.generation.stream.follower import Follower
from backend.generation.stream.leases import Leases, LeaseTimes
from backend.generation.stream.log import EventLog
from backend.generation.stream.reader import Reader
from backend.generation.stream.writer import BufferWriter
from backend.generation.supervision import supervised
from backend.generation.trace import GenerationTrace
from backend.platform.cancellation import end_tasks
from backend.platform.database import in_database
from backend.platform.redis import Profile, new_client, new_stream_client
from backend.platform.redis_address import address_of
from backend.platform.redis_memory import settings_check
from backend.platform.tracing import tracing_end
from billing.tiers import BATCH
from safety.judge.policy import Policy
from safety.score.classifier import classifier
from safety.score.detect import warm_up

log = structlog.get_logger(__name__)

_HANDOVER_TIMEOUT_S = 2.0
_ROWS_TIMEOUT_S = 5.0
_REDIS = Profile(timeout_s=3.0, connections=32, wait_s=3.0)
# Its commands block for longer than the others may wait.
_BLOCKING_REDIS = Profile(timeout_s=None, connections=32, wait_s=3.0)


Loops = Mapping[str, Callable[[], Awaitable[None]]]


class Gateway:
    """Everything that runs beside the requests of a web process. Built within its event loop.

    Attributes:
        id: of this process, among all that share its Redis.
        queues: by pool id; models that come while it runs have theirs too.
        active: the generations that run here.

    Args:
        pools: other than the configured ones; for benchmarks and tests.
    """

    def __init__(self, settings: GatewaySettings | None = None, pools: Pools | None = None) -> None:
        self.settings = settings = settings or GatewaySettings.from_django()
        self.registry = Registry(settings.engine_key, allowed=settings.may_register)
        self._is_configured = pools is None
        self.pools: PoolsInForce = FleetPools(pools or ConfiguredPools(), self.registry)
        self.id = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self.redis = new_client(_REDIS)
        # Its own: what is delivered, and that we live, must not wait for admissions.
        vital = new_client(_REDIS)
        streams = new_stream_client(_REDIS)
        times = LeaseTimes(lease=int(settings.lease_s * 1000), buffer=settings.buffer_ttl_s * 1000)
        self.leases = Leases(streams, self.id, times)
        self.active = ActiveGenerations()
        self.client = UpstreamClient(ca_file=settings.engine_ca_file)
        self.queues = PoolQueues(
            self.pools, max_waiting=settings.max_queued, is_shared=settings.shared_queue
        )
        self.limiter = limiter = Limiter(self.redis, longest_s=int(settings.timeout_s) + 60)
        self.writer = BufferWriter(
            streams, on_missing=self._restore_log, ttl_ms=settings.request_ttl_ms
        )
        self.follower = Follower(new_stream_client(_BLOCKING_REDIS), self.id, self._on_cancel)
        self.shedder = LoadShedder(self.pools, self.queues)
        self.reader = Reader(self.active, self.follower, self.leases)
        self.finder = Finder(self.redis, self.active, self.reader)
        self.admission = AdmissionPipeline(
            self.queues,
            limiter,
            self.leases,
            self.client,
            self.finder,
            request_ttl_ms=settings.request_ttl_ms,
        )
        self.settlement = Settlement(limiter)
        self.rollouts = Rollouts(self.redis)
        self.shadows = ShadowCopies(self.pools, self.queues, self.rollouts, self.client)
        finisher = Finisher(self.leases, self.settlement, self.rollouts, self.finder)
        self.generation_tasks = GenerationTasks(
            self.active, self.client, self.writer, finisher.finish, self.finder
        )
        self.disconnects = DisconnectCheck(self.active, self.leases)
        self.heartbeat = Heartbeat(
            self.id,
            streams,
            self.active,
            self.leases,
            self.writer,
            self.follower,
            self.queues,
            settings,
        )
        self.failover = Failover(
            self.active,
            self.leases,
            self.writer,
            self.queues,
            self.pools,
            self.settlement,
            self.generation_tasks,
            self.disconnects,
            settings,
        )
        self.ended_access = EndedAccess(self.active)
        self.reaper = Reaper(self.active, self.leases, self.client, self.pools, settings)
        self.monitor = HealthMonitor(
            self.client,
            self.redis,
            self.queues.replica_sets,
            on_ready=lambda pool_id: self.queues[pool_id].pump(),
        )
        self.rounds = QueueRounds(vital, self.id, self.queues)
        self.registry_reader = RegistryReader(
            self.redis, self.registry, on_read=self._on_registry_read
        )
        self.placements = Placements(
            new_client(_BLOCKING_REDIS), self.id, self._on_placed_elsewhere
        )
        self.queues.on_placed = self.placements.publish
        self._probing: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._drained: asyncio.Task[None] | None = None

    async def start(self, others: Loops | None = None) -> None:
        """Start the loops; returns when every replica has been probed once, and the classifiers
        are loaded: the first request shall not wait for either.

        Args:
            others: loops of the layers above; they end themselves when the process drains.
        """
        loading = asyncio.create_task(asyncio.to_thread(warm_up))
        is_one_server = address_of(settings.REDIS_URL).kind == "server"
        await settings_check(self.redis, is_one_server=is_one_server)
        if self._is_configured:
            await self._read_rows()
        await self.registry_reader.read_once()
        await self.monitor.probe_all()
        loops = {
            "registry": self.registry_reader.run,
            "queue_rounds": self.rounds.run,
            "placements": self.placements.send,
            "placements_of_others": self.placements.listen,
            "monitor": self.monitor.run,
            "rollouts": self.rollouts.run,
            "demand": DemandReport(self.redis, self.queues).run,
            "heartbeat": self.heartbeat.run,
            "failover": self.failover.run,
            "reaper": self.reaper.run,
            "ended_access": self.ended_access.run,
            **({"pool_rows": follow_rows} if self._is_configured else {}),
            **(others or {}),
        }
        of_shards = [
            *(("writer", shard.run) for shard in self.writer.shards),
            *(("follower", shard.run) for shard in self.follower.shards),
        ]
        self._tasks = [
            asyncio.create_task(supervised(name, loop), name=name)
            for name, loop in [*loops.items(), *of_shards]
        ]
        await loading
        log.info("gateway_started", process_id=self.id, long_texts_spared=classifier().is_slow)

    async def _read_rows(self) -> None:
        """The models that are rows, before the first request. Without a database the process starts
        all the same and reads them when it is back: uvicorn ends all workers where one of them
        could not start, also those that are in the middle of answers."""
        try:
            async with asyncio.timeout(_ROWS_TIMEOUT_S):
                await in_database(pool_rows_read)
        except (DatabaseError, PoolTimeout, TimeoutError) as error:
            log.warning("pool_rows_not_read", error=str(error))

    def activate(
        self,
        admitted: AdmittedGeneration,
        pool: PoolConfig,
        policy: Policy,
        row: Generation | None = None,
        clock: StationClock | None = None,
        trace: GenerationTrace | None = None,
        reuse: ReusePlan | None = None,
    ) -> ActiveGeneration:
        """An admitted generation, ready to run here for the first time."""
        return ActiveGeneration(
            admitted,
            epoch=1,
            lease=self.leases.value(1),
            pool=pool,
            policy=policy,
            row=row,
            clock=clock,
            trace=trace,
            reuse=reuse,
            grace_s=self.settings.grace_s,
            on_disconnected=self.disconnects.begin,
        )

    def late_place(self, active: ActiveGeneration) -> LatePlace:
        """For one that gets another one's answer: should it be computed after all, it waits like a
        new request where nothing was delivered, and else is first in line."""

        def take() -> Ticket:
            admitted, queue = active.admitted, self.queues[active.pool.id]
            principal = admitted.request.principal
            asked: PlaceAsked = {
                "priority": principal.plan.queue_priority,
                "weight": 1,
                "affinity": prefix_of(admitted.request) if len(active.pool.replicas) > 1 else None,
                "is_batch": admitted.request.service_tier == BATCH,
            }
            begun = bool(active.choices[0].text)
            ticket = (
                queue.readmit(**asked)
                if begun
                else queue.reserve(organization=principal.organization_id, **asked)
            )
            describe(queue, ticket, demand_of(admitted, is_first=begun))
            return ticket

        return LatePlace(take)

    def begin_drain(self, wait_s: float | None = None) -> asyncio.Task[None]:
        """Take nothing new; let what runs end for a while, then hand it over. Called once or
        more; the first call counts."""
        if self._drained is None:
            seconds = self.settings.drain_s if wait_s is None else wait_s
            self._drained = asyncio.create_task(self._drain(seconds))
        return self._drained

    async def stop(self) -> None:
        """Hand over what still runs, and stop the loops, also where the first is cut short."""
        try:
            await self.begin_drain(0)
        finally:
            await end_tasks(
                [*self._tasks, *self.shadows.tasks, *([self._probing] if self._probing else [])]
            )
        self.client.close()
        await self.redis.aclose()
        await asyncio.to_thread(tracing_end)
        log.info("gateway_stopped", process_id=self.id)

    async def _drain(self, wait_s: float) -> None:
        self.active.draining = True
        self.queues.drain()
        running = [active.task for active in self.active if active.task is not None]
        if running and wait_s > 0:
            await asyncio.wait(running, timeout=wait_s)
        await asyncio.gather(*(self._hand_over(active) for active in self.active))
        try:
            await self.leases.leave()
        except (RedisError, OSError) as error:
            log.warning("presence_not_withdrawn", error=str(error))

    async def _hand_over(self, active: ActiveGeneration) -> None:
        """Stop generating, keep what was delivered, and let any process continue it at once."""
        active.request_stop("handover")
        if active.task is not None:
            _, unfinished = await asyncio.wait({active.task}, timeout=_HANDOVER_TIMEOUT_S)
            if unfinished:
                # It waits for a database that is away: its successor comes to the same end.
                log.warning("handover_timed_out", generation_id=str(active.id))
                active.log.lose()
                await end_tasks(unfinished)
        if active.log.complete or active.log.lost:
            return
        try:
            async with asyncio.timeout(_HANDOVER_TIMEOUT_S):
                await active.log.wait_stored(active.log.last)
                await self.leases.release(active.id, active.log.lease, "handover")
        except (TimeoutError, RedisError, OSError) as error:
            log.warning("handover_failed", generation_id=str(active.id), error=str(error))
        active.log.lose()

    def _on_placed_elsewhere(self, pool_id: str, replica: str, prefix: Prefix) -> None:
        if (queue := self.queues.get(pool_id)) is not None:
            queue.replicas.placed_elsewhere(replica, prefix)

    def _on_registry_read(self) -> None:
        """Hand on what engines have announced; probe those that are new at once."""
        for replicas in self.queues.replica_sets():
            replicas.note(self.registry.at)
        if self._probing is None or self._probing.done():
            self._probing = asyncio.create_task(self.monitor.probe_new(), name="probe_new")

    async def _restore_log(self, event_log: EventLog) -> None:
        await self.heartbeat.restore_log(event_log)

    def _on_cancel(self, generation_id: UUID) -> None:
        active = self.active.get(generation_id)
        if active is not None:
            active.request_stop("cancelled")
