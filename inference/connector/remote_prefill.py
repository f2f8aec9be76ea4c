"""Asks a prefill engine for the blocks of prompts, beside the steps of this engine."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

import msgspec
import zmq

from inference.connector.carriers import as_request, time_of_expiry
from inference.connector.messages import CancelPrefill, PrefillAnswer, PrefillRequest
from inference.connector.payload import Segment
from inference.engine.engine_core import EngineCore
from inference.protocol import AddRequest
from inference.runner.block_transfer import BlockTransfer

log = logging.getLogger(__name__)

_CONNECT_S = 1.0
"""A peer that takes no connection for so long is away."""
_AWAY_S = 5.0
"""After a failure the peer is not asked for so long: prompts are computed here at once."""
_CANCEL_POLL_MS = 20
"""How often a thread that waits for an answer looks whether it is still wanted."""


@dataclass(frozen=True)
class PrefillTask:
    """A prompt that is to be computed elsewhere."""

    token_ids: list[int]
    cache_salt: str
    num_blocks: int
    """Full blocks before its last token."""
    timeout_s: float = math.inf
    """How long its request can wait."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when the blocks are no longer wanted."""


@dataclass(frozen=True)
class Handover:
    """Computed blocks of a prompt."""

    num_blocks: int
    data: bytes


class Connector(Protocol):
    """A way to a prefill engine."""

    def fetch(self, task: PrefillTask) -> Handover | None:
        """The prompt's full blocks, or None when they cannot be had; waits, in any thread, until
        the task is cancelled or its time is over."""
        ...


class PeerError(Exception):
    """The prefill engine is away, or answers what is of no use."""


class ZmqConnector:
    """A `Connector` to a `PrefillServer`: tcp:// between hosts; ipc:// on one host, where the
    blocks travel in shared memory."""

    def __init__(
        self, address: str, blocks: BlockTransfer, timeout_s: float = 30.0, api_key: str = ""
    ) -> None:
        self._address = address
        self._api_key = api_key
        self._blocks = blocks
        self._timeout_s = timeout_s
        self._context = zmq.Context[zmq.Socket[bytes]]()
        self._away_until = 0.0

    def fetch(self, task: PrefillTask) -> Handover | None:
        if task.cancelled.is_set() or time.monotonic() < self._away_until:
            return None
        try:
            with ExitStack() as stack:
                segment = None
                if self._address.startswith("ipc://"):
                    segment = stack.enter_context(Segment(self._blocks.size(task.num_blocks)))
                answer = self._ask(task, segment)
                return None if answer is None else self._unpack(task, answer, segment)
        except (PeerError, OSError, zmq.ZMQError, msgspec.DecodeError) as error:
            log.warning("%s computes no prompts, this engine does: %s", self._address, error)
            self._away_until = time.monotonic() + _AWAY_S
            return None

    def close(self) -> None:
        self._context.destroy(linger=0)

    def _ask(self, task: PrefillTask, segment: Segment | None) -> PrefillAnswer | None:
        """Send the prompt and wait for the answer; None when it is no longer wanted."""
        timeout_s = min(self._timeout_s, task.timeout_s)
        request = PrefillRequest(
            self._blocks.fingerprint,
            task.token_ids,
            task.cache_salt,
            segment=segment.name if segment else "",
            timeout_s=timeout_s,
            api_key=self._api_key,
        )
        with self._context.socket(zmq.DEALER) as socket:
            socket.linger = int(_CONNECT_S * 1000)  # for a cancellation that was just sent
            # Sent to a peer that listens, or not at all: one that is gone is not waited for.
            socket.setsockopt(zmq.IMMEDIATE, 1)
            socket.sndtimeo = int(min(timeout_s, _CONNECT_S) * 1000)
            socket.connect(self._address)
            try:
                _send(socket, request)
            except zmq.Again as error:
                if timeout_s < _CONNECT_S:
                    return None  # which says nothing about the peer
                raise PeerError(f"no connection in {_CONNECT_S:g} s") from error
            until = time.monotonic() + timeout_s
            while not socket.poll(_CANCEL_POLL_MS):
                late = time.monotonic() >= until
                if late or task.cancelled.is_set():
                    _send(socket, CancelPrefill())
                    if late and self._timeout_s <= task.timeout_s:
                        raise PeerError(f"no answer in {timeout_s:.0f} s")
                    return None
            return msgspec.msgpack.decode(socket.recv_multipart()[-1], type=PrefillAnswer)

    def _unpack(
        self, task: PrefillTask, answer: PrefillAnswer, segment: Segment | None
    ) -> Handover | None:
        if answer.refusal is not None:
            if not answer.refusal.is_of_prompt:
                raise PeerError(f"{answer.refusal}: {answer.error}")
            log.warning("a prompt was refused (%s): %s", answer.refusal, answer.error)
            return None
        if answer.num_blocks > task.num_blocks:
            raise PeerError(f"{answer.num_blocks} blocks for a prompt of {task.num_blocks}")
        if segment is None:
            return Handover(answer.num_blocks, answer.data)
        return Handover(answer.num_blocks, segment.read(self._blocks.size(answer.num_blocks)))


def _send(socket: zmq.Socket[bytes], message: PrefillRequest | CancelPrefill) -> None:
    socket.send_multipart([b"", msgspec.msgpack.encode(message)])


@dataclass(frozen=True)
class _Waiting:
    """A request whose prompt is away."""

    message: AddRequest
    task: PrefillTask
    future: Future[Handover | None]
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
        self._waiting: dict[str, _Waiting] = {}

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def take(self, message: AddRequest) -> bool:
        """Whether the request goes that way: it does when it has a block to be computed there
        that is not cached here. Images do not travel, nor do adapters."""
        if message.images or message.adapter_id:
            return False
        request = as_request(message)
        full = (len(message.prompt_token_ids) - 1) // self._core.kv.block_size
        fits = len(message.prompt_token_ids) < self._core.runner.max_model_len
        if message.wants_embedding or not fits or len(self._core.kv.find_prefix(request)) >= full:
            return False
        expires_at = time_of_expiry(message, self._max_wait_s)
        if (left_s := expires_at - self._clock()) <= 0:
            return False
        task = PrefillTask(message.prompt_token_ids, message.cache_salt, full, timeout_s=left_s)
        future = self._pool.submit(self._connector.fetch, task)
        self._waiting[message.request_id] = _Waiting(message, task, future, expires_at)
        return True

    def abort(self, request_ids: list[str]) -> None:
        """Forget requests that wait; their prompts are cancelled."""
        for request_id in request_ids:
            if waiting := self._waiting.pop(request_id, None):
                waiting.cancel()

    def arrived(self) -> list[AddRequest]:
        """Requests to be added now: their blocks are in the cache, or will not come, or their time
        is over, which the core then ends them for."""
        now = self._clock()
        ready = []
        for name, waiting in list(self._waiting.items()):
            if waiting.future.done():
                self._take_blocks(waiting)
            elif now >= waiting.expires_at:
                waiting.cancel()
            else:
                continue
            del self._waiting[name]
            ready.append(waiting.message)
        return ready

    def close(self) -> None:
        for waiting in self._waiting.values():
            waiting.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _take_blocks(self, waiting: _Waiting) -> None:
        """Put what came into the cache; an error of the connector means that nothing came."""
        if error := waiting.future.exception():
            log.error("a prompt could not be fetched", exc_info=error)
        elif handover := waiting.future.result():
            self._put_in_cache(waiting.message, handover)

    def _put_in_cache(self, message: AddRequest, handover: Handover) -> None:
        """As if a request had computed the blocks and ended."""
        kv = self._core.kv
        tokens = message.prompt_token_ids[: handover.num_blocks * kv.block_size]
        carrier = as_request(msgspec.structs.replace(message, prompt_token_ids=tokens))
        if not tokens or kv.blocks_for(len(tokens)) > kv.pool.num_free:
            return  # no room: computed here when there is
        kv.start(carrier, [], len(tokens))
        try:
            self._blocks.write(carrier.block_ids, handover.data)
            carrier.num_computed = len(tokens)
        except ValueError as error:
            log.warning("blocks that do not fit were thrown away: %s", error)
            kv.forget_uncomputed(carrier)
        kv.free(carrier)
