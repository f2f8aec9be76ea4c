"""The engine that computes prompts for others."""

from __future__ import annotations

import itertools
import logging
import threading

import msgspec
import zmq

from inference.connector.blocks import BlockTransfer
from inference.connector.messages import PrefillAnswer, PrefillRequest
from inference.connector.payload import pack
from inference.engine.core import EngineCore
from inference.engine.request import Request
from inference.errors import InferenceError
from inference.protocol import AddRequest, FinishReason
from inference.sampling.params import SamplingParams

log = logging.getLogger(__name__)

_POLL_MS = 200


class PrefillServer:
    """Answers one prompt at a time, each in chunks as the scheduler deals them out."""

    def __init__(self, core: EngineCore, blocks: BlockTransfer) -> None:
        """`core` has its prefix cache on: that is where the blocks wait to be read."""
        self._core = core
        self._blocks = blocks
        self._ids = itertools.count()

    def serve(self, address: str, stop: threading.Event) -> None:
        """Listen at a zmq address (tcp://… or ipc://…) until told to stop."""
        context = zmq.Context[zmq.Socket[bytes]]()
        socket = context.socket(zmq.REP)
        socket.linger = 0
        try:
            socket.bind(address)
            while not stop.is_set():
                if socket.poll(_POLL_MS):
                    socket.send(msgspec.msgpack.encode(self._answer(socket.recv())))
        finally:
            socket.close()
            context.destroy()

    def _answer(self, message: bytes) -> PrefillAnswer:
        try:
            request = msgspec.msgpack.decode(message, type=PrefillRequest)
            if request.model != self._blocks.fingerprint:
                return PrefillAnswer(error="another model, type or block size is served here")
            return self._compute(request)
        except (msgspec.DecodeError, InferenceError, ValueError) as error:
            log.warning("a prompt was not computed: %s", error)
            return PrefillAnswer(error=str(error))

    def _compute(self, asked: PrefillRequest) -> PrefillAnswer:
        name = f"prefill-{next(self._ids)}"
        once = SamplingParams(max_tokens=1, temperature=0.0, ignore_eos=True)
        self._core.add(AddRequest(name, asked.token_ids, once, cache_salt=asked.cache_salt))
        while self._core.scheduler.has_work:
            for output in self._core.step():
                if output.finish_reason is FinishReason.ERROR:
                    return PrefillAnswer(error=output.error or "the step failed")
        # Its blocks are free now but still cached, and no other step comes between.
        probe = Request(name, asked.token_ids, once, cache_salt=asked.cache_salt)
        found = self._core.kv.find_prefix(probe)
        data = self._blocks.read(found) if found else b""
        return pack(len(found), data, shared_memory=asked.shared_memory)
