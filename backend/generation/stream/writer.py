"""Appends the events of all generations of the process to Redis, many at a time.

One task a shard, one round trip for everything of it that has come since the last one. Under load a
round carries more, not later: with 1,000 streams the cost per event falls while the delay stays one
round trip. A shard whose server is away does not keep the others.
"""

import asyncio
from collections.abc import Awaitable, Callable

import orjson
import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.generation import metrics
from backend.generation.stream import keys
from backend.generation.stream.log import EventLog
from backend.generation.stream.scripts import APPEND, FENCED, MISSING
from backend.platform.redis_batch import Batch

log = structlog.get_logger(__name__)

# Between two rounds, for each generation that the last one wrote of, and at most. A round costs
# about the same CPU for one event as for a hundred, so there are at most a hundred a second where
# there are many streams; few do not wait for each other. The first event after a silence does not
# wait, nor does the first text of an answer, which follows its first event at once.
_PAUSE_A_LOG_S, _MAX_PAUSE_S = 0.001, 0.01
_FIRST_EVENTS = 2
_RETRY_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.0)
# Events of one generation in one round: after Redis lost everything, a long answer is given
# back in several rounds, not in one that would block Redis for others.
MAX_PER_ROUND = 512


class BufferWriter:
    """Keeps Redis up with the logs of this process.

    Attributes:
        shards: each with its own task.

    Args:
        on_missing: called, once until it returns, for a log whose lease is gone from Redis; it
            gets the lease back, or calls `EventLog.lose`.
        ttl_ms: how long a stream is kept after its first event.
    """

    def __init__(
        self, redis: Redis, *, on_missing: Callable[[EventLog], Awaitable[None]], ttl_ms: int
    ) -> None:
        append = Batch(redis).script(APPEND)
        self.shards = [ShardWriter(append, on_missing, ttl_ms) for _ in keys.shards()]

    def mark(self, event_log: EventLog) -> None:
        """`event_log` has events that Redis has not."""
        self.shards[event_log.shard].mark(event_log)


class ShardWriter:
    """The same, of one shard."""

    def __init__(
        self,
        append: Callable[..., Awaitable[list[int]]],
        on_missing: Callable[[EventLog], Awaitable[None]],
        ttl_ms: int,
    ) -> None:
        self._append = append
        self._on_missing = on_missing
        self._ttl_ms = ttl_ms
        self._dirty: dict[EventLog, None] = {}
        self._restoring: dict[EventLog, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._has_first_events = False
        self._pause: asyncio.Future[None] | None = None

    def mark(self, event_log: EventLog) -> None:
        self._dirty[event_log] = None
        self._wake.set()
        if event_log.last <= _FIRST_EVENTS:
            self._has_first_events = True
            self._end_pause()

    async def run(self) -> None:
        """The writer's task; runs until it is cancelled."""
        failures = 0
        while True:
            await self._wake.wait()
            self._wake.clear()
            self._has_first_events = False
            batch = [item for item in self._dirty if item not in self._restoring]
            self._dirty = {item: None for item in self._restoring if item in self._dirty}
            batch = [item for item in batch if _is_behind(item)]
            if not batch:
                continue
            try:
                await self._round(batch)
                failures = 0
                await self._rest(min(_MAX_PAUSE_S, _PAUSE_A_LOG_S * len(batch)))
            except (RedisError, OSError) as error:
                if failures == 0:
                    log.warning("stream_buffer_unreachable", error=str(error))
                metrics.BUFFER_ERRORS.inc()
                self._mark_again(batch)
                await asyncio.sleep(_RETRY_S[min(failures, len(_RETRY_S) - 1)])
                failures += 1
            except Exception:
                # The restarted loop finds them: nothing else would write them.
                self._mark_again(batch)
                raise

    async def _rest(self, seconds: float) -> None:
        if self._has_first_events:
            return
        loop = asyncio.get_running_loop()
        self._pause = loop.create_future()
        timer = loop.call_later(seconds, self._end_pause)
        try:
            await self._pause
        finally:
            timer.cancel()
            self._pause = None

    def _end_pause(self) -> None:
        if self._pause is not None and not self._pause.done():
            self._pause.set_result(None)

    def _mark_again(self, batch: list[EventLog]) -> None:
        for item in batch:
            self.mark(item)

    async def _round(self, batch: list[EventLog]) -> None:
        names: list[bytes] = []
        appends: list[tuple[str, int, list[int]]] = []
        parts: list[bytes] = []
        for item in batch:
            names += item.keys
            entries = item.entries[item.stored : item.stored + MAX_PER_ROUND]
            lengths: list[int] = []
            for entry in entries:
                parts += entry
                lengths += (len(entry.data), len(entry.meta))
            appends.append((item.lease, item.stored + 1, lengths))
        arguments: list[int | bytes] = [self._ttl_ms, orjson.dumps(appends), b"".join(parts)]
        results = await self._append(keys=names, args=arguments)
        metrics.BUFFER_ROUNDS.inc()
        for item, result in zip(batch, results, strict=True):
            self._take_result(item, int(result))

    def _take_result(self, item: EventLog, result: int) -> None:
        if item.withdrawn:
            return  # it speaks of events that this log does not have any more
        if result == FENCED:
            item.lose()
        elif result == MISSING:
            self._restore(item)
        elif result > item.last:
            item.lose()  # a successor has written its end, by the row
        elif result < item.stored:
            # Redis came back without its last moments, or empty: give it what it lost.
            item.rewind(result)
            self.mark(item)
        else:
            item.acknowledge(result)
            if item.last > item.stored:
                self.mark(item)

    def _restore(self, item: EventLog) -> None:
        if item in self._restoring:
            return
        task = asyncio.create_task(self._restore_lease(item))
        self._restoring[item] = task

    async def _restore_lease(self, item: EventLog) -> None:
        try:
            await self._on_missing(item)
        except Exception:
            # The next append finds the lease missing again, and asks again.
            log.exception("lease_not_restored", generation_id=str(item.generation_id))
            await asyncio.sleep(_RETRY_S[-1])
        finally:
            del self._restoring[item]
            self.mark(item)


def _is_behind(item: EventLog) -> bool:
    """Whether Redis is to be given events of this log."""
    return not item.lost and not item.withdrawn and item.last > item.stored
