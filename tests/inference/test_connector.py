"""Prompts computed by another engine: same tokens, and the same ones when it is away."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from inference.config import EngineConfig, KvDtype
from inference.connector.prefill_server import PrefillServer
from inference.connector.remote_prefill import Handover, RemotePrefill, ZmqConnector
from inference.engine.core import EngineCore
from inference.model.runner import ModelRunner
from inference.protocol import AddRequest
from tests.inference.conftest import Driver, greedy
from tests.inference.serving import free_port
from tests.inference.test_families import make_folder

PROMPT = [(7 * i * i) % 120 + 3 for i in range(70)]  # four full blocks and a rest


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    make_folder("llama", folder)
    return folder


def make_engine(model: Path, kv_dtype: KvDtype = "auto") -> tuple[EngineCore, ModelRunner]:
    config = EngineConfig(
        model=str(model), dtype="float32", kv_dtype=kv_dtype, num_blocks=32, num_threads=1
    )
    runner = ModelRunner(config)
    return EngineCore(config, runner), runner


@contextmanager
def prefill_engine(model: Path, address: str, kv_dtype: KvDtype = "auto") -> Iterator[EngineCore]:
    core, runner = make_engine(model, kv_dtype)
    stop = threading.Event()
    server = threading.Thread(
        target=PrefillServer(core, runner.blocks).serve, args=(address, stop), daemon=True
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


@pytest.fixture(scope="module")
def expected(model) -> list[int]:
    core, _ = make_engine(model)
    tokens = answer(core)
    assert len(set(tokens)) > 1
    return tokens


@pytest.fixture(params=["tcp", "shared memory"])
def address(request, tmp_path) -> str:
    if request.param == "tcp":
        return f"tcp://127.0.0.1:{free_port()}"
    return f"ipc://{tmp_path}/prefill"


def test_same_tokens_from_blocks_that_were_handed_over(model, expected, address):
    core, runner = make_engine(model)
    with prefill_engine(model, address) as other:
        connector = ZmqConnector(address, runner.blocks)
        assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
        connector.close()
    assert core.kv.prefix_tokens_hit == 64, "the blocks were not used"
    assert other.stats().tokens_computed == len(PROMPT)
    assert core.kv.pool.num_used == other.kv.pool.num_used == 0


def test_blocks_in_int8_are_handed_over_to_another_in_int8_only(model, expected, address):
    quantized, runner = make_engine(model, "int8")
    alone = answer(make_engine(model, "int8")[0])
    with prefill_engine(model, address, "int8"):
        connector = ZmqConnector(address, runner.blocks)
        assert answer(quantized, RemotePrefill(quantized, runner.blocks, connector)) == alone
        connector.close()
        other, runner = make_engine(model)
        connector = ZmqConnector(address, runner.blocks)
        assert answer(other, RemotePrefill(other, runner.blocks, connector)) == expected
        connector.close()
    assert quantized.kv.prefix_tokens_hit == 64
    assert other.kv.prefix_tokens_hit == 0


def test_a_peer_that_is_away_costs_no_token(model, expected):
    core, runner = make_engine(model)
    nobody = ZmqConnector(f"tcp://127.0.0.1:{free_port()}", runner.blocks, timeout_s=0.2)
    assert answer(core, RemotePrefill(core, runner.blocks, nobody)) == expected
    assert nobody.fetch(PROMPT, "") is None, "it is not waited for again"
    assert core.kv.prefix_tokens_hit == 0
    nobody.close()


def test_another_model_is_refused(model, expected, tmp_path):
    make_folder("llama-linear", tmp_path)  # same sizes, another rotation
    address = f"tcp://127.0.0.1:{free_port()}"
    core, runner = make_engine(model)
    with prefill_engine(tmp_path, address):
        connector = ZmqConnector(address, runner.blocks)
        assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
        connector.close()
    assert core.kv.prefix_tokens_hit == 0


class Broken:
    """Hands over too few bytes."""

    def fetch(self, token_ids: list[int], cache_salt: str) -> Handover:
        return Handover(4, b"cut off")


def test_blocks_that_do_not_fit_are_thrown_away(model, expected):
    core, runner = make_engine(model)
    assert answer(core, RemotePrefill(core, runner.blocks, Broken())) == expected
    assert core.kv.pool.num_used == 0


def test_salts_stay_apart(model, expected, address):
    """Blocks fetched for one organization are not found by another's request."""
    core, runner = make_engine(model)
    with prefill_engine(model, address):
        connector = ZmqConnector(address, runner.blocks)
        remote = RemotePrefill(core, runner.blocks, connector)
        assert answer(core, remote, salt="one organization") == expected
        connector.close()
    assert core.kv.prefix_tokens_hit == 0


def test_an_aborted_request_is_forgotten(model):
    core, runner = make_engine(model)
    remote = RemotePrefill(core, runner.blocks, Broken())
    assert remote.take(AddRequest("asked", PROMPT, greedy()))
    remote.abort(["asked"])
    assert not remote.is_waiting
    assert remote.arrived() == []


def test_a_short_or_cached_prompt_stays_here(model, expected):
    core, runner = make_engine(model)
    remote = RemotePrefill(core, runner.blocks, Broken())
    assert not remote.take(AddRequest("short", PROMPT[:16], greedy()))
    assert answer(core) == expected
    assert not remote.take(AddRequest("known", PROMPT, greedy()))
