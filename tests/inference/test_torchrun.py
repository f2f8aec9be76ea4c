"""`torchrun … -m inference serve`: the ranks that it starts are one server. They are started as a
user's are; torchrun itself is forked from what has torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.config import EngineConfig
from inference.engine.engine_core import EngineCore
from inference.runner.model_runner import ModelRunner
from infra.services.ports import free_port
from tests.inference.conftest import Driver, greedy
from tests.inference.serving import Served, is_ready, start, wait_for
from tests.inference.tiny import make_tiny_model

PROMPT = [(7 * i * i) % 200 + 3 for i in range(40)]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("tiny"), num_key_value_heads=2)


def test_two_torchrun_ranks_give_the_tokens_of_one(model):
    """With keys and values in int8, which each rank rounds for its own heads."""
    config = EngineConfig(model=str(model), kv_dtype="int8", num_blocks=32, num_threads=1)
    alone = Driver(EngineCore(config, ModelRunner(config)))
    expected = alone.generate(PROMPT, greedy(max_tokens=12, ignore_eos=True))
    assert len(set(expected)) > 1

    port = free_port()
    torchrun = start(
        *("torch.distributed.run", "--nproc-per-node", "2"),
        *("--master-addr", "127.0.0.1", "--master-port", str(free_port())),
        *("-m", "inference", "serve", "--model", str(model), "--port", str(port)),
        *("--tensor-parallel-size", "2", "--kv-dtype", "int8", "--num-blocks", "32"),
        *("--threads", "1", "--device", "cpu", "--no-api-key"),
    )
    served = Served(f"http://127.0.0.1:{port}", torchrun)
    try:
        wait_for(lambda: is_ready(served), timeout_s=170, every_s=0.2)
        body = {"prompt": PROMPT, "max_tokens": 12, "temperature": 0, "ignore_eos": True}
        answer = served.http.post("/v1/completions", json=body | {"logprobs": 0}).json()
        tokens = answer["choices"][0]["logprobs"]["tokens"]
        assert len(tokens) == 12
        text = served.http.post("/detokenize", json={"tokens": expected}).json()["prompt"]
        assert answer["choices"][0]["text"] == text
        assert 'cache_dtype="int8"' in served.http.get("/metrics").text
    finally:
        served.http.close()
        torchrun.terminate()
        torchrun.wait()
