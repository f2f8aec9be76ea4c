"""The engine core as a process of its own: messages in, steps, reports out.

Started by `client.py` as `python -m inference.engine.process`, with its configuration as
JSON on standard input. It ends when told to, or when the process that started it is gone.
"""

from __future__ import annotations

import logging
import os
import signal
import sys

import msgspec
import zmq

from inference.config import EngineConfig
from inference.connector.remote_prefill import RemotePrefill, ZmqConnector
from inference.engine.core import EngineCore, StepRunner
from inference.engine.draft_model import DraftModel
from inference.engine.prompt_lookup import PromptLookup
from inference.engine.speculation import Proposer
from inference.errors import EngineBrokenError, InferenceError, ModelLoadError
from inference.protocol import (
    AbortRequests,
    AddRequest,
    CoreFailed,
    CoreReady,
    CoreStart,
    FinishReason,
    FromCore,
    SequenceOutput,
    Shutdown,
    StepReport,
    ToCore,
)
from inference.runner.model_runner import ModelRunner

log = logging.getLogger(__name__)

_IDLE_POLL_MS = 1000
_HANDOVER_POLL_MS = 2
"""While nothing runs here but a prompt is computed elsewhere."""


class CoreLoop:
    """Feeds the core with messages between steps and sends what the steps gave."""

    def __init__(
        self,
        core: EngineCore,
        inbox: zmq.Socket[bytes],
        outbox: zmq.Socket[bytes],
        remote_prefill: RemotePrefill | None = None,
    ):
        self._core = core
        self._remote_prefill = remote_prefill
        self._inbox = inbox
        self._outbox = outbox
        self._decode = msgspec.msgpack.Decoder(ToCore).decode
        self._parent = os.getppid()

    def run(self) -> None:
        """Work until told to end, or until nobody is left to work for."""
        while os.getppid() == self._parent:
            working = self._core.scheduler.has_work
            waiting = self._remote_prefill is not None and self._remote_prefill.is_waiting
            patience_ms = _HANDOVER_POLL_MS if waiting else _IDLE_POLL_MS
            if not working and not self._inbox.poll(patience_ms) and not waiting:
                continue
            outputs: list[SequenceOutput] = []
            while self._inbox.poll(0):
                message = self._decode(self._inbox.recv())
                if isinstance(message, Shutdown):
                    return
                outputs.extend(self._handle(message))
            if self._remote_prefill is not None:
                for message in self._remote_prefill.arrived():
                    outputs.extend(self._add(message))
            outputs.extend(self._core.step())
            self._send(StepReport(outputs, self._core.stats()))

    def _handle(self, message: AddRequest | AbortRequests) -> list[SequenceOutput]:
        if isinstance(message, AbortRequests):
            self._core.abort(message.request_ids)
            if self._remote_prefill is not None:
                self._remote_prefill.abort(message.request_ids)
            return []
        if self._remote_prefill is not None and self._remote_prefill.take(message):
            return []
        return self._add(message)

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


def make_proposers(config: EngineConfig, target: StepRunner) -> list[Proposer]:
    """Where guesses come from, in the order in which they are asked.

    Raises:
        ModelLoadError: when the draft model cannot be used, or has another vocabulary.
    """
    speculation = config.speculation
    proposers: list[Proposer] = [PromptLookup()] if speculation.prompt_lookup else []
    if speculation.draft_model is not None:
        streams = speculation.max_rows // 2
        draft_config = msgspec.structs.replace(
            config,
            model=speculation.draft_model,
            max_model_len=target.max_model_len,
            num_blocks=None,  # for so many sequences, if as much memory is free
            scheduler=msgspec.structs.replace(config.scheduler, max_num_seqs=streams),
            swap_blocks=0,
            tensor_parallel=1,
            pipeline_parallel=1,
            prefill_from=None,
        )
        draft = ModelRunner(draft_config)
        if draft.vocab_size != target.vocab_size:
            raise ModelLoadError(
                f"the draft model knows {draft.vocab_size} tokens, "
                f"the model {target.vocab_size}: they must share a vocabulary"
            )
        proposers.append(DraftModel(draft, config.block_size))
    return proposers


def make_remote_prefill(
    config: EngineConfig, core: EngineCore, runner: ModelRunner
) -> RemotePrefill | None:
    """The way to the engine that computes prompts, where one is named."""
    if config.prefill_from is None:
        return None
    connector = ZmqConnector(config.prefill_from, runner.blocks, api_key=config.prefill_api_key)
    max_wait_s = config.scheduler.max_wait_s
    return RemotePrefill(core, runner.blocks, connector, max_wait_s=max_wait_s)


def main() -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s engine %(message)s")
    # Ctrl-C reaches the whole process group; the server decides when the core ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    start = msgspec.json.decode(sys.stdin.buffer.read(), type=CoreStart)
    context = zmq.Context[zmq.Socket[bytes]]()
    inbox, outbox = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    inbox.setsockopt(zmq.RCVHWM, 0)
    inbox.connect(start.inbox)
    outbox.connect(start.outbox)
    outbox.linger = 1000
    runner: ModelRunner | None = None
    try:
        runner = ModelRunner(start.engine)
        core = EngineCore(start.engine, runner, make_proposers(start.engine, runner))
        ready = CoreReady(
            max_model_len=runner.max_model_len,
            block_size=start.engine.block_size,
            num_blocks=runner.num_blocks,
            kv_dtype=runner.kv_dtype,
            kv_bytes=runner.kv_bytes,
            eos_token_ids=sorted(runner.eos_token_ids),
            vocab_size=runner.vocab_size,
            embedding_size=runner.embedding_size,
        )
        outbox.send(msgspec.msgpack.encode(ready))
        CoreLoop(core, inbox, outbox, make_remote_prefill(start.engine, core, runner)).run()
    except Exception as error:  # whatever it is, the server hears why before this process ends
        expected = isinstance(error, ModelLoadError | EngineBrokenError | OSError)
        log.error("cannot go on: %s", error, exc_info=None if expected else error)
        outbox.send(msgspec.msgpack.encode(CoreFailed(str(error) or repr(error))))
        return 1
    finally:
        if runner is not None:
            runner.close()
        context.destroy(linger=1000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
