"""A token for each row: plain torch and both kernels against the definition in float64."""

from __future__ import annotations

import os

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if DEVICE.type == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported

pytest.importorskip("triton")

from inference.core import SamplingParams  # noqa: E402
from inference.kernels.cpu.compile import load_kernels  # noqa: E402
from inference.kernels.cpu.sampling import CpuRowSampler  # noqa: E402
from inference.kernels.gpu.sampling import sample_rows as sample_by_kernel  # noqa: E402
from inference.sampling.row_sampler import RowSampler, sample_rows  # noqa: E402

KINDS: list[dict[str, float]] = [
    {},
    {"temperature": 0.4},
    {"temperature": 3.0},
    {"top_k": 1},
    {"top_k": 7, "temperature": 2.0},
    {"top_p": 0.3},
    {"top_p": 0.95, "temperature": 1.5},
    {"min_p": 0.3},
    {"top_k": 20, "top_p": 0.6, "min_p": 0.05},
    {"top_k": 5000, "top_p": 0.999},
    {"top_p": 1e-6},
]
SAMPLERS = ("torch", "GPU kernel", "CPU kernel")


def params(**changes) -> SamplingParams:
    return SamplingParams(max_tokens=1, **changes)


def distribution(logits: Tensor, p: SamplingParams) -> Tensor:
    """(vocab,) float64, the definition as plainly as possible; of equals the smallest id first."""
    probs = (logits.double() / p.temperature).softmax(-1)
    order = probs.argsort(descending=True, stable=True)
    ranked = probs[order]
    if p.top_k:
        ranked[p.top_k :] = 0
    if p.top_p < 1:
        ranked[ranked.cumsum(-1) - ranked >= p.top_p * ranked.sum()] = 0
    ranked[ranked < p.min_p * ranked[0]] = 0
    kept = torch.zeros_like(probs)
    kept[order] = ranked
    return kept / kept.sum()


@pytest.fixture(scope="module")
def by_cpu_kernel(kernel_variants) -> RowSampler:
    return CpuRowSampler(kernel_variants)


@pytest.fixture(params=SAMPLERS)
def sample(request) -> RowSampler:
    if request.param == "CPU kernel":
        kernels = load_kernels()
        assert kernels is not None
        sampler = CpuRowSampler(kernels)
        return lambda rows, *given: sampler(rows.cpu(), *given).to(rows.device)
    return sample_rows if request.param == "torch" else sample_by_kernel


@pytest.mark.parametrize("vocab", [40, 1500])
def test_token_is_where_the_distribution_passes_the_random_number(sample, vocab):
    torch.manual_seed(vocab)
    rows = [(params(**kind), float(torch.rand(()))) for kind in KINDS]
    logits = torch.randn(len(rows), vocab, device=DEVICE) * 3
    tokens = sample(logits, [p for p, _ in rows], [number for _, number in rows])
    for token, row, (p, number) in zip(tokens.tolist(), logits, rows, strict=True):
        wanted = distribution(row.cpu(), p)
        assert wanted[token] > 0, p
        reached = float(wanted[: token + 1].sum())
        assert reached - float(wanted[token]) <= number + 1e-5, p
        assert reached >= number - 1e-5, p


@pytest.mark.parametrize("kind", [{}, {"top_k": 4, "top_p": 0.7, "temperature": 2.0}])
def test_evenly_spread_numbers_give_the_distribution(sample, kind):
    torch.manual_seed(1)
    logits = torch.randn(12) * 2
    is_interpreted = sample is sample_by_kernel and DEVICE.type == "cpu"
    count = 8 if is_interpreted else 400
    p = params(**kind)
    numbers = [(i + 0.5) / count for i in range(count)]
    tokens = sample(logits.to(DEVICE).repeat(count, 1), [p] * count, numbers)
    found = torch.bincount(tokens.cpu(), minlength=12) / count
    assert (found - distribution(logits, p)).abs().max() <= 1.01 / count


def test_tied_tokens_are_kept_by_smallest_id(sample):
    logits = torch.tensor([1.0, 3.0, 2.0, 2.0, 2.0, 2.0, -1.0, 0.0, -0.0], device=DEVICE)
    for kind, kept in (
        ({"top_k": 3}, {1, 2, 3}),
        ({"top_k": 6}, {0, 1, 2, 3, 4, 5}),
        ({"top_p": 0.6}, {1, 2, 3}),
        ({"top_k": 3, "top_p": 0.9}, {1, 2, 3}),
        ({"top_k": 5, "top_p": 0.7}, {1, 2, 3}),
    ):
        p = params(**kind)
        assert set(distribution(logits.cpu(), p).nonzero().flatten().tolist()) == kept
        tokens = sample(logits.repeat(2, 1), [p] * 2, [0.0, 0.999])
        assert tokens.tolist() == [min(kept), max(kept)], kind


@pytest.mark.parametrize(
    "kind",
    [
        {"top_k": 40},
        {"top_k": 512},
        {"top_p": 0.6},
        {"top_k": 700, "top_p": 0.9},
        {"top_p": 0.97, "temperature": 2.0},
    ],
)
def test_row_gets_the_same_token_beside_a_flat_row(kind):
    """Logits of few bits tie, at the last rank that is kept too; a flat row ranks the whole
    vocabulary."""
    torch.manual_seed(4)
    p, flat = params(**kind), params(top_p=0.999)
    for number in (i / 40 for i in range(40)):
        row = torch.randn(1, 6000, device=DEVICE).mul(4).round().div(4)
        [alone] = sample_rows(row, [p], [number]).tolist()
        beside = torch.cat((row, torch.zeros_like(row)))
        assert sample_rows(beside, [p, flat], [number, 0.5]).tolist()[0] == alone
        kept = distribution(row[0].cpu(), p)
        assert kept[alone] > 0, "a token was sampled that the filters take away"


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("kind", [{}, {"top_k": 5}, {"top_p": 0.9}, {"min_p": 0.5}])
def test_logits_that_overflow_over_the_temperature_give_the_likeliest_token(sample, kind):
    logits = torch.tensor([[0.0, 1e34, 1.1e34, -1e30]], device=DEVICE)
    assert sample(logits, [params(temperature=1e-5, **kind)], [0.7]).tolist() == [2]


def test_forbidden_tokens_are_never_sampled(sample):
    """A grammar leaves one token, or two that are equal."""
    logits = torch.full((3, 50), -torch.inf, device=DEVICE)
    logits[0, 17] = -8.0
    logits[1:, [3, 40]] = 2.5
    kinds = [params(), params(top_k=2), params(top_p=0.9)]
    assert sample(logits, kinds, [0.99, 0.2, 0.7]).tolist() == [17, 3, 40]


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    vocab=st.sampled_from([1, 7, 40, 63, 64, 1_500, 6_001]),
    spread=st.sampled_from([0.5, 2.0, 5.0]),
    has_ties=st.booleans(),
    has_forbidden=st.booleans(),
    rows=st.lists(
        st.tuples(
            st.sampled_from([0.1, 0.2, 0.7, 1.0, 2.0]),
            st.sampled_from([0, 0, 1, 20, 64, 700, 5_000]),
            st.sampled_from([1.0, 1.0, 0.1, 0.8, 0.9, 0.95, 0.9999]),
            st.sampled_from([0.0, 0.0, 0.05, 0.3]),
            st.floats(0, 1, exclude_max=True),
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_cpu_kernel_samples_the_tokens_of_plain_torch(
    by_cpu_kernel, seed, vocab, spread, has_ties, has_forbidden, rows
):
    """But where the random number lies on the border between two tokens."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(len(rows), vocab, generator=generator) * spread
    if has_ties:
        logits = logits.mul(4).round().div(4)
    if has_forbidden:
        logits[:, 1:][:, torch.rand(vocab - 1, generator=generator) < 0.7] = -torch.inf
    asked = [params(temperature=t, top_k=k, top_p=p, min_p=m) for t, k, p, m, _ in rows]
    numbers = [number for *_, number in rows]
    found = by_cpu_kernel(logits, asked, numbers).tolist()
    wanted = sample_rows(logits, asked, numbers).tolist()
    for row, (token, other) in enumerate(zip(found, wanted, strict=True)):
        if token != other:
            reached = distribution(logits[row], asked[row]).cumsum(-1)
            border = reached[min(token, other)]
            assert abs(float(border) - numbers[row]) < 1e-5


def test_flat_row_needs_every_token(by_cpu_kernel):
    logits = torch.zeros(1, 3_000)
    tokens = [int(by_cpu_kernel(logits, [params(top_p=0.9)], [(i + 0.25) / 10])) for i in range(10)]
    assert tokens == [270 * i + 67 for i in range(10)]
