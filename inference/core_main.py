"""The core process: `python -m inference.core_main`, with its configuration on standard input.

Started by `engine/core_process.py`. Here its parts are put together: the model, what drafts
tokens, the way to a prefill engine, the core and its loop. It ends on request, or when the
process that started it is gone.
"""

from __future__ import annotations

import gc

if __name__ == "__main__":
    # What is imported stays: to look for garbage in it, again and again, is a part of each start.
    gc.disable()

import logging
import signal
import sys
from pathlib import Path

import msgspec
import zmq

from inference.config import EngineConfig
from inference.connector.kv_offload import KVOffload
from inference.connector.kv_place import kv_store_at
from inference.connector.remote_prefill import RemotePrefill
from inference.connector.zmq_connector import ZmqConnector
from inference.core import StageTimes
from inference.engine.core_loop import CoreLoop
from inference.engine.engine_core import EngineCore
from inference.engine.progress import Heartbeat
from inference.engine.settled_memory import settle_memory
from inference.errors import EngineBrokenError, ModelLoadError
from inference.model.files.revision import revision_of
from inference.protocol import CoreFailed, CoreReady, CoreStart
from inference.runner.model_runner import ModelRunner
from inference.speculation.draft_model import DraftModel
from inference.speculation.forced_tokens import ForcedTokens
from inference.speculation.predicted_text import PredictedText
from inference.speculation.prompt_lookup import PromptLookup
from inference.speculation.speculator import Proposer

log = logging.getLogger(__name__)


def make_proposers(config: EngineConfig, target: ModelRunner) -> list[Proposer]:
    """Where draft tokens come from, in the order in which they are asked.

    Raises:
        ModelLoadError: when the draft model cannot be used, or has another vocabulary.
    """
    speculation = config.speculation
    if target.is_encoder:
        return []
    if target.num_states:
        if speculation.draft_model is not None:
            raise ModelLoadError("--draft-model cannot be had for a model with states")
        return []
    proposers: list[Proposer] = [ForcedTokens(target.guides.forced), PredictedText()]
    if speculation.prompt_lookup:
        proposers.append(PromptLookup())
    if speculation.draft_model is not None:
        sequences = speculation.max_rows // 2  # more of them at once get no draft
        draft_config = msgspec.structs.replace(
            config,
            model=speculation.draft_model,
            max_model_len=target.max_model_len,
            num_blocks=None,  # for so many sequences, if as much memory is free
            scheduler=msgspec.structs.replace(config.scheduler, max_num_seqs=sequences),
            swap_blocks=0,
            tensor_parallel=1,
            pipeline_parallel=1,
            graphs_on_ranks=False,
            prefill_from=None,
            one_block_table=True,  # a wrong draft needs what was before its window again
            kv_store=None,
            kv_store_memory=0,
            readout=None,
            max_loras=0,
        )
        draft = ModelRunner(draft_config)
        if draft.num_states:
            raise ModelLoadError("a model with states cannot be the draft model")
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
    """The way to the engine that computes prompts, where one is named.

    Raises:
        ModelLoadError: there is no prefix cache to put its blocks into, or the way there is open.
    """
    if config.prefill_from is None:
        return None
    if not config.prefix_cache:
        raise ModelLoadError("--prefill-from puts blocks into the prefix cache, which is off")
    connector = ZmqConnector(
        config.prefill_from,
        runner.blocks,
        api_key=config.prefill_api_key,
        encrypted=config.prefill_encryption,
    )
    max_wait_s = config.scheduler.max_wait_s
    return RemotePrefill(core, runner.blocks, connector, max_wait_s=max_wait_s)


def make_kv_offload(
    config: EngineConfig, core: EngineCore, runner: ModelRunner
) -> KVOffload | None:
    """Where computed prefixes are kept, if anywhere.

    Raises:
        ModelLoadError: there is no key to encrypt them with, or no prefix cache to put them into.
        OSError: the folder cannot be made.
    """
    if config.kv_store is None and not config.kv_store_memory:
        return None
    if not config.prefix_cache:
        raise ModelLoadError("--kv-store puts what it has into the prefix cache, which is off")
    rounding = f"{config.quantization} {config.int8_activations}"
    model = f"{revision_of(Path(config.model))} {rounding} {runner.blocks.fingerprint}"
    store = kv_store_at(
        config.kv_store,
        model=model,
        key=config.kv_store_key,
        max_bytes=config.kv_store_bytes,
        memory_bytes=config.kv_store_memory,
    )
    offload = KVOffload(core, runner.blocks, store, max_wait_s=config.scheduler.max_wait_s)
    core.keeper = offload
    return offload


def main() -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s engine %(message)s")
    # Ctrl-C reaches the whole process group; the server decides when the core ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    start = msgspec.json.decode(sys.stdin.buffer.read(), type=CoreStart)
    stages = StageTimes(start.started_at)
    stages.end("imports")
    context = zmq.Context[zmq.Socket[bytes]]()
    inbox, outbox = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    inbox.setsockopt(zmq.RCVHWM, 0)
    inbox.connect(start.inbox)
    outbox.connect(start.outbox)
    outbox.linger = 1000
    runner: ModelRunner | None = None
    prefill: RemotePrefill | None = None
    offload: KVOffload | None = None
    heartbeat = Heartbeat(context, start.outbox)
    try:
        runner = ModelRunner(start.engine, stages)
        core = EngineCore(start.engine, runner, make_proposers(start.engine, runner))
        settle_memory()
        stages.end("rest")
        log.info("ready after %.2f s: %s", sum(stages.seconds.values()), stages)
        ready = CoreReady(
            max_model_len=runner.max_model_len,
            block_size=start.engine.block_size,
            num_blocks=runner.num_blocks,
            kv_dtype=runner.kv_dtype,
            kv_bytes=runner.kv_bytes,
            eos_token_ids=sorted(runner.eos_token_ids),
            vocab_size=runner.vocab_size,
            embedding_size=runner.embedding_size,
            is_encoder=runner.is_encoder,
            num_readouts=runner.num_readouts,
            sees_images=runner.sees_images,
            load_s=stages.seconds,
        )
        outbox.send(msgspec.msgpack.encode(ready))
        heartbeat.start(core.progress)
        prefill = make_remote_prefill(start.engine, core, runner)
        offload = make_kv_offload(start.engine, core, runner)
        delegates = [delegate for delegate in (offload, prefill) if delegate is not None]
        CoreLoop(core, inbox, outbox, delegates, runner.adapters).run()
    except Exception as error:  # whatever it is, the server hears why before this process ends
        expected = isinstance(error, ModelLoadError | EngineBrokenError | OSError)
        log.error("cannot go on: %s", error, exc_info=None if expected else error)
        outbox.send(msgspec.msgpack.encode(CoreFailed(str(error) or repr(error))))
        return 1
    finally:
        heartbeat.stop()
        if offload is not None:
            offload.close()
        if prefill is not None:
            prefill.close()  # or the process would wait for the answers
        if runner is not None:
            runner.close()
        context.destroy(linger=1000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
