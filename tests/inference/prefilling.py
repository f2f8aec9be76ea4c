"""Engines that compute prompts for each other, in one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from inference.config import EngineConfig, KvDtype
from inference.connector.messages import PrefillRequest
from inference.connector.prefill_server import PrefillServer
from inference.connector.remote_prefill import (
    PrefillTask,
    RemotePrefill,
)
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
    model: Path, address: str, kv_dtype: KvDtype = "auto", api_key: str = ""
) -> Iterator[EngineCore]:
    core, runner = make_engine(model, kv_dtype)
    stop = threading.Event()
    server = threading.Thread(
        target=PrefillServer(core, runner.blocks, api_key).serve, args=(address, stop), daemon=True
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


def asked(prompt: list[int], runner: ModelRunner, **fields: Any) -> bytes:
    return msgspec.msgpack.encode(PrefillRequest(runner.blocks.fingerprint, prompt, **fields))


def task(prompt: list[int]) -> PrefillTask:
    return PrefillTask(prompt, "", (len(prompt) - 1) // 16)
