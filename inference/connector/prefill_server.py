"""The engine that computes prompts for others."""

from __future__ import annotations

import hmac
import itertools
import logging
import threading
from dataclasses import dataclass

import msgspec
import zmq

from inference.connector.blocks import BlockTransfer
from inference.connector.messages import PrefillAnswer, PrefillRequest
from inference.connector.payload import pack
from inference.engine.core import EngineCore
from inference.engine.request import Request
from inference.errors import InferenceError
from inference.protocol import AddRequest, FinishReason, SequenceOutput
from inference.sampling.params import SamplingParams

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

    def __init__(self, core: EngineCore, blocks: BlockTransfer, api_key: str = "") -> None:
        """`core` has its prefix cache on: that is where the blocks wait to be read.

        Args:
            api_key: what a peer has to send along; nothing when empty.
        """
        self._core = core
        self._blocks = blocks
        self._api_key = api_key
        self._ids = itertools.count()
        self._asked: dict[str, _Asked] = {}

    def serve(self, address: str, stop: threading.Event) -> None:
        """Listen at a zmq address (tcp://… or ipc://…) until told to stop."""
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
        """Begin to compute what is asked for; an answer at once where that cannot be."""
        try:
            request = msgspec.msgpack.decode(message, type=PrefillRequest)
            if not hmac.compare_digest(request.api_key.encode(), self._api_key.encode()):
                log.warning("a peer without the right key was refused")
                return PrefillAnswer(error="the key is wrong")
            if request.model != self._blocks.fingerprint:
                return PrefillAnswer(error="another model, type or block size is served here")
            name = f"prefill-{next(self._ids)}"
            self._core.add(
                AddRequest(name, request.token_ids, _ONE_TOKEN, cache_salt=request.cache_salt)
            )
        except (msgspec.DecodeError, InferenceError, ValueError) as error:
            log.warning("a prompt was not computed: %s", error)
            return PrefillAnswer(error=str(error))
        self._asked[name] = _Asked(sender, request)
        return None

    def step(self) -> list[tuple[bytes, PrefillAnswer]]:
        """Compute a step's worth of all prompts; who gets what of those that are done."""
        answers = []
        for output in self._core.step():
            if output.finish_reason is not None:
                asked = self._asked.pop(output.request_id)
                # Its blocks are free now but still cached, until the next step.
                answers.append((asked.sender, self._answer(asked.request, output)))
        return answers

    def _answer(self, asked: PrefillRequest, output: SequenceOutput) -> PrefillAnswer:
        if output.finish_reason is FinishReason.ERROR:
            return PrefillAnswer(error=output.error or "the step failed")
        probe = Request(output.request_id, asked.token_ids, _ONE_TOKEN, cache_salt=asked.cache_salt)
        found = self._core.kv.find_prefix(probe)
        data = self._blocks.read(found) if found else b""
        return pack(len(found), data, shared_memory=asked.shared_memory)


def _send(socket: zmq.Socket[bytes], receiver: bytes, answer: PrefillAnswer) -> None:
    """To a peer that may be gone; then nothing happens."""
    socket.send_multipart([receiver, b"", msgspec.msgpack.encode(answer)])
