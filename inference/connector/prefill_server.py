"""The engine that computes prompts for others."""

from __future__ import annotations

import hmac
import itertools
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import zmq

from inference.connector.messages import (
    CancelPrefill,
    PrefillAnswer,
    PrefillRequest,
    Refusal,
    ToPrefill,
)
from inference.connector.payload import write
from inference.core import FinishReason, Request, SamplingParams
from inference.engine.engine_core import EngineCore
from inference.errors import InferenceError
from inference.protocol import AddRequest, SequenceOutput
from inference.runner.block_transfer import BlockTransfer

log = logging.getLogger(__name__)

_POLL_MS = 200
_ONE_TOKEN = SamplingParams(max_tokens=1, temperature=0.0, ignore_eos=True)


@dataclass(frozen=True)
class _Asked:
    """A prompt that is being computed, and who asked for it."""

    sender: bytes
    request: PrefillRequest


class PrefillServer:
    """Computes the prompts of many peers together, in chunks as the scheduler deals them out."""

    def __init__(
        self,
        core: EngineCore,
        blocks: BlockTransfer,
        api_key: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`core` has its prefix cache on: that is where the blocks wait to be read.

        Args:
            api_key: what a peer has to send along; nothing when empty.
            clock: the core's.
        """
        self._core = core
        self._blocks = blocks
        self._api_key = api_key
        self._clock = clock
        self._decode = msgspec.msgpack.Decoder(ToPrefill).decode
        self._ids = itertools.count()
        self._asked: dict[str, _Asked] = {}

    def serve(self, address: str, stop: threading.Event) -> None:
        """Listen at a zmq address (tcp://… or ipc://…) until `stop` is set."""
        context = zmq.Context[zmq.Socket[bytes]]()
        socket = context.socket(zmq.ROUTER)
        socket.linger = 0
        try:
            socket.bind(address)
            while not stop.is_set():
                idle = not self._core.scheduler.has_work
                while socket.poll(_POLL_MS if idle else 0):
                    idle = False
                    sender, *rest = socket.recv_multipart()
                    if refusal := self.take(sender, rest[-1] if rest else b""):
                        _send(socket, sender, refusal)
                for sender, answer in self.step():
                    _send(socket, sender, answer)
        finally:
            socket.close()
            context.destroy()

    def take(self, sender: bytes, message: bytes) -> PrefillAnswer | None:
        """Begin to compute what is asked for, or forget it; an answer at once where that cannot
        be."""
        try:
            request = self._decode(message)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _refused(Refusal.INVALID_MESSAGE, str(error))
        if isinstance(request, CancelPrefill):
            self._forget(sender)
            return None
        if not hmac.compare_digest(request.api_key.encode(), self._api_key.encode()):
            return _refused(Refusal.WRONG_KEY, "the key is wrong")
        if request.model != self._blocks.fingerprint:
            return _refused(Refusal.OTHER_MODEL, "another model, type or block size is served here")
        return self._begin(sender, request)

    def step(self) -> list[tuple[bytes, PrefillAnswer]]:
        """Compute a step's worth of all prompts; who gets what of those that are done."""
        answers = []
        for output in self._core.step():
            if output.finish_reason is not None:
                asked = self._asked.pop(output.request_id)
                if output.finish_reason is FinishReason.TIMEOUT:
                    continue  # the peer no longer waits
                # Its blocks are free now but still cached, until the next step.
                answers.append((asked.sender, self._answer(asked.request, output)))
        return answers

    def _begin(self, sender: bytes, request: PrefillRequest) -> PrefillAnswer | None:
        """Queue the prompt, or say why it cannot be computed."""
        vocab_size = self._core.runner.vocab_size
        if not request.token_ids:
            return _refused(Refusal.INVALID_PROMPT, "the prompt has no tokens")
        for token_id in request.token_ids:
            if not 0 <= token_id < vocab_size:
                return _refused(
                    Refusal.INVALID_PROMPT, f"{token_id} is not a token of {vocab_size}"
                )
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
            return _refused(Refusal.INVALID_PROMPT, str(error))
        self._asked[name] = _Asked(sender, request)
        return None

    def _forget(self, sender: bytes) -> None:
        """Compute nothing more of what a peer asked for."""
        names = [name for name, asked in self._asked.items() if asked.sender == sender]
        self._core.abort(names)
        for name in names:
            del self._asked[name]

    def _answer(self, asked: PrefillRequest, output: SequenceOutput) -> PrefillAnswer:
        if output.finish_reason is FinishReason.ERROR:
            return _refused(Refusal.FAILED, output.error or "the step failed")
        probe = Request(output.request_id, asked.token_ids, _ONE_TOKEN, cache_salt=asked.cache_salt)
        found = self._core.kv.find_prefix(probe)
        data = self._blocks.read(found) if found else b""
        if not asked.segment or not data:
            return PrefillAnswer(len(found), data)
        try:
            write(asked.segment, data)
        except (OSError, ValueError) as error:
            return _refused(Refusal.FAILED, f"the blocks cannot be handed over: {error}")
        return PrefillAnswer(len(found))


def _refused(refusal: Refusal, error: str) -> PrefillAnswer:
    log.warning("a prompt was not computed (%s): %s", refusal, error)
    return PrefillAnswer(refusal=refusal, error=error)


def _send(socket: zmq.Socket[bytes], receiver: bytes, answer: PrefillAnswer) -> None:
    """To a peer that may be gone; then nothing happens."""
    socket.send_multipart([receiver, b"", msgspec.msgpack.encode(answer)])
