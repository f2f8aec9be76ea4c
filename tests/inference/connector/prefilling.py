"""Engines that compute prompts for each other, in one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inference.config import EngineConfig, KvDtype
from inference.connector.incoming import Incoming
from inference.connector.messages import FromPrefill, LayerBlocks, PrefillRequest, frames
from inference.connector.prefill_server import serve
from inference.connector.remote_prefill import RemotePrefill
from inference.connector.zmq_connector import PrefillTask
from inference.engine.engine_core import EngineCore
from inference.protocol import AddRequest
from inference.runner.model_runner import ModelRunner
from tests.inference.conftest import Driver, greedy

PROMPT = [(7 * i * i) % 120 + 3 for i in range(70)]  # four full blocks and a rest


def make_engine(
    model: Path, kv_dtype: KvDtype = "auto", **fields: Any
) -> tuple[EngineCore, ModelRunner]:
    config = EngineConfig(
        model=str(model), dtype="float32", kv_dtype=kv_dtype, num_blocks=32, num_threads=1, **fields
    )
    runner = ModelRunner(config)
    return EngineCore(config, runner), runner


@contextmanager
def prefill_engine(
    model: Path, address: str, kv_dtype: KvDtype = "auto", api_key: str = "", **fields: Any
) -> Iterator[EngineCore]:
    core, runner = make_engine(model, kv_dtype, **fields)
    stop = threading.Event()
    server = threading.Thread(
        target=serve, args=(core, runner, address, stop, api_key), daemon=True
    )
    server.start()
    try:
        yield core
    finally:
        stop.set()
        server.join()


def answer(core: EngineCore, remote: RemotePrefill | None = None, salt: str = "") -> list[int]:
    """Generate for PROMPT, by way of the prefill engine where there is one."""
    driver = Driver(core)
    if remote is not None:
        message = AddRequest("asked", PROMPT, greedy(max_tokens=12), cache_salt=salt)
        assert remote.take(message)
        while not (arrived := remote.arrived()):
            time.sleep(0.005)
        assert arrived == [message]
        assert not remote.is_waiting
    return driver.generate(PROMPT, greedy(max_tokens=12))


def asked(prompt: list[int], runner: ModelRunner, **fields: Any) -> list[bytes]:
    return frames(PrefillRequest(runner.blocks.fingerprint, prompt, **fields))


def task(prompt: list[int], runner: ModelRunner) -> PrefillTask:
    """Writes what comes to the first blocks of an engine that does nothing else."""
    blocks = range((len(prompt) - 1) // 16)
    return PrefillTask(prompt, "", Incoming(runner.blocks, blocks, 0))


class Sent:
    """What a `PrefillServer` says, and to whom; a peer can be gone."""

    def __init__(self) -> None:
        self.said: list[tuple[bytes, FromPrefill]] = []
        self.data: dict[bytes, dict[int, bytes]] = {}
        """By peer and layer."""
        self.gone: set[bytes] = set()

    def __call__(self, peer: bytes, message: FromPrefill, data: bytes = b"") -> bool:
        if peer in self.gone:
            return False
        self.said.append((peer, message))
        if isinstance(message, LayerBlocks):
            layers = self.data.setdefault(peer, {})
            layers[message.layer] = layers.get(message.layer, b"") + data
        return True

    def ends(self) -> list[tuple[bytes, FromPrefill]]:
        """What was said but blocks, since this was asked last."""
        ends = [pair for pair in self.said if not isinstance(pair[1], LayerBlocks)]
        self.said.clear()
        return ends
