"""The Triton kernels against plain torch in float64.

On a CPU they run in Triton's interpreter, so shapes are small; on a GPU the same tests run
them compiled, in bfloat16 too.
"""

from __future__ import annotations

import os
from functools import partial

import numpy as np
import pytest
import torch

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if DEVICE.type == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported

triton = pytest.importorskip("triton")

from gguf.constants import GGMLQuantizationType as Kind  # noqa: E402
from gguf.quants import dequantize, quantize  # noqa: E402

from inference.kernels.backend import TorchBackend  # noqa: E402
from inference.kernels.batch import Batch, DecodeBatch, LayerCache, PrefillChunk  # noqa: E402
from inference.kernels.gpu.backend import TritonBackend  # noqa: E402
from inference.kernels.gpu.experts import (  # noqa: E402
    DenseExperts,
    ExpertMatrices,
    experts_swiglu,
    group_by_expert,
)
from inference.kernels.gpu.packed_experts import PackedExperts  # noqa: E402
from inference.kernels.gpu.packed_linear import TritonPackedLinear  # noqa: E402
from inference.model.config import MoeConfig  # noqa: E402
from inference.model.layers.experts import GroupedExperts, SparseExperts  # noqa: E402
from inference.model.layers.linear import DenseLinear  # noqa: E402
from inference.model.layers.mlp import SwiGLU  # noqa: E402
from inference.quantization.packed import PackedRows  # noqa: E402
from tests.support.nightly import crossed  # noqa: E402

BLOCK = 16
DTYPES = [torch.float32, torch.bfloat16] if DEVICE.type == "cuda" else [torch.float32]
"""The interpreter has no bfloat16: NumPy has none."""


@pytest.fixture(autouse=True)
def one_seed():
    torch.manual_seed(0)


def assert_close(found: torch.Tensor, exact: torch.Tensor) -> None:
    loose = found.dtype == torch.bfloat16
    torch.testing.assert_close(
        found.double(), exact.double(), rtol=3e-2 if loose else 1e-4, atol=3e-2 if loose else 1e-5
    )


def randn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, device=DEVICE).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("with_delta", [True, False])
def test_norm_with_residual_equals_torch(dtype, with_delta):
    x, delta, weight = (
        randn(3, 40, dtype=dtype),
        randn(3, 40, dtype=dtype),
        randn(40, dtype=dtype),
    )
    exact_x = x.double()
    given = delta if with_delta else None
    exact = TorchBackend().add_rms_norm(
        exact_x, delta.double() if with_delta else None, weight.double(), 1e-5
    )
    found = TritonBackend().add_rms_norm(x, given, weight, 1e-5)
    assert_close(x, exact_x)
    assert_close(found, exact)


@pytest.mark.parametrize("dtype", DTYPES)
def test_swiglu_equals_torch(dtype):
    gate_up = randn(3, 2 * 1030, dtype=dtype) * 3
    assert_close(TritonBackend().swiglu(gate_up), TorchBackend().swiglu(gate_up.double()))


def batch_of(lengths: list[int], chunk: tuple[int, int]) -> Batch:
    """A stream for each length, and one chunk (start, tokens); blocks in scattered order."""
    start, num = chunk
    width = -(-max(*lengths, start + num) // BLOCK)
    tables = torch.randperm((len(lengths) + 1) * width, device=DEVICE).view(-1, width).int()
    slots = (tables[:, :, None] * BLOCK + torch.arange(BLOCK, device=DEVICE)).flatten(1).long()
    own = [slots[i, n - 1 : n] for i, n in enumerate(lengths)]
    context = slots[-1, : start + num]
    decode = DecodeBatch(
        tables[:-1].contiguous(), torch.tensor(lengths, dtype=torch.int32, device=DEVICE), BLOCK
    )
    total = len(lengths) + num
    return Batch(
        token_ids=torch.zeros(total, dtype=torch.long, device=DEVICE),
        positions=torch.zeros(total, dtype=torch.long, device=DEVICE),
        slots=torch.cat([*own, context[start:]]),
        decode=decode,
        prefill=(PrefillChunk(len(lengths), total, start, context),),
        logits_rows=torch.arange(total, device=DEVICE),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@crossed(
    ("window", "shape"),
    [None, 20],
    [([1, 17, 66], (0, 21), (4, 2), 16), ([3, 530], (70, 18), (3, 1), 24)],
    beside="tests/inference/test_kernels.py::test_rotation_cache_and_attention_equal_torch",
)
def test_rotation_cache_and_attention_equal_torch(dtype, window, shape):
    """Streams of one block and of several splits; a chunk alone and one after a prefix."""
    lengths, chunk, (num_heads, kv_heads), dim = shape
    batch = batch_of(lengths, chunk)
    assert batch.decode is not None
    total = len(batch.slots)
    num_slots = (batch.decode.tables.shape[1]) * (len(lengths) + 1) * BLOCK
    keys, values = (randn(num_slots, kv_heads, dim, dtype=dtype) for _ in range(2))
    qkv = randn(total, num_heads + 2 * kv_heads, dim, dtype=dtype)
    half = torch.rand(total, dim // 2, device=DEVICE) * 6
    angles = torch.cat((half, half), dim=-1)
    results = []
    for backend, kind in ((TritonBackend(), dtype), (TorchBackend(), torch.float64)):
        cache = LayerCache(keys.to(kind, copy=True), values.to(kind, copy=True))
        turned = (angles.cos().to(dtype).to(kind), angles.sin().to(dtype).to(kind))
        queries = backend.rotate_and_cache(qkv.to(kind, copy=True), kv_heads, turned, cache, batch)
        results.append((cache.keys, cache.values, backend.attend(queries, cache, batch, window)))
    for found, exact in zip(*results, strict=True):
        assert_close(found, exact)


@pytest.mark.parametrize(
    "window",
    [
        pytest.param(
            None,
            marks=pytest.mark.nightly(
                beside="tests/inference/test_kernels.py"
                "::test_rotation_and_attention_over_an_int8_cache_equal_torch"
            ),
        ),
        20,
    ],
)
def test_rotation_and_attention_over_an_int8_cache_equal_torch(window):
    """What is stored is right to half a step, and attention is that over what is stored."""
    lengths, heads, kv_heads, dim = [1, 17, 530], 4, 2, 24
    batch = batch_of(lengths, (40, 21))
    assert batch.decode is not None
    num_slots = batch.decode.tables.shape[1] * (len(lengths) + 1) * BLOCK
    cache = int8_cache(num_slots, kv_heads, dim)
    qkv = randn(len(batch.slots), heads + 2 * kv_heads, dim)
    qkv[0] = 0  # a row without any scale
    half = torch.rand(len(batch.slots), dim // 2, device=DEVICE) * 6
    angles = torch.cat((half.cos(),) * 2, dim=-1), torch.cat((half.sin(),) * 2, dim=-1)
    exact = LayerCache(*cache.gather(torch.arange(num_slots, device=DEVICE), torch.float64))
    exact_queries = TorchBackend().rotate_and_cache(
        qkv.double(), kv_heads, (angles[0].double(), angles[1].double()), exact, batch
    )
    queries = TritonBackend().rotate_and_cache(qkv, kv_heads, angles, cache, batch)
    stored = LayerCache(*cache.gather(torch.arange(num_slots, device=DEVICE), torch.float64))
    for part, scales, wanted in (
        (stored.keys, cache.key_scales, exact.keys),
        (stored.values, cache.value_scales, exact.values),
    ):
        assert scales is not None
        assert ((part - wanted).abs() <= scales[..., None] * 0.501 + 1e-6).all()
    assert_close(
        TritonBackend().attend(queries, cache, batch, window),
        TorchBackend().attend(exact_queries, stored, batch, window),
    )


def int8_cache(slots: int, kv_heads: int, dim: int) -> LayerCache:
    """Filled with random rows."""
    cache = LayerCache(
        *torch.zeros(2, slots, kv_heads, dim, dtype=torch.int8, device=DEVICE),
        *torch.zeros(2, slots, kv_heads, device=DEVICE),
    )
    cache.store(torch.arange(slots, device=DEVICE), *randn(2, slots, kv_heads, dim))
    return cache


@pytest.mark.parametrize("kind", [Kind.Q4_0, Kind.Q4_1, Kind.Q8_0])
@pytest.mark.parametrize("tokens", [1, 17])
def test_products_from_packed_weights_equal_torch(kind, tokens):
    packed = quantize(np.random.default_rng(1).normal(size=(70, 64)).astype(np.float32), kind)
    exact = torch.from_numpy(dequantize(packed, kind)).double().to(DEVICE)
    bias, x = randn(70), randn(tokens, 64)
    linear = TritonPackedLinear(
        PackedRows(kind, torch.from_numpy(packed), 64), bias, DEVICE, x.dtype
    )
    assert_close(linear(x), x.double() @ exact.T + bias.double())
    ids = torch.tensor([3, 69, 0, 3], device=DEVICE)
    assert_close(linear.rows(ids), exact[ids])


def test_groups_hold_every_choice_once_and_one_expert_a_tile():
    chosen = torch.tensor([[4, 1], [1, 0], [4, 1]], device=DEVICE).repeat(12, 1)
    grouping = group_by_expert(chosen, 6)
    entries = grouping.entries.view(len(grouping.expert_of_tile), -1).tolist()
    flat = chosen.flatten().tolist()
    seen = [entry for tile in entries for entry in tile if entry < len(flat)]
    assert sorted(seen) == list(range(len(flat)))
    for tile, expert in zip(entries, grouping.expert_of_tile.tolist(), strict=True):
        assert {flat[entry] for entry in tile if entry < len(flat)} <= {expert}


@pytest.mark.parametrize("tokens", [1, 9])
def test_experts_equal_those_computed_one_by_one(tokens):
    config = MoeConfig(num_experts=5, per_token=2, normalise=True)
    hidden, inner = 24, 40
    router = randn(5, hidden)
    gate_up, down, x = randn(5, 2 * inner, hidden), randn(5, hidden, inner), randn(tokens, hidden)
    exact = one_by_one(config, router, gate_up, down, x)
    found = grouped(config, router, DenseExperts(gate_up), DenseExperts(down))(x)
    torch.testing.assert_close(found.double(), exact, rtol=1e-4, atol=1e-3)


@crossed(
    ("kind", "tokens"),
    [Kind.Q4_0, Kind.Q4_1, Kind.Q8_0],
    [1, 9, 40],
    beside="tests/inference/test_kernels.py"
    "::test_experts_in_blocks_equal_those_computed_one_by_one",
)
def test_experts_in_blocks_equal_those_computed_one_by_one(kind, tokens):
    """Nothing is read back to know which were chosen; one is chosen by no token."""
    config = MoeConfig(num_experts=5, per_token=2, normalise=True)
    hidden, inner = 64, 96
    router, x = randn(5, hidden), randn(tokens, hidden)
    router[3] = 0
    router[3, 0], x[:, 0] = -100, 1
    gate_up, exact_gate_up = in_blocks(kind, 5, 2 * inner, hidden)
    down, exact_down = in_blocks(kind, 5, hidden, inner)
    exact = one_by_one(config, router, exact_gate_up, exact_down, x)
    found = grouped(config, router, PackedExperts(gate_up, DEVICE), PackedExperts(down, DEVICE))(x)
    torch.testing.assert_close(found.double(), exact, rtol=1e-4, atol=1e-2)


def test_experts_in_different_blocks_are_not_grouped():
    four, _ = in_blocks(Kind.Q4_0, 2, 32, 64)
    eight, _ = in_blocks(Kind.Q8_0, 2, 32, 64)
    assert PackedExperts.takes(four)
    assert not PackedExperts.takes([four[0], eight[1]])


def in_blocks(kind: Kind, count: int, rows: int, width: int):
    """Random matrices in blocks, and the same numbers (count, rows, width)."""
    packed = [
        quantize(np.random.default_rng(i).standard_normal((rows, width), dtype=np.float32), kind)
        for i in range(count)
    ]
    exact = torch.stack([torch.from_numpy(dequantize(one, kind)) for one in packed])
    return [PackedRows(kind, torch.from_numpy(one), width) for one in packed], exact.to(DEVICE)


def grouped(config: MoeConfig, router, gate_up: ExpertMatrices, down: ExpertMatrices):
    compute = partial(experts_swiglu, gate_up=gate_up, down=down)
    return GroupedExperts(config, DenseLinear(router), compute)


def one_by_one(config: MoeConfig, router, gate_up, down, x) -> torch.Tensor:
    """In float64."""
    experts = {
        i: SwiGLU(TorchBackend(), DenseLinear(gate_up[i].double()), DenseLinear(down[i].double()))
        for i in range(len(gate_up))
    }
    return SparseExperts(config, DenseLinear(router.double()), experts)(x.double())
