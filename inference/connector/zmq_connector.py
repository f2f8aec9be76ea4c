"""Asks a prefill engine for a prompt's blocks and receives them, in any thread."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import msgspec
import zmq
from zmq.utils.monitor import recv_monitor_message

from inference.config import PREFILL_KEY_VARIABLE
from inference.connector.incoming import Incoming, PeerError
from inference.connector.messages import (
    CancelPrefill,
    FromPrefill,
    LayerBlocks,
    OtherVersionError,
    PrefillDone,
    PrefillRequest,
    Refused,
    ToPrefill,
    frames,
    said_in,
)
from inference.connector.payload import Segment
from inference.connector.pool_keys import HANDSHAKE_FAILED, pool_keys
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
    incoming: Incoming
    """Takes its full blocks before the last token."""
    timeout_s: float = math.inf
    """How long its request can wait."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when the blocks are no longer wanted."""


class ZmqConnector:
    """A `Connector` to a prefill engine: tcp:// between hosts; ipc:// on one host, where the
    blocks travel in shared memory."""

    def __init__(
        self,
        address: str,
        blocks: BlockTransfer,
        timeout_s: float = 30.0,
        api_key: str = "",
        *,
        encrypted: bool = True,
    ) -> None:
        """
        Args:
            timeout_s: a peer that is silent for so long is not waited for.
            api_key, encrypted: as `pool_keys` takes them.
        Raises:
            ModelLoadError: the way there would be open.
        """
        self._address = address
        self._keys = pool_keys(address, api_key, encrypted=encrypted)
        self._api_key = api_key
        self._blocks = blocks
        self._timeout_s = timeout_s
        self._context = zmq.Context[zmq.Socket[bytes]]()
        self._away_until = 0.0

    def fetch(self, task: PrefillTask) -> PrefillDone | None:
        """What the peer says at the end; None when it did not come to that."""
        if task.cancelled.is_set() or time.monotonic() < self._away_until:
            return None
        try:
            with ExitStack() as stack:
                segment = None
                if self._address.startswith("ipc://"):
                    segment = stack.enter_context(Segment(task.incoming.size))
                socket, monitor = stack.enter_context(self._sockets())
                if not self._ask(task, socket, monitor, segment):
                    return None
                return self._receive(task, socket, monitor, segment)
        except (PeerError, OtherVersionError, OSError, zmq.ZMQError, msgspec.DecodeError) as error:
            log.warning("%s computes no prompts, this engine does: %s", self._address, error)
            self._away_until = time.monotonic() + _AWAY_S
            return None

    def close(self) -> None:
        self._context.destroy(linger=0)

    @contextmanager
    def _sockets(self) -> Iterator[tuple[zmq.Socket[bytes], zmq.Socket[bytes]]]:
        """One to the peer, and one that tells when its connection ends."""
        with self._context.socket(zmq.DEALER) as socket:
            socket.linger = int(_CONNECT_S * 1000)  # for a cancellation that was just sent
            socket.rcvhwm = 0
            # Sent to a peer that listens, or not at all: one that is gone is not waited for.
            socket.setsockopt(zmq.IMMEDIATE, 1)
            if self._keys:
                self._keys.show(socket)
            events = zmq.EVENT_DISCONNECTED | HANDSHAKE_FAILED
            with socket.get_monitor_socket(events) as monitor:
                socket.connect(self._address)
                try:
                    yield socket, monitor
                finally:
                    socket.disable_monitor()  # whose last event would wait for a reader

    def _ask(
        self,
        task: PrefillTask,
        socket: zmq.Socket[bytes],
        monitor: zmq.Socket[bytes],
        segment: Segment | None,
    ) -> bool:
        """Whether the prompt was sent in the time that its request has."""
        request = PrefillRequest(
            self._blocks.fingerprint,
            task.token_ids,
            task.cache_salt,
            first_block=task.incoming.first_block,
            segment=segment.name if segment else "",
            timeout_s=None if math.isinf(task.timeout_s) else task.timeout_s,
            api_key=self._api_key,
        )
        limit_s = min(self._timeout_s, task.timeout_s, _CONNECT_S)
        socket.sndtimeo = int(limit_s * 1000)
        if not _is_connected(socket, monitor, limit_s):
            if limit_s < _CONNECT_S:
                return False  # which says nothing about the peer
            raise PeerError(f"no connection in {_CONNECT_S:g} s")
        _send(socket, request)
        return True

    def _receive(
        self,
        task: PrefillTask,
        socket: zmq.Socket[bytes],
        monitor: zmq.Socket[bytes],
        segment: Segment | None,
    ) -> PrefillDone | None:
        """Take what comes until all is there."""
        until = time.monotonic() + task.timeout_s
        heard = time.monotonic()
        while True:
            if task.cancelled.is_set() or time.monotonic() >= until:
                _send(socket, CancelPrefill())
                return None
            if socket.poll(_CANCEL_POLL_MS):
                heard = time.monotonic()
                received = [frame.buffer for frame in socket.recv_multipart(copy=False)]
                message = msgspec.msgpack.decode(said_in(received), type=FromPrefill)
                if isinstance(message, LayerBlocks):
                    self._take(task, message, received[3:], segment)
                else:
                    return self._ended(task, message)
            elif monitor.poll(0):
                raise PeerError("the connection ended")
            elif time.monotonic() - heard >= self._timeout_s:
                _send(socket, CancelPrefill())
                raise PeerError(f"no word in {self._timeout_s:g} s")

    def _take(
        self,
        task: PrefillTask,
        part: LayerBlocks,
        data: list[memoryview],
        segment: Segment | None,
    ) -> None:
        place, size = task.incoming.place(part)
        own = segment.read(place, size) if segment else data[0] if data else b""
        task.incoming.take(part, own)

    def _ended(self, task: PrefillTask, message: PrefillDone | Refused) -> PrefillDone | None:
        if isinstance(message, Refused):
            if not message.refusal.is_of_prompt:
                raise PeerError(f"{message.refusal}: {message.error}")
            log.warning("a prompt was refused (%s): %s", message.refusal, message.error)
            return None
        if task.incoming.num_whole != message.num_blocks:
            come = task.incoming.num_whole
            raise PeerError(f"{come} whole blocks came of the {message.num_blocks} that were sent")
        return message


def _is_connected(socket: zmq.Socket[bytes], monitor: zmq.Socket[bytes], limit_s: float) -> bool:
    """Whether there is a connection within so long.

    Raises:
        PeerError: there will be none: the handshake failed.
    """
    either = zmq.Poller()
    either.register(socket, zmq.POLLOUT)
    either.register(monitor, zmq.POLLIN)
    until = time.monotonic() + limit_s
    while (left_s := until - time.monotonic()) > 0:
        ready = dict(either.poll(math.ceil(left_s * 1000)))
        if socket in ready:
            return True
        if monitor in ready and recv_monitor_message(monitor)["event"] & HANDSHAKE_FAILED:
            raise PeerError(
                f"the handshake failed: the two have different keys ({PREFILL_KEY_VARIABLE}), or"
                " only one of them encrypts"
            )
    return False


def _send(socket: zmq.Socket[bytes], message: ToPrefill) -> None:
    socket.send_multipart(frames(message))
