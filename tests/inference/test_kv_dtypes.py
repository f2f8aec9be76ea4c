"""Keys and values kept in fewer bits: what is stored, what is attended to, what it costs.

In int8 a number is off by at most half a step, 1/254 of its row's largest; attention over what
is stored is exact. Tokens depend on what is stored only, not on how they were computed.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import torch
from torch import Tensor

from inference.config import EngineConfig, KvDtype
from inference.kernels.backend import TorchBackend
from inference.kernels.batch import Batch, DecodeBatch, LayerCache
from inference.kernels.cpu.backend import CpuBackend
from inference.model.files.open import open_weights
from inference.model.kv_memory import allocate_caches, count_blocks
from inference.runner.block_transfer import BlockTransfer
from tests.inference.conftest import greedy, make_driver
from tests.inference.test_families import PROMPTS, make_folder

CPU = torch.device("cpu")
KINDS = [torch.float32, torch.bfloat16, torch.float16, torch.int8]
NARROW: list[KvDtype] = ["bfloat16", "float16", "int8"]
HEADS, KV_HEADS, DIM, BLOCK = 6, 2, 32, 16


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("llama")
    make_folder("llama", folder)
    return folder


def half_a_step(rows: Tensor, kind: torch.dtype) -> Tensor:
    """How far each of the rows' numbers may be from what is stored."""
    if kind is torch.int8:
        return rows.abs().amax(-1, keepdim=True) / 254
    limits = torch.finfo(kind)
    return rows.abs().clamp(min=limits.tiny) * limits.eps / 2


def make_cache(kind: torch.dtype, slots: int) -> LayerCache:
    """Filled with random rows, by plain torch."""
    rows = torch.zeros(2, slots, KV_HEADS, DIM, dtype=kind)
    scales = torch.zeros(2, slots, KV_HEADS) if kind is torch.int8 else ()
    cache = LayerCache(*rows, *scales)
    cache.store(torch.arange(slots), *torch.randn(2, slots, KV_HEADS, DIM) * 2)
    return cache


def stored(cache: LayerCache) -> LayerCache:
    return LayerCache(*cache.gather(torch.arange(len(cache.keys)), torch.float64))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_stored_rows_are_within_half_a_step(kind):
    cache = make_cache(kind, 40)
    keys, values = (
        torch.randn(2, 5, KV_HEADS, DIM) * torch.tensor([1e-3, 1, 1e3, 7, 0])[:, None, None]
    )
    slots = torch.tensor([3, 0, 39, 17, 8])
    before = stored(cache)
    cache.store(slots, keys, values)
    for found, given in zip(cache.gather(slots, torch.float32), (keys, values), strict=True):
        assert ((found - given).abs() <= half_a_step(given, kind) * 1.001).all()
    others = torch.tensor([i for i in range(40) if i not in slots.tolist()])
    torch.testing.assert_close(stored(cache).keys[others], before.keys[others], rtol=0, atol=0)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("window", [None, 20])
def test_cpu_kernels_store_and_attend_as_torch_does(kernels, kind, window):
    torch.manual_seed(0)
    lengths = [1, 16, 17, 700]
    width = -(-max(lengths) // BLOCK)
    tables = torch.randperm(len(lengths) * width).view(len(lengths), width).int()
    last = torch.tensor(lengths) - 1
    slots = tables[torch.arange(len(lengths)), last // BLOCK] * BLOCK + last % BLOCK
    decode = DecodeBatch(tables, torch.tensor(lengths, dtype=torch.int32), BLOCK)
    batch = Batch(last, last, slots.long(), decode, (), last)
    cache = make_cache(kind, tables.numel() * BLOCK)
    qkv = torch.randn(len(lengths), HEADS + 2 * KV_HEADS, DIM)
    qkv[1, -1] = 0  # a row without any scale
    half = torch.rand(len(lengths), DIM // 2) * 6
    angles = torch.cat((half.cos(),) * 2, dim=-1), torch.cat((half.sin(),) * 2, dim=-1)
    exact = stored(cache)
    exact_queries = TorchBackend().rotate_and_cache(
        qkv.double(), KV_HEADS, (angles[0].double(), angles[1].double()), exact, batch
    )
    backend = CpuBackend(kernels)
    queries = backend.rotate_and_cache(qkv, KV_HEADS, angles, cache, batch)
    kept = stored(cache)
    for found, wanted in ((kept.keys, exact.keys), (kept.values, exact.values)):
        assert ((found - wanted).abs() <= half_a_step(wanted, kind) * 1.001 + 1e-6).all()
    torch.testing.assert_close(
        backend.attend(queries, cache, batch, window).double(),
        TorchBackend().attend(exact_queries, kept, batch, window),
        rtol=1e-4,
        atol=2e-5,
    )


@pytest.mark.parametrize("kv_dtype", NARROW)
def test_tokens_do_not_depend_on_chunks_prefixes_or_neighbours(folder, kv_dtype):
    sampling = greedy(max_tokens=12, ignore_eos=True)
    alone = [make_driver(folder, kv_dtype).generate(prompt, sampling) for prompt in PROMPTS]
    driver = make_driver(folder, kv_dtype, max_num_batched_tokens=23, mixed_step_tokens=11)
    for prefix in (0, 48):
        ids = [driver.add(prompt, sampling) for prompt in PROMPTS]
        tokens = driver.run()
        assert [tokens[i] for i in ids] == alone
        assert driver.cached[ids[0]] == prefix


@pytest.mark.parametrize(
    ("kv_dtype", "tolerance"), [("float16", 1e-2), ("bfloat16", 5e-2), ("int8", 5e-2)]
)
def test_distribution_is_close_to_float32(folder, kv_dtype, tolerance):
    """Of a model with random weights, whose logits lie far apart: log probabilities."""
    logprobs = []
    kinds: list[KvDtype] = ["float32", kv_dtype]
    for kind in kinds:
        driver = make_driver(folder, kind)
        driver.add(PROMPTS[0], greedy(max_tokens=1, logprobs=128))
        [output] = driver.core.step()
        assert output.logprobs is not None
        [found] = output.logprobs
        of_token = torch.empty(128)
        of_token[found.top_token_ids] = torch.tensor(found.top_logprobs)
        logprobs.append(of_token)
    difference = (logprobs[0] - logprobs[1]).abs().max()
    assert 0 < difference < tolerance


def test_fewer_bits_give_more_blocks(folder, monkeypatch):
    """Two of ten megabytes; rows of 16 numbers, in int8 with a scale: 20 bytes for 64."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=10_000_000))
    model = open_weights(str(folder)).config
    config = EngineConfig(model=str(folder), kv_memory_fraction=0.2)
    for kind, row_bytes in ((torch.float32, 64), (torch.bfloat16, 32), (torch.int8, 20)):
        block_bytes = 3 * 2 * 2 * row_bytes * BLOCK  # layers, keys and values, heads
        blocks = count_blocks(config, model, 3, kind, CPU)
        assert blocks.num_blocks == 2_000_000 // block_bytes
        parts = [p for cache in allocate_caches(BLOCK, model, 3, kind, CPU) for p in cache.parts]
        assert sum(part.nbytes for part in parts) == block_bytes


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_blocks_are_equal_after_a_transfer_as_bytes(folder, kind):
    """Among them blocks whose scales do not begin where a float may lie."""
    model = open_weights(str(folder)).config
    here, there = (allocate_caches(8 * BLOCK, model, 3, kind, CPU) for _ in range(2))
    for cache in here:
        cache.store(torch.arange(8 * BLOCK), *torch.randn(2, 8 * BLOCK, 2, 16))
    sender, receiver = (BlockTransfer(caches, BLOCK, "") for caches in (here, there))
    data = sender.read([6, 1, 3])
    assert len(data) == sender.size(3)
    receiver.write([2, 7, 0], data)
    assert receiver.read([2, 7, 0]) == data
    for mine, theirs in zip(here, there, strict=True):
        for part, other in zip(mine.parts, theirs.parts, strict=True):
            assert torch.equal(part[BLOCK : 2 * BLOCK], other[7 * BLOCK :])


def test_gpu_that_holds_the_model_holds_a_sequence_of_its_whole_context(tmp_path, monkeypatch):
    """Llama 3.1 8B in bfloat16 on an A100 of 80 GB, with the options that it has by default."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (int(62e9), int(80e9)))
    shape: dict[str, Any] = {"num_attention_heads": 32, "num_key_value_heads": 8}
    make_folder("llama", tmp_path, head_dim=128, max_position_embeddings=131072, **shape)
    model = open_weights(str(tmp_path)).config
    blocks = count_blocks(
        EngineConfig(model=str(tmp_path)), model, 32, torch.bfloat16, torch.device("cuda")
    )
    assert blocks.num_blocks * 16 > 3 * 131072
