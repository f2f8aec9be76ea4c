"""A token for each row: plain torch and the Triton kernel against the definition in float64."""

from __future__ import annotations

import os

import pytest
import torch
from torch import Tensor

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if DEVICE.type == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported

pytest.importorskip("triton")

from inference.core import SamplingParams  # noqa: E402
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
SAMPLERS: list[RowSampler] = [sample_rows, sample_by_kernel]


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


@pytest.fixture(params=SAMPLERS, ids=["torch", "kernel"])
def sample(request) -> RowSampler:
    return request.param


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
    count = 400 if sample is sample_rows or DEVICE.type == "cuda" else 8  # interpreted, it is slow
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
