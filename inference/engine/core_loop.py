"""The loop of the core process: messages in, steps, reports out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

import msgspec
import zmq

from inference.core import FinishReason
from inference.engine.engine_core import EngineCore
from inference.errors import InferenceError
from inference.protocol import (
    AbortRequests,
    AdapterLoaded,
    AddRequest,
    FromCore,
    LoadAdapter,
    SequenceOutput,
    Shutdown,
    StepReport,
    ToCore,
    UnloadAdapter,
)

_IDLE_POLL_MS = 1000
_HANDOVER_POLL_MS = 2
"""While nothing runs here but a prompt is computed elsewhere."""


class PrefillDelegate(Protocol):
    """Has prompts computed by another engine, or read from where they are kept, before their
    requests are added here."""

    @property
    def is_waiting(self) -> bool:
        """Whether a prompt is away."""
        ...

    def take(self, message: AddRequest) -> bool:
        """Whether the prompt goes that way; its request is not added before it `arrived`."""
        ...

    def abort(self, request_ids: list[str]) -> None:
        """Forget requests whose prompts are away; unknown ids are not there."""
        ...

    def arrived(self) -> list[AddRequest]:
        """Requests to be added now."""
        ...


class Adapters(Protocol):
    """Reads adapters while steps go on."""

    @property
    def is_reading(self) -> bool: ...

    def load(self, message: LoadAdapter) -> None:
        """Begin to read one."""
        ...

    def unload(self, adapter_id: int) -> None:
        """Free one; an unknown one is gone already."""
        ...

    def finished(self) -> list[AdapterLoaded]:
        """What became of those that were read."""
        ...


class CoreLoop:
    """Feeds the core with messages between steps and sends what the steps gave."""

    def __init__(
        self,
        core: EngineCore,
        inbox: zmq.Socket[bytes],
        outbox: zmq.Socket[bytes],
        prefill: Sequence[PrefillDelegate] = (),
        adapters: Adapters | None = None,
    ):
        self._core = core
        self._prefill = prefill
        self._adapters = adapters
        self._inbox = inbox
        self._outbox = outbox
        self._decode = msgspec.msgpack.Decoder(ToCore).decode
        self._parent = os.getppid()

    def run(self) -> None:
        """Work until asked to end, or until the process that started this one is gone."""
        while os.getppid() == self._parent:
            working = self._core.scheduler.has_work
            waiting = any(delegate.is_waiting for delegate in self._prefill)
            waiting |= self._adapters is not None and self._adapters.is_reading
            poll_ms = _HANDOVER_POLL_MS if waiting else _IDLE_POLL_MS
            if not working and not self._inbox.poll(poll_ms) and not waiting:
                continue
            outputs: list[SequenceOutput] = []
            while self._inbox.poll(0):
                message = self._decode(self._inbox.recv())
                if isinstance(message, Shutdown):
                    return
                outputs.extend(self._handle(message))
            for delegate in self._prefill:
                for message in delegate.arrived():
                    outputs.extend(self._add(message))
            outputs.extend(self._core.step())
            loaded = self._adapters.finished() if self._adapters is not None else []
            self._send(StepReport(outputs, self._core.stats(), loaded))

    def _handle(
        self, message: AddRequest | AbortRequests | LoadAdapter | UnloadAdapter
    ) -> list[SequenceOutput]:
        if isinstance(message, LoadAdapter | UnloadAdapter):
            self._change_adapters(message)
            return []
        if isinstance(message, AbortRequests):
            self._core.abort(message.request_ids)
            for delegate in self._prefill:
                delegate.abort(message.request_ids)
            return []
        if any(delegate.take(message) for delegate in self._prefill):
            return []
        return self._add(message)

    def _change_adapters(self, message: LoadAdapter | UnloadAdapter) -> None:
        assert self._adapters is not None, "the server refuses who names adapters"
        if isinstance(message, LoadAdapter):
            self._adapters.load(message)
        else:
            self._adapters.unload(message.adapter_id)

    def _add(self, message: AddRequest) -> list[SequenceOutput]:
        try:
            self._core.add(message)
        except (InferenceError, ValueError) as error:
            return [
                SequenceOutput(
                    message.request_id, [], finish_reason=FinishReason.ERROR, error=str(error)
                )
            ]
        return []

    def _send(self, message: FromCore) -> None:
        self._outbox.send(msgspec.msgpack.encode(message))
