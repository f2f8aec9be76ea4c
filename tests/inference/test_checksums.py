"""A cached block whose memory changed is noticed, dropped and computed again."""

from __future__ import annotations

import pytest
import torch

from inference.config import EngineConfig, SchedulerConfig
from inference.engine.engine_core import EngineCore
from inference.runner.model_runner import ModelRunner
from tests.inference.conftest import Driver, greedy
from tests.inference.test_families import make_folder

PROMPT = [(11 * i) % 100 + 3 for i in range(70)]
SAMPLING = greedy(max_tokens=8, ignore_eos=True)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("llama")
    make_folder("llama", folder)
    return str(folder)


@pytest.fixture(params=["float32", "bfloat16", "int8"])
def driver(model, request) -> Driver:
    config = EngineConfig(
        model=model,
        dtype="float32",
        kv_dtype=request.param,
        device="cpu",
        num_blocks=32,
        num_threads=1,
        kv_checksums=True,
        scheduler=SchedulerConfig(max_num_batched_tokens=32),
    )
    return Driver(EngineCore(config, ModelRunner(config)))


def damage(driver: Driver, block_id: int) -> None:
    """Flip the lowest bit of one number, in the middle of the block."""
    runner = driver.core.runner
    assert isinstance(runner, ModelRunner)
    values = runner._caches[1].values
    integers = {4: torch.int32, 2: torch.int16, 1: torch.int8}[values.element_size()]
    values.view(integers)[block_id * 16 + 7, 1, 3] ^= 1


def cached_blocks(driver: Driver) -> list[int]:
    return list(driver.core.kv.pool.cached().values())


def test_intact_blocks_are_reused(driver):
    first = driver.generate(PROMPT, SAMPLING)
    again = driver.add(PROMPT, SAMPLING)
    assert driver.run()[again] == first
    assert driver.cached[again] == 64
    assert driver.core.stats().checksum_mismatches == 0


@pytest.mark.parametrize("index", [0, 2])
def test_changed_block_is_computed_again(driver, index):
    first = driver.generate(PROMPT, SAMPLING)
    damage(driver, cached_blocks(driver)[index])
    again = driver.add(PROMPT, SAMPLING)
    assert driver.run()[again] == first
    assert driver.cached[again] == 16 * index, "only what comes before it may be used"
    assert driver.core.stats().checksum_mismatches == 1
    third = driver.add(PROMPT, SAMPLING)
    assert driver.run()[third] == first
    assert driver.cached[third] == 64
    assert driver.core.stats().checksum_mismatches == 1


def test_changed_block_of_a_running_request_is_not_shared(driver):
    """The block stays with the one that has it, but is found no more."""
    first = driver.generate(PROMPT, SAMPLING)
    running = driver.add(PROMPT, greedy(max_tokens=60, ignore_eos=True))
    for _ in range(4):
        driver.step()
    damage(driver, cached_blocks(driver)[1])
    other = driver.add(PROMPT, SAMPLING)
    assert driver.run()[other] == first
    assert driver.cached[other] == 16
    assert len(driver.tokens[running]) == 60


def test_cached_blocks_are_not_read_without_checksums(model, monkeypatch):
    config = EngineConfig(model=model, dtype="float32", num_blocks=32, num_threads=1)
    runner = ModelRunner(config)
    monkeypatch.setattr(runner, "checksums", lambda block_ids: pytest.fail("read"))
    driver = Driver(EngineCore(config, runner))
    driver.generate(PROMPT, SAMPLING)
    driver.generate(PROMPT, SAMPLING)
