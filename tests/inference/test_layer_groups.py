"""Layers with a window beside others that see all keep the blocks of their windows only.

Whatever lies in a block that holds nothing is made large, so that a token that attended to it would
change.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from inference.cache.kv_cache_manager import KVCacheManager
from inference.cache.layer_group import LayerGroup
from inference.config import EngineConfig, SchedulerConfig, SpeculationConfig
from inference.core import Request, WindowedBlocks
from inference.core_main import make_proposers
from inference.engine.engine_core import EngineCore
from inference.errors import ModelLoadError
from inference.kernels.batch import LayerCache
from inference.model.cuda_graphs import CudaCapture, DecodeGraphs, GraphLayout
from inference.model.decoder import Decoder
from inference.model.files.open import open_weights
from inference.model.kv_memory import BlockCounts, allocate_caches, count_blocks
from inference.runner.model_runner import ModelRunner
from tests.inference.conftest import Driver, greedy
from tests.inference.test_families import PROMPTS, make_folder, reference_answer

BLOCK = 16
MIXED = ["gemma2", "gemma3", "gpt-oss", "llama4", "llama4-mixed", "qwen2-window"]
CHUNKS = SchedulerConfig(max_num_batched_tokens=23, mixed_step_tokens=11)
SAMPLING = greedy(max_tokens=60, ignore_eos=True)
LONG = [(7 * i + 3 * i * i) % 120 + 3 for i in range(2000)]


def make_config(folder: Path, **options: Any) -> EngineConfig:
    given = {"num_blocks": 32, "dtype": "float32", "num_threads": 1, **options}
    return EngineConfig(model=str(folder), **given)


def make_driver(folder: Path, **options: Any) -> Driver:
    config = make_config(folder, **options)
    runner = ModelRunner(config)
    return Driver(EngineCore(config, runner, make_proposers(config, runner)))


def runner_of(driver: Driver) -> ModelRunner:
    assert isinstance(driver.core.runner, ModelRunner)
    return driver.core.runner


def probe(prompt: list[int]) -> Request:
    return Request("probe", prompt, SAMPLING)


def spoil_what_holds_nothing(driver: Driver) -> None:
    runner = runner_of(driver)
    assert runner.windowed is not None
    windowed = runner._model.config.reach
    for layer, cache in enumerate(runner._caches):
        pool = driver.core.kv.groups[layer in windowed].pool
        for block_id in range(pool.total):
            if pool.is_free(block_id) and pool.hash_of(block_id) is None:
                slots = slice(block_id * BLOCK, (block_id + 1) * BLOCK)
                cache.keys[slots] = 30.0
                cache.values[slots] = 1000.0


def run(driver: Driver) -> list[int]:
    """To the end; the most blocks of each group that were in use at once."""
    groups = driver.core.kv.groups
    most = [0 for _ in groups]
    while driver.core.scheduler.has_work:
        spoil_what_holds_nothing(driver)
        driver.step()
        most = [max(*pair) for pair in zip(most, (g.pool.num_used for g in groups), strict=True)]
    assert [group.pool.num_used for group in groups] == [0, 0]
    return most


@pytest.mark.parametrize("scheduler", [SchedulerConfig(), CHUNKS], ids=["whole", "chunks"])
@pytest.mark.parametrize("family", MIXED)
def test_layers_of_two_kinds_give_the_tokens_of_transformers(family, scheduler, tmp_path):
    model = make_folder(family, tmp_path)
    driver = make_driver(tmp_path, scheduler=scheduler)
    ids = [driver.add(prompt, SAMPLING) for prompt in (*PROMPTS, PROMPTS[0])]
    run(driver)
    for i, prompt in zip(ids, (*PROMPTS, PROMPTS[0]), strict=True):
        assert driver.tokens[i] == reference_answer(model, prompt, 60, driver.tokens[i])


def test_long_context_of_a_gemma_3_takes_the_blocks_of_its_window(tmp_path):
    """2,000 tokens in steps of 128, with a window of 64 in five of six layers."""
    sizes: dict[str, Any] = {
        "num_hidden_layers": 6,
        "sliding_window_pattern": 6,
        "sliding_window": 64,
    }
    model = make_folder("gemma3", tmp_path, max_position_embeddings=2100, **sizes)
    scheduler = SchedulerConfig(max_num_seqs=2, max_num_batched_tokens=128)
    one_table, driver = (
        make_driver(tmp_path, num_blocks=140, scheduler=scheduler, one_block_table=one)
        for one in (True, False)
    )
    sampling = greedy(max_tokens=20, ignore_eos=True)
    found = one_table.generate(LONG, sampling)
    wanted = reference_answer(model, LONG, 20, found)
    assert found == wanted
    request_id = driver.add(LONG, sampling)
    of_all, of_windows = run(driver)
    assert driver.tokens[request_id] == wanted
    assert of_all == 2020 // BLOCK  # of 2,019 tokens: the last one is not computed
    assert of_windows <= (64 + 128) // BLOCK + 1
    assert (of_all + 5 * of_windows) / (6 * of_all) < 0.26, "of what one table takes"
    kept = [runner_of(one).kv_bytes for one in (driver, one_table)]
    assert kept[0] / kept[1] == (140 + 5 * 20) / (6 * 140), "two windows of 6 blocks, and a step"


def test_blocks_in_use_are_reported_by_the_fuller_pool():
    windowed = WindowedBlocks(num_blocks=10, window=64, most=9)
    kv = KVCacheManager(40, BLOCK, windowed=windowed)
    assert kv.grow(probe(PROMPTS[0]), 3 * BLOCK)
    assert kv.blocks_used == 40 * 3 // 10


@pytest.mark.parametrize("family", ["gemma3", "llama4"])
def test_prefix_is_found_where_its_window_is_cached_too(family, tmp_path):
    model = make_folder(family, tmp_path)
    driver = make_driver(tmp_path, scheduler=CHUNKS)
    first = driver.add(PROMPTS[0], SAMPLING)
    run(driver)
    again = driver.add(PROMPTS[0], SAMPLING)
    further = driver.add(PROMPTS[0] + driver.tokens[first] + [7, 8, 9], SAMPLING)
    other = driver.add(PROMPTS[0][:40] + [5] * 9, SAMPLING)
    run(driver)
    assert [driver.cached[one] for one in (again, further, other)] == [48, 96, 32]
    assert driver.tokens[again] == driver.tokens[first]
    for one, prompt in (
        (further, PROMPTS[0] + driver.tokens[first] + [7, 8, 9]),
        (other, PROMPTS[0][:40] + [5] * 9),
    ):
        assert driver.tokens[one] == reference_answer(model, prompt, 60, driver.tokens[one])


def test_prefix_whose_window_was_evicted_is_computed_again(tmp_path):
    model = make_folder("gemma3", tmp_path)
    driver = make_driver(tmp_path, scheduler=CHUNKS)
    driver.generate(PROMPTS[0], SAMPLING)
    pool = driver.core.kv.groups[1].pool
    gone = driver.core.kv.hashes(probe(PROMPTS[0]), 3)[2]
    block_id = pool.find(gone)
    assert block_id is not None
    pool.forget(block_id)
    again = driver.add(PROMPTS[0], SAMPLING)
    run(driver)
    assert driver.cached[again] == 32, "the third block is needed, and the first two go on alone"
    assert driver.tokens[again] == reference_answer(model, PROMPTS[0], 60, driver.tokens[again])
    assert driver.core.kv.pool.find(gone) is not None


def test_prefix_of_layers_with_a_window_is_the_longest_that_they_can_go_on_after():
    """Every choice of cached blocks among seven, against what the window says."""
    hashes = [bytes([index]) for index in range(7)]
    for window in (1, 2, 4, 5, 9, 13, 100):
        for cached in range(1 << len(hashes)):
            group = LayerGroup(1, 7, 4, window=window)
            for index, block_hash in enumerate(hashes):
                if cached >> index & 1:
                    group.pool.register(index, block_hash)

            def needed(count, window=window):
                """Blocks with one of the last window - 1 tokens."""
                tokens = range(max(0, 4 * count - window + 1), 4 * count)
                return sorted({token // 4 for token in tokens})

            best = max(
                count
                for count in range(len(hashes) + 1)
                if all(cached >> index & 1 for index in needed(count))
            )
            assert group.usable_prefix(hashes) == (best, needed(best))


def test_request_alone_can_begin_in_the_smallest_pool_whatever_is_cached_of_it():
    """Seven blocks of four: those of a window of seven tokens, and of a step of sixteen."""
    kv = KVCacheManager(40, 4, windowed=WindowedBlocks(num_blocks=7, window=7, most=7))
    first = probe(PROMPTS[0][:12])
    assert kv.grow(first, 12)
    kv.free(first)
    request = probe(PROMPTS[0][:39])
    prefix = kv.find_prefix(request)
    assert [len(blocks) for blocks in prefix.blocks] == [3, 2]
    assert kv.can_hold(request, prefix)
    kv.start(request, prefix, 16)
    assert kv.groups[1].pool.num_free == 1


def test_preempted_requests_go_on_as_if_nothing_had_happened(tmp_path):
    model = make_folder("gemma3", tmp_path)
    driver = make_driver(tmp_path, num_blocks=17, scheduler=CHUNKS, max_model_len=256)
    prompts = [PROMPTS[0], PROMPTS[1], PROMPTS[0][5:], PROMPTS[0][9:]]
    sampling = greedy(max_tokens=70, ignore_eos=True)
    ids = [driver.add(prompt, sampling) for prompt in prompts]
    run(driver)
    assert driver.core.scheduler.preemptions > 0
    for i, prompt in zip(ids, prompts, strict=True):
        assert driver.tokens[i] == reference_answer(model, prompt, 70, driver.tokens[i])


@pytest.mark.parametrize("drafting", ["prompt lookup", "draft model"])
def test_drafts_change_no_token(drafting, tmp_path):
    model = make_folder("gemma3", tmp_path / "model")
    draft = None
    if drafting == "draft model":
        make_folder("gemma3", tmp_path / "draft", num_hidden_layers=2)
        draft = str(tmp_path / "draft")
    speculation = SpeculationConfig(prompt_lookup=draft is None, draft_model=draft)
    driver = make_driver(tmp_path / "model", speculation=speculation)
    prompt = PROMPTS[0] + PROMPTS[0]
    request_id = driver.add(prompt, SAMPLING)
    run(driver)
    assert driver.core.stats().draft_tokens > 0
    found = driver.tokens[request_id]
    assert found == reference_answer(model, prompt, 60, found)


def test_changed_block_of_a_window_is_noticed(tmp_path):
    make_folder("gemma3", tmp_path)
    driver = make_driver(tmp_path, kv_checksums=True)
    first = driver.generate(PROMPTS[0], SAMPLING)
    block_id = driver.core.kv.find_prefix(probe(PROMPTS[0])).blocks[1][-1]
    runner = runner_of(driver)
    runner._caches[0].values[block_id * BLOCK + 3, 1, 3] += 1
    again = driver.add(PROMPTS[0], SAMPLING)
    run(driver)
    assert driver.core.stats().checksum_mismatches == 1
    assert driver.cached[again] == 32
    assert driver.tokens[again] == first


def test_batch_of_a_cuda_graph_has_the_places_of_both_groups(tmp_path):
    """What a graph would be recorded of, filled with a step and computed on a CPU."""
    make_folder("gemma3", tmp_path)
    driver = make_driver(tmp_path)
    for prompt in PROMPTS:
        driver.add(prompt, SAMPLING)
    for _ in range(3):
        driver.step()
    runner = runner_of(driver)
    model = runner._model
    assert isinstance(model, Decoder)
    batch = runner._lay_out(driver.core.scheduler.schedule())
    counts = BlockCounts(runner.num_blocks, runner.windowed)
    layout = GraphLayout.up_to(4, 16, BLOCK, *counts.spare_slots(BLOCK))
    graphed = DecodeGraphs(layout, model.hidden, CudaCapture())
    filled = graphed._empty(4, torch.device("cpu"))
    graphed._fill(filled, batch)

    def caches() -> list[LayerCache]:
        """With the block more to which rows that are left over write."""
        more = torch.zeros(BLOCK, *runner._caches[0].keys.shape[1:])
        return [
            LayerCache(torch.cat((cache.keys, more)), torch.cat((cache.values, more)))
            for cache in runner._caches
        ]

    plain, graph = caches(), caches()
    with torch.inference_mode():
        wanted, found = model.hidden(batch, plain), model.hidden(filled, graph)
    for one, other in zip(wanted, found, strict=True):
        torch.testing.assert_close(other[: len(one)], one, rtol=1e-5, atol=1e-5)
    for mine, theirs in zip(plain, graph, strict=True):
        for kept, part in zip(mine.parts, theirs.parts, strict=True):
            torch.testing.assert_close(part[:-BLOCK], kept[:-BLOCK], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"swap_blocks": 4},
        {"prefill_from": "ipc:///tmp/nobody"},
        {"kv_store": "/tmp/nowhere"},
        {"kv_store_memory": 1 << 20},
        {"one_block_table": True},
    ],
    ids=str,
)
def test_blocks_that_are_moved_are_those_of_all_layers(options, tmp_path):
    model = make_folder("gemma3", tmp_path)
    driver = make_driver(tmp_path, **options)
    assert len(driver.core.kv.groups) == 1
    found = driver.generate(PROMPTS[0], SAMPLING)
    assert found == reference_answer(model, PROMPTS[0], 60, found)


def test_window_that_no_sequence_outgrows_is_none(tmp_path):
    make_folder("gemma3", tmp_path, sliding_window=256)
    assert ModelRunner(make_config(tmp_path)).windowed is None


def test_memory_goes_to_the_layers_that_see_all(tmp_path, monkeypatch):
    """Five of six layers have a window of 64; in steps of 128, a request has 13 blocks at most."""
    sizes: dict[str, Any] = {
        "num_hidden_layers": 6,
        "sliding_window_pattern": 6,
        "sliding_window": 64,
    }
    make_folder("gemma3", tmp_path, max_position_embeddings=20_000, **sizes)
    model = open_weights(str(tmp_path)).config
    scheduler = SchedulerConfig(max_num_seqs=8, max_num_batched_tokens=128)
    cpu = torch.device("cpu")
    of_layer = 2 * 2 * 32 * 4 * BLOCK
    for megabytes, blocks, windows in (
        (1000, 8 * 1250, 8 * 6 + 8),  # more than can be used
        (40, 40_000_000 // of_layer - 5 * 56, 56),
        (11, 11_000_000 // of_layer - 5 * 18, 18),  # what the longest leaves
    ):
        available = type("Memory", (), {"available": megabytes * 1_000_000})
        monkeypatch.setattr(psutil, "virtual_memory", lambda found=available: found)
        config = make_config(tmp_path, num_blocks=None, kv_memory_fraction=1.0, scheduler=scheduler)
        counts = count_blocks(config, model, 6, torch.float32, cpu)
        assert counts.windowed is not None
        assert (counts.num_blocks, counts.windowed.num_blocks) == (blocks, windows)
        slots = counts.slots(model, 6, BLOCK)
        caches = allocate_caches(slots, model, 6, torch.float32, cpu)
        assert sum(part.nbytes for one in caches for part in one.parts) <= megabytes * 1_000_000
    one_table = make_config(tmp_path, num_blocks=None, kv_memory_fraction=1.0, one_block_table=True)
    with pytest.raises(ModelLoadError, match="fewer than one sequence"):
        count_blocks(one_table, model, 6, torch.float32, cpu)
