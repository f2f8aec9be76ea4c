"""The C++ kernels against plain torch in float64, and that nothing needs them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import dequantize

from inference.kernels.backend import TorchBackend
from inference.kernels.batch import LayerCache, PrefillChunk
from inference.kernels.cpu.backend import CpuBackend
from inference.kernels.cpu.compile import load_kernels
from inference.kernels.cpu.packed_linear import PackedLinear
from inference.quantization.packed import PackedRows
from tests.inference.blocks import PACKED_KINDS, random_rows
from tests.inference.cpu_batches import BLOCK, make_batch
from tests.support.nightly import crossed

HEADS, KV_HEADS, DIM = 6, 2, 32


@pytest.fixture(scope="module")
def kernels(kernel_variants):
    return kernel_variants


@pytest.fixture(autouse=True)
def one_seed():
    torch.manual_seed(0)


def drawn(kind: Kind, rows: int, width: int) -> tuple[PackedRows, torch.Tensor]:
    """Packed rows, and the same as numbers by the gguf package."""
    packed = random_rows(kind, rows, width, np.random.default_rng(1))
    exact = torch.from_numpy(dequantize(packed, kind)).double()
    return PackedRows(kind, torch.from_numpy(packed), width), exact


def has_whole_blocks(width: int, tokens: int, kind: Kind) -> bool:
    return width % GGML_QUANT_SIZES[kind][0] == 0


def rounded(x: torch.Tensor, together: int) -> torch.Tensor:
    """To 127 steps on either side of zero, 32 values with a scale. Those of `together` values,
    where that is more, are an eighth of the largest, by one, two, four or eight."""
    blocks = x.view(len(x), -1, 32)
    scales = blocks.abs().amax(-1, keepdim=True) / 127
    if together > 32:
        parts = scales.view(len(x), -1, together // 32)
        units = (parts.amax(-1, keepdim=True) / 8).expand_as(parts).reshape(scales.shape)
        powers = (scales / units.clamp(min=1e-30)).clamp(min=1).log2().sub(1e-6).ceil().clamp(min=0)
        scales = units * powers.exp2()
    return ((blocks / scales.clamp(min=1e-30)).round() * scales).view(x.shape)


@crossed(
    ("width", "tokens", "kind"),
    [96, 1280],
    [1, 3, 5, 8, 15, 21, 200],
    PACKED_KINDS,
    where=has_whole_blocks,
    beside="tests/inference/test_cpu_kernels.py::test_products_from_packed_rows_equal_torch",
)
def test_products_from_packed_rows_equal_torch(kernels, kind, tokens, width):
    """Rows and columns that fill no tile, widths of less and of several panels."""
    rows, exact = drawn(kind, 71, width)
    bias, x = torch.randn(71), torch.randn(tokens, width)
    linear = PackedLinear(kernels, [rows], bias)
    torch.testing.assert_close(
        linear(x).double(), x.double() @ exact.T + bias.double(), rtol=1e-5, atol=3e-4
    )
    ids = torch.tensor([3, 70, 0, 3])
    torch.testing.assert_close(linear.rows(ids).double(), exact[ids], rtol=1e-6, atol=1e-6)


@crossed(
    ("width", "tokens", "kind"),
    [96, 512],
    [1, 7, 11, 70],
    PACKED_KINDS,
    where=has_whole_blocks,
    beside="tests/inference/test_cpu_kernels.py::test_int8_products_are_those_of_rounded_activations",
)
def test_int8_products_are_those_of_rounded_activations(kernels, kind, tokens, width):
    """Exactly so: rounding is the only error, in whole groups of rows and in a cut one."""
    if not kernels.parley_has_int8() or 0 < kernels.parley_least_tiled_rows() <= tokens:
        pytest.skip("no int8 products here of so many rows")
    packed, exact = drawn(kind, 71, width)
    x = torch.randn(tokens, width)
    x[0, 32:64] = 0
    bias = torch.randn(71)
    linear = PackedLinear(kernels, [packed], bias, int8_activations=True)
    together = kernels.parley_rounded_together(int(kind))
    wanted = rounded(x, together).double() @ exact.T + bias.double()
    # A value halfway between two steps may be rounded either way: a step, 4 / 127, times a weight.
    torch.testing.assert_close(linear(x).double(), wanted, rtol=1e-4, atol=1e-1)
    assert (linear(x) - wanted).abs().median() < 3e-5


@pytest.mark.parametrize("kind", [Kind.Q4_K, Kind.Q6_K, Kind.Q8_0], ids=lambda kind: kind.name)
def test_int8_products_of_many_tokens_have_the_bits_of_few(kernels, kind):
    """Where more groups are unpacked than stay in the cache, and the last of them are fewer."""
    if not kernels.parley_has_int8() or 0 < kernels.parley_least_tiled_rows() <= 70:
        pytest.skip("no int8 products here of so many rows")
    packed, _ = drawn(kind, 1040, 2560)
    x = torch.randn(70, 2560)
    linear = PackedLinear(kernels, [packed], None, int8_activations=True)
    few = [linear(part) for part in x.split(7)]
    assert torch.equal(linear(x), torch.cat(few))


@crossed(
    ("width", "tokens", "kind", "outputs"),
    [96, 768],
    [16, 33, 70, 545],
    PACKED_KINDS,
    [71, 304],
    where=lambda width, tokens, kind, outputs: (
        has_whole_blocks(width, tokens, kind) and (width, outputs) in {(96, 71), (768, 304)}
    ),
    beside="tests/inference/test_cpu_kernels.py::test_tiles_round_both_sides_to_bfloat16",
)
def test_tiles_round_both_sides_to_bfloat16(kernels, kind, tokens, width, outputs):
    """And nothing else: rows, columns and widths that fill no tile, and several parts of each."""
    if not 0 < kernels.parley_least_tiled_rows() <= tokens:
        pytest.skip("this build has no tiles")
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
    alone = [PackedLinear(kernels, [rows], None, int8_activations=int8)(x) for rows in packed]
    got = linear(x)
    if (
        linear.rounds and not 0 < kernels.parley_least_tiled_rows() <= tokens
    ):  # rounded as the K-formats want it
        together = kernels.parley_rounded_together(int(Kind.Q4_K))
        wanted = rounded(x, together).double() @ parts[1][1].T + bias[48:64].double()
        torch.testing.assert_close(got[:, 48:64].double(), wanted, rtol=1e-4, atol=1e-1)
        assert (got[:, 48:64] - wanted).abs().median() < 3e-5
        alone[1] = got[:, 48:64] - bias[48:64]
        got[:, 48:64] = alone[1] + bias[48:64]
    assert torch.equal(got, torch.cat(alone, dim=-1) + bias)


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


@crossed(
    ("lengths", "shape"),
    [[1], [1, 16, 17, 100], [250, 3, 64], [4096, 4097, 9001]],
    [(12, 2, 128), (6, 2, 32), (4, 1, 48), (5, 1, 64), (2, 2, 16), (7, 1, 16)],
    beside="tests/inference/test_cpu_kernels.py::test_rotation_and_attention_equal_the_torch_backend",
)
def test_rotation_and_attention_equal_the_torch_backend(kernels, lengths, shape):
    """Heads that are computed at once, in several parts or alone, and parts of several lengths."""
    heads, kv_heads, dim = shape
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
    batch = make_batch([300, 70, 128, 5000])
    assert batch.decode is not None
    slots = batch.decode.tables.numel() * BLOCK
    cache = LayerCache(*(torch.randn(2, slots, KV_HEADS, DIM).to(kind)))
    queries = torch.randn(4, HEADS, DIM)
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


@crossed(
    ("shape", "window", "kind"),
    [(9, 3, 64), (4, 1, 48), (5, 5, 16)],
    [None, 7, 100],
    [torch.float32, torch.int8],
    beside="tests/inference/test_cpu_kernels.py::test_prefill_attention_equals_float64",
)
def test_prefill_attention_equals_float64(kernels, shape, window, kind):
    """Whole prompts and later pieces of one, that fill no tile and no block of keys."""
    heads, kv_heads, dim = shape
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


def rounded_attention(queries, cache, chunk, window, out) -> None:
    """In float64, of queries (with their scale), keys and values that are bfloat16."""
    scale = torch.tensor(1.44269504) / torch.tensor(float(queries.shape[-1])).sqrt()
    queries = (queries * scale).bfloat16().double() / float(scale)
    if cache.key_scales is None:
        keys, values = cache.keys.float(), cache.values.float()
    else:
        keys = cache.keys * cache.key_scales[..., None]
        values = cache.values * cache.value_scales[..., None]
    kept = LayerCache(keys.bfloat16().double(), values.bfloat16().double())
    TorchBackend().attend_prefill(queries, kept, chunk, out, window)


@crossed(
    ("shape", "window", "kind"),
    [(9, 3, 64), (4, 1, 48), (5, 5, 16), (12, 2, 128), (7, 1, 80)],
    [None, 7, 100],
    [torch.float32, torch.float16, torch.int8],
    beside="tests/inference/test_cpu_kernels.py"
    "::test_rounded_prefill_attention_is_that_of_bfloat16_numbers",
)
def test_rounded_prefill_attention_is_that_of_bfloat16_numbers(kernels, shape, window, kind):
    """Prompts and later pieces of one; elsewhere than on a processor with bfloat16 it is exact."""
    heads, kv_heads, dim = shape
    for num, start in ((1, 0), (70, 0), (201, 13), (33, 300)):
        length = start + num
        slots = torch.randperm(length + 50)[:length]
        shape = (length + 50, kv_heads, dim)
        if kind is torch.int8:
            keys, values = torch.randint(-127, 128, (2, *shape), dtype=torch.int8)
            cache = LayerCache(keys, values, *(torch.rand(2, *shape[:2]) * 0.02))
        else:
            cache = LayerCache(*(torch.randn(2, *shape) * 2).to(kind))
        queries = torch.randn(num, heads + 2 * kv_heads, dim)[:, :heads] * 2
        plain, got = torch.empty(2, num, heads, dim)
        wanted = torch.empty(num, heads, dim).double()
        chunk = PrefillChunk(0, num, start, slots)
        CpuBackend(kernels).attend_prefill(queries, cache, chunk, plain, window)
        backend = CpuBackend(kernels, rounds_attention=True)
        backend.attend_prefill(queries, cache, chunk, got, window)
        if not kernels.parley_has_bfloat16():
            assert torch.equal(got, plain)
            continue
        rounded_attention(queries, cache, chunk, window, wanted)
        largest = 2.6 if kind is torch.int8 else float(cache.values.abs().max())
        assert (got - wanted).abs().max() < largest / 256  # both sums of rounded weights
        assert not torch.equal(got, plain)


@pytest.mark.parametrize("rounds", [False, True])
@pytest.mark.parametrize("window", [None, 50])
def test_prefill_attention_has_the_same_bits_in_chunks_of_any_size(kernels, rounds, window):
    backend, num = CpuBackend(kernels, rounds_attention=rounds), 277
    cache = LayerCache(*torch.randn(2, num, KV_HEADS, DIM).half())
    queries = torch.randn(num, HEADS, DIM) * 3
    before, found = torch.get_num_threads(), []
    try:
        for threads, ends in ((1, [num]), (3, [num]), (2, [1, 18, 82, 83, 146, num])):
            torch.set_num_threads(threads)
            out = torch.empty(num, HEADS, DIM)
            for begin, end in pairwise([0, *ends]):
                chunk = PrefillChunk(0, end - begin, begin, torch.arange(end))
                backend.attend_prefill(queries[begin:end], cache, chunk, out[begin:end], window)
            found.append(out)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


def test_rounded_prefill_attention_is_finite_when_scores_are_far_apart(kernels):
    keys, values = torch.randn(2, 90, KV_HEADS, DIM)
    cache, queries = LayerCache(keys * 60, values), torch.randn(90, HEADS, DIM) * 60
    got = torch.empty(90, HEADS, DIM)
    chunk = PrefillChunk(0, 90, 0, torch.arange(90))
    CpuBackend(kernels, rounds_attention=True).attend_prefill(queries, cache, chunk, got, None)
    assert got.isfinite().all()
    # The first token attends to itself alone.
    first = values[0].repeat_interleave(HEADS // KV_HEADS, 0)
    torch.testing.assert_close(got[0], first, rtol=2**-8, atol=0)


@pytest.mark.parametrize("rounds", [False, True])
def test_prefill_attention_hides_no_number_that_is_none(kernels, rounds):
    keys, values = torch.randn(2, 90, KV_HEADS, DIM)
    keys[70] = torch.nan
    got, chunk = torch.empty(90, HEADS, DIM), PrefillChunk(0, 90, 0, torch.arange(90))
    backend = CpuBackend(kernels, rounds_attention=rounds)
    backend.attend_prefill(torch.randn(90, HEADS, DIM), LayerCache(keys, values), chunk, got, None)
    assert got[:70].isfinite().all()
    assert got[70:].isnan().all()


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
