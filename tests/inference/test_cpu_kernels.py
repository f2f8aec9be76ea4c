"""The C++ kernels against plain torch in float64, and that nothing needs them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import dequantize

from inference.kernels.backend import TorchBackend
from inference.kernels.batch import Batch, DecodeBatch, LayerCache, PrefillChunk
from inference.kernels.cpu.backend import CpuBackend
from inference.kernels.cpu.compile import load_kernels
from inference.kernels.cpu.packed_linear import PackedLinear
from inference.model.config import ModelConfig, RopeConfig
from inference.model.decoder import LayerStack
from inference.model.layers.attention import Attention
from inference.model.layers.linear import DenseLinear, Linear
from inference.model.layers.mlp import SwiGLU
from inference.model.layers.pre_norm import PreNormLayer
from inference.model.layers.rope import Rotary
from inference.quantization.packed import PackedRows
from tests.inference.blocks import PACKED_KINDS, random_rows
from tests.inference.conftest import compiled

HEADS, KV_HEADS, DIM, BLOCK = 6, 2, 32, 16


@pytest.fixture(scope="module", params=["", "-mno-amx-tile", "-march=haswell", "-march=x86-64 -O1"])
def kernels(request):
    """As this processor would have them, without tiles, in AVX2 and without either. The last is of
    processors that hardly serve a model, and at -O3 takes the compiler three times as long."""
    processor = Path("/proc/cpuinfo").read_text()
    has_more_than = "amx_bf16" if "amx" in request.param else "avx512_vnni"
    if request.param and has_more_than not in processor:
        pytest.skip("this processor has no more than that")
    library = compiled(request.param)
    library.parley_allow_tiles(1)
    yield library
    library.parley_allow_tiles(0)


@pytest.fixture(scope="module", autouse=True)
def one_seed():
    torch.manual_seed(0)


def drawn(kind: Kind, rows: int, width: int) -> tuple[PackedRows, torch.Tensor]:
    """Packed rows, and the same as numbers by the gguf package."""
    packed = random_rows(kind, rows, width, np.random.default_rng(1))
    exact = torch.from_numpy(dequantize(packed, kind)).double()
    return PackedRows(kind, torch.from_numpy(packed), width), exact


@pytest.mark.parametrize("kind", PACKED_KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("tokens", [1, 3, 5, 8, 15, 21, 200])
@pytest.mark.parametrize("width", [96, 1280])
def test_products_from_packed_rows_equal_torch(kernels, kind, tokens, width):
    """Rows and columns that fill no tile, widths of less and of several panels."""
    if width % GGML_QUANT_SIZES[kind][0]:
        pytest.skip("no whole blocks")
    rows, exact = drawn(kind, 71, width)
    bias, x = torch.randn(71), torch.randn(tokens, width)
    linear = PackedLinear(kernels, [rows], bias)
    torch.testing.assert_close(
        linear(x).double(), x.double() @ exact.T + bias.double(), rtol=1e-5, atol=3e-4
    )
    ids = torch.tensor([3, 70, 0, 3])
    torch.testing.assert_close(linear.rows(ids).double(), exact[ids], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", PACKED_KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("tokens", [1, 7, 11, 70])
@pytest.mark.parametrize("width", [96, 512])
def test_int8_products_are_those_of_rounded_activations(kernels, kind, tokens, width):
    """Exactly so: rounding is the only error, in whole groups of rows and in a cut one."""
    if not kernels.parley_has_int8() or 0 < kernels.parley_least_tiled_rows() <= tokens:
        pytest.skip("no int8 products here of so many rows")
    if width % GGML_QUANT_SIZES[kind][0]:
        pytest.skip("no whole blocks")
    packed, exact = drawn(kind, 71, width)
    x = torch.randn(tokens, width)
    x[0, 32:64] = 0
    bias = torch.randn(71)
    blocks = x.view(tokens, -1, 32)
    scales = blocks.abs().amax(-1, keepdim=True) / 127
    rounded = (blocks / scales.clamp(min=1e-30)).round() * scales
    linear = PackedLinear(kernels, [packed], bias, int8_activations=True)
    wanted = rounded.view(tokens, -1).double() @ exact.T + bias.double()
    # A value halfway between two steps may be rounded either way.
    torch.testing.assert_close(linear(x).double(), wanted, rtol=1e-4, atol=5e-2)
    assert (linear(x) - wanted).abs().median() < 3e-5


@pytest.mark.parametrize("kind", PACKED_KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("tokens", [16, 33, 70, 545])
@pytest.mark.parametrize(("width", "outputs"), [(96, 71), (768, 304)])
def test_tiles_round_both_sides_to_bfloat16(kernels, kind, tokens, width, outputs):
    """And nothing else: rows, columns and widths that fill no tile, and several parts of each."""
    if not 0 < kernels.parley_least_tiled_rows() <= tokens:
        pytest.skip("this build has no tiles")
    if width % GGML_QUANT_SIZES[kind][0]:
        pytest.skip("no whole blocks")
    packed, exact = drawn(kind, outputs, width)
    x, bias = torch.randn(tokens, width), torch.randn(outputs)
    linear = PackedLinear(kernels, [packed], bias, int8_activations=True)
    wanted = x.bfloat16().double() @ exact.float().bfloat16().double().T + bias.double()
    # A value halfway between two steps may be rounded either way.
    torch.testing.assert_close(linear(x).double(), wanted, rtol=1e-3, atol=5e-2)
    assert (linear(x) - wanted).abs().median() < 3e-4


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("tokens", [1, 9, 40])
def test_rows_of_several_formats_are_one_matrix(kernels, tokens, int8):
    """As queries, keys and values of Q4_K_M files are."""
    parts = [drawn(Kind.Q4_K, 48, 512), drawn(Kind.Q8_0, 16, 512), drawn(Kind.Q6_K, 23, 512)]
    packed = [rows for rows, _ in parts]
    assert PackedLinear.takes(kernels, packed)
    assert not PackedLinear.takes(kernels, packed[::-1])  # 23 rows are no whole groups
    x, bias = torch.randn(tokens, 512), torch.randn(87)
    linear = PackedLinear(kernels, packed, bias, int8_activations=int8)
    alone = [PackedLinear(kernels, [rows], None, int8_activations=int8)(x) for rows, _ in parts]
    assert torch.equal(linear(x), torch.cat(alone, dim=-1) + bias)


def test_norm_with_residual_equals_torch(kernels):
    x, delta, weight = torch.randn(7, 48), torch.randn(7, 48), torch.randn(48)
    for given in (None, delta):
        stream, wanted = x.clone(), x.double()
        got = CpuBackend(kernels).add_rms_norm(stream, given, weight, 1e-5)
        if given is not None:
            wanted = wanted + given.double()
        torch.testing.assert_close(stream.double(), wanted, rtol=1e-6, atol=1e-6)
        normed = wanted / (wanted.square().mean(-1, keepdim=True) + 1e-5).sqrt() * weight
        torch.testing.assert_close(got.double(), normed, rtol=1e-5, atol=1e-5)


def test_swiglu_equals_torch_from_tiny_to_huge_values(kernels):
    gate_up = torch.cat([torch.linspace(-200, 200, 64), torch.randn(64)])[None].repeat(3, 1)
    got = CpuBackend(kernels).swiglu(gate_up)
    gate, up = gate_up.double().chunk(2, dim=-1)
    torch.testing.assert_close(got.double(), gate * gate.sigmoid() * up, rtol=2e-6, atol=1e-6)


def make_batch(lengths: list[int]) -> Batch:
    """One query token a sequence, blocks handed out in a scattered order."""
    width = -(-max(lengths) // BLOCK)
    order = torch.randperm(len(lengths) * width)
    tables = order.view(len(lengths), width).int()
    last = torch.tensor([int(tables[i, (n - 1) // BLOCK]) for i, n in enumerate(lengths)])
    return Batch(
        token_ids=torch.zeros(len(lengths), dtype=torch.long),
        positions=torch.tensor(lengths) - 1,
        slots=last * BLOCK + (torch.tensor(lengths) - 1) % BLOCK,
        decode=DecodeBatch(tables, torch.tensor(lengths, dtype=torch.int32), BLOCK),
        prefill=(),
        logits_rows=torch.arange(len(lengths)),
    )


@pytest.mark.parametrize(
    ("heads", "kv_heads", "dim"), [(6, 2, 32), (4, 1, 48), (5, 1, 64), (2, 2, 16)]
)
@pytest.mark.parametrize("lengths", [[1], [1, 16, 17, 100], [250, 3, 64]])
def test_rotation_and_attention_equal_the_torch_backend(kernels, lengths, heads, kv_heads, dim):
    batch = make_batch(lengths)
    assert batch.decode is not None
    slots = batch.decode.tables.numel() * BLOCK
    keys, values = torch.randn(2, slots, kv_heads, dim) * 2
    qkv = torch.randn(len(lengths), heads + 2 * kv_heads, dim)
    angles = torch.rand(len(lengths), dim // 2) * 6
    angles = torch.cat([angles, angles], dim=-1)
    results = []
    for backend, dtype in ((CpuBackend(kernels), torch.float32), (TorchBackend(), torch.float64)):
        cache = LayerCache(keys.to(dtype, copy=True), values.to(dtype, copy=True))
        turned = (angles.cos().to(dtype), angles.sin().to(dtype))
        queries = backend.rotate_and_cache(qkv.to(dtype, copy=True), kv_heads, turned, cache, batch)
        results.append((backend.attend(queries, cache, batch), cache.keys, cache.values))
    for mine, reference in zip(*results, strict=True):
        torch.testing.assert_close(mine.double(), reference, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("kind", [torch.float32, torch.float16])
def test_attention_is_the_same_with_any_number_of_threads(kernels, kind):
    """Threads share the heads of a part where there are fewer parts than would keep them busy."""
    batch = make_batch([300, 70, 128])
    assert batch.decode is not None
    slots = batch.decode.tables.numel() * BLOCK
    cache = LayerCache(*(torch.randn(2, slots, KV_HEADS, DIM).to(kind)))
    queries = torch.randn(3, HEADS, DIM)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 8):
            torch.set_num_threads(threads)
            found.append(CpuBackend(kernels).attend(queries, cache, batch))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


def test_attention_is_finite_when_scores_are_far_apart(kernels):
    batch = make_batch([40])
    keys = torch.randn(3 * BLOCK, KV_HEADS, DIM) * 60
    values = torch.randn(3 * BLOCK, KV_HEADS, DIM)
    queries = torch.randn(1, HEADS, DIM) * 60
    got = CpuBackend(kernels).attend(queries, LayerCache(keys, values), batch)
    exact = TorchBackend().attend(
        queries.double(), LayerCache(keys.double(), values.double()), batch
    )
    assert got.isfinite().all()
    torch.testing.assert_close(got.double(), exact, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", [torch.float32, torch.int8])
@pytest.mark.parametrize("window", [None, 7, 100])
@pytest.mark.parametrize(("heads", "kv_heads", "dim"), [(9, 3, 64), (4, 1, 48), (5, 5, 16)])
def test_prefill_attention_equals_float64(kernels, heads, kv_heads, dim, window, kind):
    """Whole prompts and later pieces of one, that fill no tile and no block of keys."""
    for num, start in ((1, 0), (70, 0), (200, 13), (33, 300)):
        length = start + num
        slots = torch.randperm(length + 50)[:length]
        shape = (length + 50, kv_heads, dim)
        if kind is torch.int8:
            keys, values = torch.randint(-127, 128, (2, *shape), dtype=torch.int8)
            scales = torch.rand(2, *shape[:2]) * 0.02
            cache = LayerCache(keys, values, *scales)
        else:
            cache = LayerCache(torch.randn(shape) * 2, torch.randn(shape) * 2)
        queries = torch.randn(num, heads + 2 * kv_heads, dim)[:, :heads] * 2
        got, exact = torch.empty(num, heads, dim), torch.empty(num, heads, dim).double()
        span = PrefillChunk(0, num, start, slots)
        CpuBackend(kernels).attend_prefill(queries, cache, span, got, window)
        TorchBackend().attend_prefill(queries.double(), cache, span, exact, window)
        torch.testing.assert_close(got.double(), exact, rtol=1e-4, atol=2e-5)


def test_kernels_are_absent_without_a_compiler(monkeypatch, caplog):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    assert load_kernels() is None


def test_failing_compiler_is_logged_and_not_fatal(monkeypatch, tmp_path):
    broken = tmp_path / "broken++"
    broken.write_text("#!/bin/sh\necho no such architecture >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert load_kernels() is None


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

    backend = CpuBackend(kernels)
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


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("cached_as", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("kind", "int8", "bias"),
    [
        (Kind.Q4_1, False, False),
        (Kind.Q8_0, False, True),
        (Kind.Q4_0, True, False),
        (Kind.Q8_0, True, True),
        (Kind.Q4_K, True, True),
        (Kind.Q5_K, False, False),
        (Kind.Q6_K, True, False),
    ],
)
def test_all_layers_in_one_call_give_the_same_bits(kernels, kind, int8, bias, cached_as, threads):
    """Streams of one block and of several parts of a context, on one thread and on several."""
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
    backends = CpuBackend(kernels), PartByPart(kernels)
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


def test_layers_that_cannot_be_fused_are_computed_part_by_part(kernels):
    layers = make_layers(kernels, Kind.Q4_1, int8=False, bias=False)
    assert LayerStack(CONFIG, CpuBackend(kernels), layers).is_fused
    first = layers[0].attention
    rotary = Rotary(RopeConfig(theta=5.0), DIM, CONFIG.max_position, torch.device("cpu"))
    norms = torch.ones(DIM), torch.ones(DIM)
    for attention in (
        changed(first, out=DenseLinear(torch.randn(CONFIG.hidden_size, HEADS * DIM))),
        changed(first, head_norms=norms),
        changed(first, rotary=rotary),
    ):
        mixed = [replace(layers[0], attention=attention), *layers[1:]]
        assert not LayerStack(CONFIG, CpuBackend(kernels), mixed).is_fused


def changed(attention: Attention, **changes) -> Attention:
    parts: dict[str, Any] = {"rotary": attention.rotary, "qkv": attention.qkv, "out": attention.out}
    return Attention(attention._backend, CONFIG, **(parts | changes))
