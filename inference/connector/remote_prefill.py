"""Has prompts computed by a prefill engine, beside the steps of this one."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from inference.connector.carriers import as_request, time_of_expiry
from inference.connector.incoming import Incoming
from inference.connector.messages import PrefillDone
from inference.connector.zmq_connector import PrefillTask
from inference.core import Request
from inference.engine.engine_core import EngineCore
from inference.protocol import AddRequest
from inference.runner.block_transfer import BlockTransfer

log = logging.getLogger(__name__)


class Connector(Protocol):
    """A way to a prefill engine."""

    def fetch(self, task: PrefillTask) -> PrefillDone | None:
        """Have the prompt's full blocks written to where the task says; waits, in any thread, until
        all are there, or no more will come, or the task is cancelled or its time over."""
        ...


@dataclass(frozen=True)
class _Away:
    """A request whose prompt is computed elsewhere."""

    message: AddRequest
    carrier: Request
    """Holds the blocks that are written until the request may have them."""
    task: PrefillTask
    future: Future[PrefillDone | None]
    expires_at: float
    """When its deadline passes, or it has waited too long to begin."""

    def cancel(self) -> None:
        """The blocks are no longer wanted: not asked for, or cancelled at the peer."""
        self.task.cancelled.set()
        self.future.cancel()


class RemotePrefill:
    """Requests on their way through the prefill engine."""

    def __init__(
        self,
        core: EngineCore,
        blocks: BlockTransfer,
        connector: Connector,
        threads: int = 4,
        max_wait_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`max_wait_s` and `clock` are the core's."""
        self._core = core
        self._blocks = blocks
        self._connector = connector
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="prefill")
        self._away: dict[str, _Away] = {}
        self._given_up: list[_Away] = []
        """Their threads may still write."""

    @property
    def is_waiting(self) -> bool:
        return bool(self._away or self._given_up)

    def take(self, message: AddRequest) -> bool:
        """Whether the request goes that way: it does when it has a block to be computed there
        that is not cached here, and there is room for them. Images do not travel, nor do
        adapters."""
        if message.images or message.adapter_id or message.wants_embedding:
            return False
        if len(message.prompt_token_ids) >= self._core.runner.max_model_len:
            return False
        kv, carrier = self._core.kv, as_request(message)
        prefix = kv.find_prefix(carrier)
        missing = (len(message.prompt_token_ids) - 1) // kv.block_size - len(prefix)
        expires_at = time_of_expiry(message, self._max_wait_s)
        left_s = expires_at - self._clock()
        room = kv.pool.num_free - self._core.scheduler.num_running
        if not 0 < missing <= room or left_s <= 0 or not kv.reserve(carrier, prefix, missing):
            return False
        incoming = Incoming(self._blocks, carrier.block_ids, len(prefix))
        task = PrefillTask(message.prompt_token_ids, message.cache_salt, incoming, left_s)
        future = self._pool.submit(self._connector.fetch, task)
        self._away[message.request_id] = _Away(message, carrier, task, future, expires_at)
        return True

    def abort(self, request_ids: list[str]) -> None:
        """Forget requests that wait; their prompts are cancelled."""
        for request_id in request_ids:
            if away := self._away.pop(request_id, None):
                self._give_up(away)

    def arrived(self) -> list[AddRequest]:
        """Requests to be added now: their blocks are in the cache, or will not come, or their time
        is over, which the core then ends them for."""
        self._make_room()
        ready = []
        for name, away in list(self._away.items()):
            if away.future.done():
                self._settle(away)
            elif self._clock() >= away.expires_at:
                self._give_up(away)
            else:
                continue
            del self._away[name]
            ready.append(away.message)
        for away in [one for one in self._given_up if one.future.done()]:
            self._given_up.remove(away)
            self._settle(away)
        return ready

    def close(self) -> None:
        for away in self._away.values():
            away.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _make_room(self) -> None:
        """What runs may need a block each in the next step: where too few are free the last prompt
        that was sent away is computed here, when there is room."""
        running = self._core.scheduler.num_running
        if self._away and running and self._core.kv.pool.num_free < running:
            list(self._away.values())[-1].cancel()

    def _give_up(self, away: _Away) -> None:
        away.cancel()
        self._given_up.append(away)

    def _settle(self, away: _Away) -> None:
        """Nothing is written any more: blocks that are whole stay in the cache, as if a request had
        computed them and ended."""
        if not away.future.cancelled() and (error := away.future.exception()):
            log.error("a prompt could not be fetched", exc_info=error)
        self._core.kv.adopt(away.carrier, away.task.incoming.num_whole)
        self._core.kv.free(away.carrier)
