"""All layers in one call of the C++ kernels: the same bits as part by part."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as Kind

from inference.kernels.batch import Batch, DecodeBatch, LayerCache, Places, PrefillChunk
from inference.kernels.cpu.backend import CpuBackend
from inference.kernels.cpu.packed_linear import PackedLinear
from inference.model.config import ModelConfig, RopeConfig
from inference.model.decoder import LayerStack
from inference.model.layers.attention import Attention, HeadNorms
from inference.model.layers.linear import DenseLinear, Linear
from inference.model.layers.mlp import SwiGLU
from inference.model.layers.pre_norm import PreNormLayer
from inference.model.layers.rope import Rotary
from inference.model.readout import Readout
from inference.quantization.packed import PackedRows
from tests.inference.blocks import random_rows
from tests.inference.cpu_batches import BLOCK, make_batch
from tests.support.nightly import crossed

HEADS, KV_HEADS, DIM = 6, 2, 32


@pytest.fixture(scope="module")
def kernels(kernel_variants):
    return kernel_variants


@pytest.fixture(autouse=True)
def one_seed():
    torch.manual_seed(0)


CONFIG = ModelConfig(
    architecture="llama",
    vocab_size=64,
    hidden_size=256,
    intermediate_size=512,
    num_layers=3,
    num_heads=HEADS,
    num_kv_heads=KV_HEADS,
    head_dim=DIM,
    rms_eps=1e-5,
    max_position=512,
    tied_embeddings=True,
    eos_token_ids=frozenset(),
)


@functools.cache
def make_layers(kernels, kind: Kind, *, int8: bool, bias: bool) -> list[PreNormLayer]:
    random = np.random.default_rng(3)
    hidden, inner, queries = CONFIG.hidden_size, CONFIG.intermediate_size, HEADS * DIM

    def matrix(rows: int, width: int) -> Linear:
        """The first half of the rows in eight bits, and all where a row is no whole blocks."""
        fits = width % GGML_QUANT_SIZES[kind][0] == 0
        parts = []
        for used in (Kind.Q8_0, kind if fits else Kind.Q8_0):
            data = random_rows(used, rows // 2, width, random, 0.06)
            parts.append(PackedRows(used, torch.from_numpy(data), width))
        shift = torch.randn(rows) if bias else None
        return PackedLinear(kernels, parts, shift, int8_activations=int8)

    backend = CpuBackend(kernels, rounds_attention=int8)
    rotary = Rotary(CONFIG.rope, DIM, CONFIG.max_position, torch.device("cpu"))

    def attention(window: int | None) -> Attention:
        qkv, out = matrix(queries + 2 * KV_HEADS * DIM, hidden), matrix(hidden, queries)
        return Attention(backend, CONFIG, rotary, qkv, out, window=window)

    return [
        PreNormLayer(
            backend,
            CONFIG.rms_eps,
            attn_norm=torch.rand(hidden) + 0.5,
            attention=attention(40 if index == 1 else None),
            mlp_norm=torch.rand(hidden) + 0.5,
            mlp=SwiGLU(backend, matrix(2 * inner, hidden), matrix(hidden, inner)),
        )
        for index in range(CONFIG.num_layers)
    ]


class PartByPart(CpuBackend):
    """The same kernels, called one by one."""

    def fuse(self, config, layers):
        return None


@crossed(
    ("weights", "cached_as", "threads"),
    [
        (Kind.Q4_1, False, False),
        (Kind.Q8_0, False, True),
        (Kind.Q4_0, True, False),
        (Kind.Q8_0, True, True),
        (Kind.Q4_K, True, True),
        (Kind.Q5_K, False, False),
        (Kind.Q6_K, True, False),
    ],
    [torch.float32, torch.bfloat16],
    [1, 3],
    beside="tests/inference/test_cpu_layers.py::test_all_layers_in_one_call_give_the_same_bits",
)
def test_all_layers_in_one_call_give_the_same_bits(kernels, weights, cached_as, threads):
    """Streams of one block and of several parts of a context, on one thread and on several."""
    kind, int8, bias = weights
    if int8 and not kernels.parley_has_int8():
        pytest.skip("no int8 products on this processor")
    layers = make_layers(kernels, kind, int8=int8, bias=bias)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for lengths in ([1], [300], [5, 129, 64, 2, 17], [33] * 9, [21] * 19):
            batch = make_batch(lengths)
            assert batch.decode is not None
            slots = batch.decode.tables.numel() * BLOCK
            past = torch.randn(CONFIG.num_layers, 2, slots, KV_HEADS, DIM)
            x = torch.randn(len(lengths), CONFIG.hidden_size)
            results = []
            for backend in (CpuBackend(kernels), PartByPart(kernels)):
                caches = [LayerCache(*layer.to(cached_as, copy=True)) for layer in past]
                stack = LayerStack(CONFIG, backend, layers)
                results.append(
                    [*stack(x.clone(), x * 0.5, batch, caches)]
                    + [part for cache in caches for part in cache.parts]
                )
            for fused, single in zip(*results, strict=True):
                assert torch.equal(fused, single)
    finally:
        torch.set_num_threads(before)


def with_chunk(lengths: list[int], start: int, count: int) -> Batch:
    """Decode requests, and a chunk of a prompt in a sequence of its own."""
    whole = make_batch([*lengths, start + count])
    assert whole.decode is not None
    blocks = whole.decode.tables[-1].long()
    context = (blocks[:, None] * BLOCK + torch.arange(BLOCK)).flatten()[: start + count]
    decode = DecodeBatch(whole.decode.tables[:-1], whole.decode.lengths[:-1], BLOCK)
    begin = len(lengths)
    return Batch(
        token_ids=torch.zeros(begin + count, dtype=torch.long),
        positions=torch.cat([whole.positions[:-1], torch.arange(start, start + count)]),
        slots=torch.cat([whole.slots[:-1], context[start:]]),
        decode=decode,
        prefill=(PrefillChunk(begin, begin + count, start, context),),
        logits_rows=torch.arange(begin),
    )


def test_layers_with_blocks_of_their_own_give_the_same_bits(kernels):
    """In one call and part by part: only where its keys and values lie is another for the one with
    a window."""
    layers = make_layers(kernels, Kind.Q4_1, int8=False, bias=True)
    mixed = replace(CONFIG, windows={1: 40})
    batch = with_chunk([5, 129, 64], start=70, count=9)
    assert batch.decode is not None
    num_blocks = 4 * 9
    moved = torch.randperm(num_blocks)
    moved_slots = (moved[:, None] * BLOCK + torch.arange(BLOCK)).flatten()
    windowed = Places(
        moved_slots[batch.slots],
        replace(batch.decode, tables=moved[batch.decode.tables.long()].int()),
        tuple(replace(chunk, slots=moved_slots[chunk.slots]) for chunk in batch.prefill),
    )
    past = torch.randn(CONFIG.num_layers, 2, num_blocks * BLOCK, KV_HEADS, DIM)
    x = torch.randn(len(batch.token_ids), CONFIG.hidden_size)

    def run(backend: CpuBackend, batch: Batch, own: torch.Tensor) -> list[torch.Tensor]:
        caches = [LayerCache(*layer.clone()) for layer in past]
        for kept, part in zip(caches[1].parts, past[1], strict=True):
            kept[own] = part
        out = LayerStack(mixed, backend, layers)(x.clone(), x * 0.5, batch, caches)
        return [*out, *(part[own] for part in caches[1].parts), *caches[2].parts]

    wanted = run(PartByPart(kernels), batch, torch.arange(num_blocks * BLOCK))
    for backend in (CpuBackend(kernels), PartByPart(kernels)):
        found = run(backend, replace(batch, windowed=windowed), moved_slots)
        assert all(map(torch.equal, found, wanted))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("layer", [1, CONFIG.num_layers - 1])
def test_readout_in_the_same_call_changes_no_bit_and_is_the_layers_product(kernels, layer, threads):
    layers = make_layers(kernels, Kind.Q4_1, int8=False, bias=True)
    readout = Readout(layer, torch.randn(5, CONFIG.hidden_size), torch.randn(5))
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for lengths in ([300], [5, 129, 64, 2, 17], [21] * 19):
            batch = make_batch(lengths)
            assert batch.decode is not None
            slots = batch.decode.tables.numel() * BLOCK
            past = torch.randn(CONFIG.num_layers, 2, slots, KV_HEADS, DIM)
            x = torch.randn(len(lengths), CONFIG.hidden_size)

            def run(backend, read, count, x=x, past=past, batch=batch):
                caches = [LayerCache(*layer.clone()) for layer in past[:count]]
                stack = LayerStack(CONFIG, backend, layers[:count], readout=read)
                return stack(x.clone(), x * 0.5, batch, caches)

            plain = run(CpuBackend(kernels), None, CONFIG.num_layers)
            state, delta = run(PartByPart(kernels), None, layer)
            wanted = torch.addmm(readout.bias, state + delta, readout.weight.T)
            for backend in (CpuBackend(kernels), PartByPart(kernels)):
                readout.allocate(slots)
                assert all(map(torch.equal, run(backend, readout, CONFIG.num_layers), plain))
                torch.testing.assert_close(
                    readout.values[batch.slots], wanted, rtol=1e-4, atol=1e-4
                )
                others = torch.ones(slots, dtype=torch.bool).index_fill(0, batch.slots, value=False)
                assert not readout.values[others].any()
    finally:
        torch.set_num_threads(before)


def in_chunks(stack: LayerStack, x: torch.Tensor, sizes: list[int], cached_as, beside: int):
    """What the layers give for a prompt x (num, hidden) that is computed in chunks of these sizes,
    each beside a decode request where that is its number: the prompt's rows, and its cache."""
    num, width = len(x), 20
    tables = torch.randperm(2 * width, generator=torch.Generator().manual_seed(5)).view(2, width)
    own, other = (tables[:, :, None] * BLOCK + torch.arange(BLOCK)).flatten(1)
    past = torch.randn(
        *(CONFIG.num_layers, 2, 2 * width * BLOCK, KV_HEADS, DIM),
        generator=torch.Generator().manual_seed(6),
    )
    scales = torch.rand(2, *past.shape[2:4], generator=torch.Generator().manual_seed(7)) * 0.02
    scaled = scales if cached_as is torch.int8 else ()
    if cached_as is torch.int8:
        past *= 40
    caches = [
        LayerCache(*layer.to(cached_as), *(part.clone() for part in scaled)) for layer in past
    ]
    rows, start = [], 0
    for index, size in enumerate(sizes):
        end, first = start + size, int(index == beside)
        decode = DecodeBatch(tables[1:].int(), torch.tensor([200], dtype=torch.int32), BLOCK)
        positions = torch.cat([torch.tensor([199] * first), torch.arange(start, end)]).long()
        batch = Batch(
            token_ids=torch.zeros(first + size, dtype=torch.long),
            positions=positions,
            slots=torch.cat([other[[199] * first], own[start:end]]),
            decode=decode if first else None,
            prefill=(PrefillChunk(first, first + size, start, own[:end]),),
            logits_rows=torch.arange(1),
        )
        entering = torch.cat([x[:first], x[start:end]])
        out, delta = stack(entering.clone(), None, batch, caches)
        rows.append(torch.stack([out[first:], delta[first:]]))
        start = end
    assert start == num
    kept = [part[own[:num]] for cache in caches for part in cache.parts]
    return [torch.cat(rows, dim=1), *kept]


@pytest.mark.parametrize(
    ("kind", "cached_as"),
    [
        (Kind.Q4_1, torch.float32),
        (Kind.Q8_0, torch.int8),
        (Kind.Q4_K, torch.float16),
        (Kind.Q6_K, torch.float32),
    ],
)
def test_prompt_gives_the_same_bits_in_chunks_of_any_size(kernels, kind, cached_as):
    """With rounded activations: so an answer does not depend on how much of its prompt was cached.
    In one call and part by part, beside a decode request and alone, with and without a window."""
    if not kernels.parley_has_int8():
        pytest.skip("no int8 products on this processor")
    layers = make_layers(kernels, kind, int8=True, bias=kind is Kind.Q4_K)
    backends = (
        CpuBackend(kernels, rounds_attention=True),
        PartByPart(kernels, rounds_attention=True),
    )
    fused, single = (LayerStack(CONFIG, backend, layers) for backend in backends)
    num, threads = 277, torch.get_num_threads()
    x = torch.randn(num, CONFIG.hidden_size)
    kernels.parley_allow_tiles(0)  # they count how many rows there are
    torch.set_num_threads(1)
    try:
        whole = in_chunks(single, x, [num], cached_as, -1)
        for sizes in (
            [64, 64, 64, 64, 17, 3, 1],
            [17] * 16 + [5],
            [100, 100, 76, 1],
            [1] * 6 + [16] * 16 + [15],
        ):
            for stack in (fused, single):
                found = in_chunks(stack, x, sizes, cached_as, len(sizes) // 2)
                assert all(map(torch.equal, found, whole)), sizes
    finally:
        torch.set_num_threads(threads)
        kernels.parley_allow_tiles(1)


@pytest.mark.parametrize("read", [[99], [2, 50, 99], []])
def test_rows_that_are_read_have_the_same_bits_where_the_last_layer_computes_no_others(
    kernels, read
):
    """With rounded activations: else the last bits depend on how many rows there are."""
    if not kernels.parley_has_int8():
        pytest.skip("no int8 products on this processor")
    layers = make_layers(kernels, Kind.Q4_1, int8=True, bias=True)
    x, slots, rows = torch.randn(100, CONFIG.hidden_size), torch.arange(100), torch.tensor(read)
    whole = Batch(slots, slots, slots, None, (PrefillChunk(0, 100, 0, slots),), rows.long())
    results = []
    kernels.parley_allow_tiles(0)  # they count how many rows there are
    try:
        for batch in (whole, replace(whole, read_rows=rows.long())):
            past = torch.zeros(CONFIG.num_layers, 2, 100, KV_HEADS, DIM)
            stack = LayerStack(CONFIG, CpuBackend(kernels), layers)
            caches = [LayerCache(*layer) for layer in past]
            out, delta = stack(x.clone(), None, batch, caches)
            results.append((out + delta, past))
    finally:
        kernels.parley_allow_tiles(1)
    (all_rows, all_kept), (some, kept) = results
    assert torch.equal(some[read], all_rows[read]) and torch.equal(kept, all_kept)
    others = [row for row in range(100) if row not in read]
    assert not torch.equal(some[others], all_rows[others])


def test_layers_that_cannot_be_fused_are_computed_part_by_part(kernels):
    layers = make_layers(kernels, Kind.Q4_1, int8=False, bias=False)
    assert LayerStack(CONFIG, CpuBackend(kernels), layers).is_fused
    first = layers[0].attention
    rotary = Rotary(RopeConfig(theta=5.0), DIM, CONFIG.max_position, torch.device("cpu"))
    norms = HeadNorms(CONFIG, torch.ones(DIM), torch.ones(DIM))
    for attention in (
        changed(first, out=DenseLinear(torch.randn(CONFIG.hidden_size, HEADS * DIM))),
        changed(first, transform=norms),
        changed(first, rotary=rotary),
    ):
        mixed = [replace(layers[0], attention=attention), *layers[1:]]
        assert not LayerStack(CONFIG, CpuBackend(kernels), mixed).is_fused


def changed(attention: Attention, **changes) -> Attention:
    parts: dict[str, Any] = {"rotary": attention.rotary, "qkv": attention.qkv, "out": attention.out}
    return Attention(attention._backend, CONFIG, **(parts | changes))
