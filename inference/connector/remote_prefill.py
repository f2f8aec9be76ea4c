"""Asks a prefill engine for the blocks of prompts, beside the steps of this engine."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import msgspec
import zmq

from inference.connector.blocks import BlockTransfer
from inference.connector.messages import PrefillAnswer, PrefillRequest
from inference.connector.payload import unpack
from inference.engine.core import EngineCore
from inference.engine.request import Request
from inference.protocol import AddRequest

log = logging.getLogger(__name__)

_CONNECT_S = 1.0
"""A peer that takes no connection for so long is away."""
_AWAY_S = 5.0
"""After a failure the peer is not asked for so long: prompts are computed here at once."""


@dataclass(frozen=True)
class Handover:
    """Computed blocks of a prompt."""

    num_blocks: int
    data: bytes


class Connector(Protocol):
    """A way to a prefill engine."""

    def fetch(self, token_ids: list[int], cache_salt: str) -> Handover | None:
        """The prompt's full blocks, or None when they cannot be had; blocks, from any thread."""
        ...


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

    def fetch(self, token_ids: list[int], cache_salt: str) -> Handover | None:
        if time.monotonic() < self._away_until:
            return None
        shared = self._address.startswith("ipc://")
        asked = PrefillRequest(
            self._blocks.fingerprint, token_ids, cache_salt, shared, self._api_key
        )
        socket = self._context.socket(zmq.REQ)
        socket.linger = 0
        # Sent when somebody listens, or not at all: who is gone is not waited for.
        socket.setsockopt(zmq.IMMEDIATE, 1)
        socket.sndtimeo = int(min(self._timeout_s, _CONNECT_S) * 1000)
        try:
            socket.connect(self._address)
            socket.send(msgspec.msgpack.encode(asked))
            if not socket.poll(int(self._timeout_s * 1000)):
                raise TimeoutError(f"no answer in {self._timeout_s:.0f} s")
            answer = msgspec.msgpack.decode(socket.recv(), type=PrefillAnswer)
            if answer.error:
                raise ValueError(answer.error)
            return Handover(answer.num_blocks, unpack(answer, self._blocks.size(answer.num_blocks)))
        except (OSError, ValueError, zmq.ZMQError, msgspec.DecodeError) as error:
            log.warning("%s computes no prompts, this engine does: %s", self._address, error)
            self._away_until = time.monotonic() + _AWAY_S
            return None
        finally:
            socket.close()

    def close(self) -> None:
        self._context.destroy(linger=0)


class RemotePrefill:
    """Requests on their way through the prefill engine."""

    def __init__(
        self, core: EngineCore, blocks: BlockTransfer, connector: Connector, threads: int = 4
    ) -> None:
        self._core = core
        self._blocks = blocks
        self._connector = connector
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="prefill")
        self._waiting: dict[str, tuple[AddRequest, Future[Handover | None]]] = {}

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def take(self, message: AddRequest) -> bool:
        """Whether the request goes that way: it does when it has a block to be computed there
        that is not cached here."""
        request = _as_request(message)
        full = (len(message.prompt_token_ids) - 1) // self._core.kv.block_size
        fits = len(message.prompt_token_ids) < self._core.runner.max_model_len
        if message.pools or not fits or len(self._core.kv.find_prefix(request)) >= full:
            return False
        future = self._pool.submit(
            self._connector.fetch, message.prompt_token_ids, message.cache_salt
        )
        self._waiting[message.request_id] = (message, future)
        return True

    def abort(self, request_ids: list[str]) -> None:
        """Forget requests that wait; what comes for them is dropped."""
        for request_id in request_ids:
            self._waiting.pop(request_id, None)

    def arrived(self) -> list[AddRequest]:
        """Requests whose blocks are in the cache now, or will not come: to be added."""
        done = [name for name, (_, future) in self._waiting.items() if future.done()]
        ready = []
        for name in done:
            message, future = self._waiting.pop(name)
            if handover := future.result():
                self._put_in_cache(message, handover)
            ready.append(message)
        return ready

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _put_in_cache(self, message: AddRequest, handover: Handover) -> None:
        """As if a request had computed the blocks and ended."""
        kv = self._core.kv
        tokens = message.prompt_token_ids[: handover.num_blocks * kv.block_size]
        carrier = _as_request(msgspec.structs.replace(message, prompt_token_ids=tokens))
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


def _as_request(message: AddRequest) -> Request:
    return Request(
        message.request_id,
        message.prompt_token_ids,
        message.sampling,
        cache_salt=message.cache_salt,
        pools=message.pools,
    )
