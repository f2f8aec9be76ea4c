"""Computed prefixes go to the store beside the steps, and come back into the prefix cache.

When a prompt is computed, and when its sequence ends, its full groups are copied out of the blocks
and written by threads. A request whose prefix is not in the cache but in the store waits until it
is read; its groups are put into the cache a few between two steps, as if a request had computed
them, so that what runs is not held up. There the request finds them, computes the rest and
samples. What is not there, or does not fit, is computed.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import msgspec

from inference.connector.carriers import as_request, time_of_expiry
from inference.connector.kv_store import GROUP_BLOCKS, BlockGroup, KVStore
from inference.core import Request
from inference.engine.engine_core import EngineCore
from inference.protocol import AddRequest
from inference.runner.block_transfer import BlockTransfer

log = logging.getLogger(__name__)

_READ_AHEAD = 8
"""Groups of one request that wait to be put into the cache."""
_GROUPS_A_STEP = 2
"""That are put into the cache between two steps while something runs."""
_MAX_UNWRITTEN = 64
"""Groups that wait to be written; what comes then is not kept."""


@dataclass
class _Loading:
    """A request whose prefix is being read."""

    message: AddRequest
    expires_at: float
    read: queue.Queue[tuple[BlockGroup, bytes]] = field(
        default_factory=lambda: queue.Queue(_READ_AHEAD)
    )
    cancelled: threading.Event = field(default_factory=threading.Event)
    future: Future[None] | None = None
    carriers: list[Request] = field(default_factory=list)
    """They hold the blocks until the request may have them."""

    @property
    def is_read(self) -> bool:
        return self.future is not None and self.future.done() and self.read.empty()


class KVOffload:
    """Both ways, of one engine."""

    def __init__(
        self,
        core: EngineCore,
        blocks: BlockTransfer,
        store: KVStore,
        *,
        threads: int = 2,
        group_blocks: int = GROUP_BLOCKS,
        max_wait_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`max_wait_s` and `clock` are the core's."""
        self._core = core
        self._blocks = blocks
        self._store = store
        self._group_blocks = group_blocks
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._readers = ThreadPoolExecutor(threads, thread_name_prefix="kv-read")
        self._writers = ThreadPoolExecutor(threads, thread_name_prefix="kv-write")
        self._unwritten = threading.BoundedSemaphore(_MAX_UNWRITTEN)
        self._loading: dict[str, _Loading] = {}
        self.groups_read = 0
        self.groups_written = 0

    @property
    def is_waiting(self) -> bool:
        return bool(self._loading)

    def keep(self, request: Request) -> None:
        """Have what it has computed written; its blocks are still its own.

        Images and adapters are left out, as are prefixes of which a window has released blocks.
        """
        if request.images or request.adapter_key or request.num_released:
            return
        computed = request.num_computed // self._core.kv.block_size
        for group in self._groups(request, computed):
            if self._store.holds(group.name) or not self._unwritten.acquire(blocking=False):
                continue
            data = self._blocks.read(request.block_ids[group.end - self._group_blocks : group.end])
            writing = self._writers.submit(self._store.put, group, data)
            writing.add_done_callback(self._written)

    def take(self, message: AddRequest) -> bool:
        """Whether the request waits: it does when the next group that is not cached is kept."""
        if message.images or message.adapter_id or message.wants_embedding:
            return False
        if len(message.prompt_token_ids) >= self._core.runner.max_model_len:
            return False
        request = as_request(message)
        cached = len(self._core.kv.find_prefix(request))
        usable = (request.num_tokens - 1) // self._core.kv.block_size
        missing = [group for group in self._groups(request, usable) if group.end > cached]
        if not missing or not self._store.may_hold(missing[0].name):
            return False
        loading = _Loading(message, time_of_expiry(message, self._max_wait_s))
        loading.future = self._readers.submit(self._read, loading, missing)
        self._loading[message.request_id] = loading
        return True

    def abort(self, request_ids: list[str]) -> None:
        """Forget requests that wait."""
        for request_id in request_ids:
            if loading := self._loading.pop(request_id, None):
                self._end(loading)

    def arrived(self) -> list[AddRequest]:
        """Requests to be added now; what was read of the others goes into the cache."""
        room = _GROUPS_A_STEP if self._core.scheduler.has_work else _READ_AHEAD
        ready = []
        for name, loading in list(self._loading.items()):
            while room and not loading.read.empty():
                room -= 1
                if not self._put_in_cache(loading, *loading.read.get_nowait()):
                    loading.cancelled.set()
            if not loading.is_read and self._clock() < loading.expires_at:
                continue
            self._end(loading)
            del self._loading[name]
            ready.append(loading.message)
        return ready

    def close(self) -> None:
        """What is being written is finished."""
        for loading in self._loading.values():
            loading.cancelled.set()
        self._readers.shutdown(wait=False, cancel_futures=True)
        self._writers.shutdown(wait=True)

    def _groups(self, request: Request, num_blocks: int) -> list[BlockGroup]:
        """The whole groups of a request's first blocks."""
        ends = range(self._group_blocks, num_blocks + 1, self._group_blocks)
        hashes = self._core.kv.hashes(request, num_blocks)
        public = request.public_tokens // self._core.kv.block_size
        return [
            BlockGroup(hashes[end - 1].hex(), "" if end <= public else request.cache_salt, end)
            for end in ends
        ]

    def _read(self, loading: _Loading, groups: list[BlockGroup]) -> None:
        """In a thread: one after another, until one is not there."""
        for group in groups:
            data = None if loading.cancelled.is_set() else self._store.get(group)
            if data is None:
                return
            while not loading.cancelled.is_set():
                try:
                    loading.read.put((group, data), timeout=0.05)
                    break
                except queue.Full:
                    continue

    def _put_in_cache(self, loading: _Loading, group: BlockGroup, data: bytes) -> bool:
        """As if a request had computed these blocks; False where that cannot be."""
        kv = self._core.kv
        if loading.cancelled.is_set():
            return False
        prefix = kv.find_prefix(as_request(loading.message))
        begin = group.end - self._group_blocks
        if len(prefix) >= group.end:
            return True  # somebody has computed it meanwhile
        if len(prefix) < begin or group.end - len(prefix) > kv.pool.num_free:
            return False
        tokens = loading.message.prompt_token_ids[: group.end * kv.block_size]
        carrier = as_request(msgspec.structs.replace(loading.message, prompt_token_ids=tokens))
        kv.start(carrier, prefix.first(begin), self._group_blocks * kv.block_size)
        try:
            self._blocks.write(carrier.block_ids[begin:], data)
        except ValueError as error:
            log.warning("kept keys and values that do not fit were thrown away: %s", error)
            kv.forget_uncomputed(carrier)
            kv.free(carrier)
            return False
        carrier.num_computed = len(tokens)
        loading.carriers.append(carrier)
        self.groups_read += 1
        return True

    def _end(self, loading: _Loading) -> None:
        """Nothing more is read for it; its blocks stay cached, without an owner."""
        loading.cancelled.set()
        for carrier in loading.carriers:
            self._core.kv.free(carrier)
        loading.carriers = []

    def _written(self, writing: Future[None]) -> None:
        self._unwritten.release()
        if error := writing.exception():
            log.error("keys and values could not be kept", exc_info=error)
        else:
            self.groups_written += 1
