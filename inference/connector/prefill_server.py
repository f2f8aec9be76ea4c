"""The engine that computes prompts for others."""

from __future__ import annotations

import errno
import hmac
import itertools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

import msgspec
import zmq

from inference.connector.messages import (
    CancelPrefill,
    FromPrefill,
    OtherVersionError,
    PrefillDone,
    PrefillRequest,
    Refusal,
    Refused,
    ToPrefill,
    frames,
    said_in,
)
from inference.connector.outgoing import Outgoing, Send
from inference.connector.pool_keys import pool_keys
from inference.core import Chunk, FinishReason, SamplingParams
from inference.engine.engine_core import EngineCore
from inference.errors import InferenceError
from inference.protocol import AddRequest, SequenceOutput
from inference.runner.model_runner import ModelRunner

log = logging.getLogger(__name__)

_POLL_MS = 200
_ONE_TOKEN = SamplingParams(max_tokens=1, temperature=0.0, ignore_eos=True)


def serve(
    core: EngineCore,
    runner: ModelRunner,
    address: str,
    stop: threading.Event,
    api_key: str = "",
    *,
    encrypted: bool = True,
) -> None:
    """Compute prompts for who asks at a zmq address (tcp://… or ipc://…) until `stop` is set.

    What is sent in the middle of a step leaves by zmq's own thread while the step goes on.

    Args:
        api_key, encrypted: as `pool_keys` takes them.
    Raises:
        ModelLoadError: the way there would be open.
    """
    keys = pool_keys(address, api_key, encrypted=encrypted)
    context = zmq.Context[zmq.Socket[bytes]]()
    socket = context.socket(zmq.ROUTER)
    socket.linger = 0
    socket.sndhwm = 0  # a slow peer's blocks wait here: beyond a mark they would be dropped
    socket.setsockopt(zmq.ROUTER_MANDATORY, 1)  # who is gone is noticed

    def send(peer: bytes, message: FromPrefill, data: bytes = b"") -> bool:
        try:
            socket.send_multipart([peer, *frames(message, data)], copy=False)
        except zmq.ZMQError as error:
            if error.errno != errno.EHOSTUNREACH:
                raise
            return False
        return True

    server = PrefillServer(core, runner, send, api_key)
    with ExitStack() as stack:
        stack.callback(context.destroy)
        stack.callback(socket.close)
        if keys:
            stack.enter_context(keys.only_this_pool(context))
            keys.guard(socket)
        socket.bind(address)
        while not stop.is_set():
            idle = not core.scheduler.has_work
            while socket.poll(_POLL_MS if idle else 0):
                idle = False
                peer, *received = socket.recv_multipart()
                server.take(peer, received)
            server.step()


class PrefillServer:
    """Computes the prompts of many peers together, in chunks as the scheduler deals them out."""

    def __init__(
        self,
        core: EngineCore,
        runner: ModelRunner,
        send: Send,
        api_key: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            runner: the core's.
            send: what is said to a peer; in the middle of a step too.
            api_key: what a peer has to send along; nothing when empty.
            clock: the core's.
        """
        self._core = core
        self._blocks = runner.blocks
        self._send = send
        self._api_key = api_key
        self._clock = clock
        self._decode = msgspec.msgpack.Decoder(ToPrefill).decode
        self._ids = itertools.count()
        self._outgoing: dict[str, Outgoing] = {}
        runner.written = self._written

    def take(self, peer: bytes, received: Sequence[bytes]) -> None:
        """Begin to compute what is asked for, or forget it; refused at once where that cannot
        be."""
        try:
            request = self._decode(said_in(received))
        except OtherVersionError as error:
            return self._refuse(peer, Refusal.OTHER_VERSION, str(error))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return self._refuse(peer, Refusal.INVALID_MESSAGE, str(error))
        if isinstance(request, CancelPrefill):
            return self._forget([name for name, one in self._outgoing.items() if one.peer == peer])
        if not hmac.compare_digest(request.api_key.encode(), self._api_key.encode()):
            return self._refuse(peer, Refusal.WRONG_KEY, "the key is wrong")
        if request.model != self._blocks.fingerprint:
            other = "another model, type or block size is served here"
            return self._refuse(peer, Refusal.OTHER_MODEL, other)
        if wrong := self._begin(peer, request):
            return self._refuse(peer, Refusal.INVALID_PROMPT, wrong)
        return None

    def step(self) -> None:
        """Compute a step's worth of all prompts, and end those that are done."""
        for output in self._core.step():
            if output.finish_reason is not None:
                self._end(self._outgoing.pop(output.request_id), output)
        for name, outgoing in list(self._outgoing.items()):
            if outgoing.error:
                self._refuse(outgoing.peer, Refusal.FAILED, outgoing.error)
                self._forget([name])

    def _begin(self, peer: bytes, request: PrefillRequest) -> str:
        """Queue the prompt, or say why it cannot be computed."""
        vocab_size = self._core.runner.vocab_size
        if not request.token_ids:
            return "the prompt has no tokens"
        for token_id in request.token_ids:
            if not 0 <= token_id < vocab_size:
                return f"{token_id} is not a token of {vocab_size}"
        if request.first_block < 0:
            return f"there is no block {request.first_block}"
        now = self._clock()
        # By arrival, also of those that came within one tick: names are compared as texts.
        name = f"prefill-{next(self._ids):012d}"
        message = AddRequest(
            name,
            request.token_ids,
            _ONE_TOKEN,
            arrived_at=now,
            cache_salt=request.cache_salt,
            deadline=None if request.timeout_s is None else now + request.timeout_s,
        )
        try:
            self._core.add(message)
        except (InferenceError, ValueError) as error:
            return str(error)
        self._outgoing[name] = Outgoing(peer, request, self._blocks, self._send)
        return ""

    def _written(self, chunks: list[Chunk], num_layers: int) -> None:
        """In the middle of a step: so many layers of its chunks are there."""
        for chunk in chunks:
            if outgoing := self._outgoing.get(chunk.request.request_id):
                outgoing.written(chunk, num_layers)

    def _end(self, outgoing: Outgoing, output: SequenceOutput) -> None:
        if output.finish_reason is FinishReason.TIMEOUT:
            return  # the peer no longer waits
        error = outgoing.error
        if output.finish_reason is FinishReason.ERROR:
            error = output.error or "the step failed"
        if error:
            self._refuse(outgoing.peer, Refusal.FAILED, error)
        else:
            self._send(outgoing.peer, PrefillDone(outgoing.num_whole, time.time()))

    def _forget(self, names: list[str]) -> None:
        """Compute nothing more of these."""
        self._core.abort(names)
        for name in names:
            del self._outgoing[name]

    def _refuse(self, peer: bytes, refusal: Refusal, error: str) -> None:
        log.warning("a prompt was not computed (%s): %s", refusal, error)
        self._send(peer, Refused(refusal, error))
