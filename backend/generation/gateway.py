"""The gateway of one web process: built, run and stopped as a whole.

`current()` gives the running one. There is one for each event loop: in a web process one, in
tests one a test.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import Iterable
from weakref import WeakKeyDictionary

import structlog
from redis.exceptions import RedisError

from backend.generation.admission.queue import AdmissionQueue
from backend.generation.admission.rate_limits import Limiter
from backend.generation.admission.shed import Arrivals
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import Pools, load_pools
from backend.generation.pools.health import HealthMonitor
from backend.generation.pools.replicas import ReplicaSet
from backend.generation.process import Process
from backend.generation.recovery.failover import TakeoverLoop
from backend.generation.recovery.heartbeat import Heartbeat, restore_log
from backend.generation.recovery.reaper import Reaper
from backend.generation.run.active import LiveGeneration
from backend.generation.settings import GatewaySettings
from backend.generation.stream.follower import Follower
from backend.generation.stream.leases import Leases, LeaseTimes
from backend.generation.stream.log import EventLog
from backend.generation.stream.writer import BufferWriter
from backend.generation.supervision import supervised
from backend.platform.redis import Profile, new_client
from safety.score.classifier import classifier
from safety.score.detect import warm_up

log = structlog.get_logger(__name__)

_HANDOVER_WAIT_S = 2.0
_REDIS = Profile(timeout_s=3.0, connections=32, wait_s=3.0)
# Its commands block for longer than the others may wait.
_BLOCKING_REDIS = Profile(timeout_s=None, connections=32, wait_s=3.0)
# Admissions that may be under way at once: others wait a moment, instead of exhausting the
# connections to Redis and PostgreSQL that running generations need.
_ADMISSIONS = 32

_gateways: WeakKeyDictionary[asyncio.AbstractEventLoop, "Gateway"] = WeakKeyDictionary()


async def end_tasks(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel `tasks` until they are done: asgiref and redis-py each have a place where a
    cancellation is swallowed."""
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=0.2)


class GatewayNotRunning(RuntimeError):
    """The gateway is used in a process, or an event loop, that has not started it."""


def current() -> "Gateway":
    """The running event loop's gateway."""
    gateway = _gateways.get(asyncio.get_running_loop())
    if gateway is None:
        raise GatewayNotRunning(
            "No gateway runs in this event loop. Wrap the application in with_gateway, and let"
            " the server run its lifespan."
        )
    return gateway


class Gateway:
    """Everything that runs beside the requests of a web process.

    Args:
        pools: other than the configured ones; for benchmarks and tests.
    """

    def __init__(self, settings: GatewaySettings | None = None, pools: Pools | None = None) -> None:
        self.settings = settings or GatewaySettings.from_django()
        self._pools = pools or load_pools()
        self.admissions = asyncio.Semaphore(_ADMISSIONS)
        self._tasks: list[asyncio.Task[None]] = []
        self._drained: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the loops; returns when every replica has been probed once, and the classifiers
        are loaded: the first request shall not wait for either."""
        loading = asyncio.create_task(asyncio.to_thread(warm_up))
        self.process = self._build()
        self.arrivals = Arrivals(self._pools, self.process.queues)
        process = self.process
        monitor = HealthMonitor(process.client, process.redis, list(process.queues.values()))
        await monitor.probe_all()
        loops = {
            "writer": process.writer.run,
            "follower": process.follower.run,
            "monitor": monitor.run,
            "heartbeat": Heartbeat(process, self.settings).run,
            "takeover": TakeoverLoop(process, self.settings).run,
            "reaper": Reaper(process, self.settings).run,
        }
        self._tasks = [
            asyncio.create_task(supervised(name, loop), name=name) for name, loop in loops.items()
        ]
        await loading
        _gateways[asyncio.get_running_loop()] = self
        log.info("gateway_started", process_id=process.id, long_texts_spared=classifier().is_slow)

    def begin_drain(self, wait_s: float | None = None) -> asyncio.Task[None]:
        """Take nothing new; let what runs end for a while, then hand it over. Called once or
        more; the first call counts."""
        if self._drained is None:
            seconds = self.settings.drain_s if wait_s is None else wait_s
            self._drained = asyncio.create_task(self._drain(seconds))
        return self._drained

    async def stop(self) -> None:
        """Hand over what still runs, and stop the loops."""
        await self.begin_drain(0)
        await end_tasks(self._tasks)
        _gateways.pop(asyncio.get_running_loop(), None)
        self.process.client.close()
        await self.process.redis.aclose()
        log.info("gateway_stopped", process_id=self.process.id)

    async def _drain(self, wait_s: float) -> None:
        process = self.process
        process.draining = True
        for queue in process.queues.values():
            queue.draining = True
        running = [live.task for live in process.live.values() if live.task is not None]
        if running and wait_s > 0:
            await asyncio.wait(running, timeout=wait_s)
        await asyncio.gather(*(self._hand_over(live) for live in list(process.live.values())))
        try:
            await process.leases.leave()
        except (RedisError, OSError) as error:
            log.warning("presence_not_withdrawn", error=str(error))

    async def _hand_over(self, live: LiveGeneration) -> None:
        """Stop generating, keep what was delivered, and let anyone take it up at once."""
        live.request_stop("handover")
        if live.task is not None:
            _, unfinished = await asyncio.wait({live.task}, timeout=_HANDOVER_WAIT_S)
            if unfinished:
                # It waits for a database that is away: whoever takes it up comes to the same end.
                log.warning("handover_abandoned", generation_id=str(live.opened.id))
                live.log.lose()
                await end_tasks(unfinished)
        if live.log.complete or live.log.lost:
            return
        try:
            async with asyncio.timeout(_HANDOVER_WAIT_S):
                await live.log.wait_stored(live.log.last)
                await self.process.leases.release(live.opened.id, live.log.lease, "handover")
        except (TimeoutError, RedisError, OSError) as error:
            log.warning("handover_failed", generation_id=str(live.opened.id), error=str(error))
        live.log.lose()

    def _build(self) -> Process:
        settings = self.settings
        process_id = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        redis = new_client(_REDIS)
        # Its own: what is delivered, and that we live, must not wait for admissions.
        vital = new_client(_REDIS)
        queues = {
            pool.id: AdmissionQueue(ReplicaSet(pool), most_waiting=settings.most_queued)
            for pool in self._pools.models
        }
        times = LeaseTimes(lease=int(settings.lease_s * 1000), buffer=settings.buffer_ttl_s * 1000)
        leases = Leases(vital, process_id, times)

        async def on_missing(event_log: EventLog) -> None:
            await restore_log(self.process, event_log, settings)

        def on_cancel(generation_id: object) -> None:
            live = self.process.live.get(generation_id)  # type: ignore[call-overload]
            if live is not None:
                live.request_stop("cancelled")

        return Process(
            id=process_id,
            redis=redis,
            pools=self._pools,
            client=UpstreamClient(),
            leases=leases,
            limiter=Limiter(redis, longest_s=int(settings.timeout_s) + 60),
            writer=BufferWriter(vital, on_missing=on_missing, ttl_ms=settings.request_ttl_ms),
            follower=Follower(new_client(_BLOCKING_REDIS), process_id, on_cancel),
            queues=queues,
        )
