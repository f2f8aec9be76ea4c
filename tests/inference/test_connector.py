"""Prompts computed by another engine: same tokens, and the same ones when it is away."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
import torch
import zmq

from inference.config import EngineConfig, KvDtype
from inference.connector.messages import PrefillAnswer, PrefillRequest
from inference.connector.prefill_server import PrefillServer
from inference.connector.remote_prefill import Handover, RemotePrefill, ZmqConnector
from inference.engine.core import EngineCore
from inference.model.runner import ModelRunner
from inference.protocol import AddRequest
from infra.services.ports import free_port
from tests.inference.conftest import Driver, greedy
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


def test_a_key_is_asked_for(model, expected):
    address = f"tcp://127.0.0.1:{free_port()}"
    with prefill_engine(model, address, api_key="a secret") as other:
        for key, found in (("", 0), ("another", 0), ("a secret", 64)):
            core, runner = make_engine(model)
            connector = ZmqConnector(address, runner.blocks, api_key=key)
            assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
            connector.close()
            assert core.kv.prefix_tokens_hit == found
    assert other.stats().tokens_computed == len(PROMPT), "only the last was computed"


def asked(prompt: list[int], runner: ModelRunner) -> bytes:
    return msgspec.msgpack.encode(PrefillRequest(runner.blocks.fingerprint, prompt))


def test_prompts_of_several_peers_are_computed_in_one_step(model):
    prompts = [[(token + i) % 120 + 3 for token in PROMPT] for i in range(4)]
    core, runner = make_engine(model)
    alone = []
    for prompt in prompts:
        server = PrefillServer(core, runner.blocks)
        assert server.take(b"peer", asked(prompt, runner)) is None
        alone += [answer for _, answer in server.step()]
    core, runner = make_engine(model)
    server = PrefillServer(core, runner.blocks)
    for i, prompt in enumerate(prompts):
        assert server.take(b"peer %d" % i, asked(prompt, runner)) is None
    together = dict(server.step())
    assert [together[b"peer %d" % i].num_blocks for i in range(4)] == [4] * 4
    for i in range(4):
        found, wanted = (
            torch.frombuffer(bytearray(answer.data), dtype=torch.float32)
            for answer in (together[b"peer %d" % i], alone[i])
        )
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    assert core.stats().steps == 1
    assert core.kv.pool.num_used == 0


def test_many_peers_at_once_all_get_their_blocks(model, expected, address):
    with prefill_engine(model, address), ThreadPoolExecutor(5) as pool:
        engines = [make_engine(model) for _ in range(5)]

        def ask(core: EngineCore, runner: ModelRunner) -> list[int]:
            connector = ZmqConnector(address, runner.blocks)
            try:
                return answer(core, RemotePrefill(core, runner.blocks, connector))
            finally:
                connector.close()

        answers = list(pool.map(lambda engine: ask(*engine), engines))
    assert answers == [expected] * 5
    assert [core.kv.prefix_tokens_hit for core, _ in engines] == [64] * 5


def test_nonsense_is_answered_and_costs_the_others_nothing(model, expected):
    address = f"tcp://127.0.0.1:{free_port()}"
    with prefill_engine(model, address), zmq.Context() as context:
        stranger = context.socket(zmq.DEALER)  # speaks zmq, but not by turns
        stranger.connect(address)
        stranger.send(b"no envelope")
        assert stranger.poll(20_000)
        stranger.close()
        socket = context.socket(zmq.REQ)
        socket.connect(address)
        socket.send(b"no message")
        assert socket.poll(20_000)
        assert msgspec.msgpack.decode(socket.recv(), type=PrefillAnswer).error
        socket.close()
        core, runner = make_engine(model)
        connector = ZmqConnector(address, runner.blocks)
        assert answer(core, RemotePrefill(core, runner.blocks, connector)) == expected
        connector.close()
    assert core.kv.prefix_tokens_hit == 64


def test_a_peer_that_is_away_costs_no_token(model, expected):
    core, runner = make_engine(model)
    # It is found out by connecting, not by waiting for an answer: or this would take an hour.
    nobody = ZmqConnector(f"tcp://127.0.0.1:{free_port()}", runner.blocks, timeout_s=3600)
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
