"""Samples a token for each row of logits in one launch: filters by threshold, nothing is sorted.

Top-k and top-p both keep the tokens above some logit. That threshold is found digit by digit of
the logits' bits, 16 candidates a pass; of tokens that lie exactly on it the first ones are kept,
as many as are needed. Then the row's random number goes through the cumulative distribution in
the order of the token ids, as in `sampling/row_sampler.py`: tokens are the same but where a float32
exponential puts a border between two tokens elsewhere (less than one in 100,000 samples).
Source: Alabi et al. 2012 (k-selection on GPUs), for finding a threshold digit by digit.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from inference.core import SamplingParams

_BLOCK = 1024


def sample_rows(logits: Tensor, params: list[SamplingParams], noise: list[float]) -> Tensor:
    """A `RowSampler` (`sampling/row_sampler.py`): (R,) token ids from (R, vocab) float32 logits."""
    rows, vocab = logits.shape
    wanted = [
        (p.temperature, min(p.top_k or vocab, vocab), p.top_p, p.min_p, number)
        for p, number in zip(params, noise, strict=True)
    ]
    per_row = torch.tensor(wanted, dtype=torch.float64).to(logits.device)
    tokens = torch.empty(rows, dtype=torch.long, device=logits.device)
    logits = logits.contiguous()
    _sample[(rows,)](logits, per_row, tokens, vocab, BLOCK=_BLOCK)
    return tokens


@triton.jit
def _sample(logits, per_row, tokens, vocab, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x, wanted = logits + row * vocab, per_row + row * 5
    temperature = tl.load(wanted).to(tl.float32)
    top_k = tl.load(wanted + 1)
    top_p = tl.load(wanted + 2)
    min_p = tl.load(wanted + 3).to(tl.float32)
    noise = tl.load(wanted + 4)
    at = tl.arange(0, BLOCK)

    maxima = tl.full([BLOCK], float("-inf"), tl.float32)
    for begin in range(0, vocab, BLOCK):
        logit = tl.load(x + begin + at, mask=begin + at < vocab, other=float("-inf"))
        maxima = tl.maximum(maxima, logit)
    largest = tl.max(maxima, axis=0)

    threshold = tl.full([], -1, tl.int64)  # below every key
    on_it = tl.full([], 0, tl.float64) + vocab  # how many tokens on the threshold are kept
    if top_k < vocab:
        threshold = _reach(x, vocab, temperature, largest, top_k, threshold, True, BLOCK)
        above, _, _ = _split(x, vocab, temperature, largest, threshold, BLOCK)
        on_it = top_k - above
    if top_p < 1.0:
        _, mass, each = _split(x, vocab, temperature, largest, threshold, BLOCK)
        goal = top_p * (mass + on_it * each)
        found = _reach(x, vocab, temperature, largest, goal, threshold, False, BLOCK)
        _, mass, each = _split(x, vocab, temperature, largest, found, BLOCK)
        needed = tl.maximum(tl.ceil((goal - mass) / each), 1.0)
        on_it = tl.where(found > threshold, needed, tl.minimum(on_it, needed))
        threshold = found

    total = tl.full([], 0, tl.float64)
    kept_on_it = tl.full([], 0, tl.float64)
    for begin in range(0, vocab, BLOCK):
        weight, ties = _kept(
            x, begin, vocab, temperature, largest, threshold, on_it - kept_on_it, min_p, BLOCK
        )
        total += tl.sum(weight, axis=0)
        kept_on_it += ties
    goal = noise * total
    before = tl.full([], 0, tl.float64)
    kept_on_it = tl.full([], 0, tl.float64)
    token = tl.full([], 0, tl.int64) + vocab
    for begin in range(0, vocab, BLOCK):
        weight, ties = _kept(
            x, begin, vocab, temperature, largest, threshold, on_it - kept_on_it, min_p, BLOCK
        )
        passed = (before + tl.cumsum(weight, axis=0) > goal) & (weight > 0.0)
        place = tl.where(passed, (begin + at).to(tl.int64), vocab)
        token = tl.minimum(token, tl.min(place, axis=0))
        before += tl.sum(weight, axis=0)
        kept_on_it += ties
    # The sums are rounded: where none passes, the likeliest stands for the last.
    if token == vocab:
        for begin in range(0, vocab, BLOCK):
            logit = tl.load(x + begin + at, mask=begin + at < vocab, other=float("-inf"))
            place = tl.where(logit == largest, (begin + at).to(tl.int64), vocab)
            token = tl.minimum(token, tl.min(place, axis=0))
    tl.store(tokens + row, token)


@triton.jit
def _block(x, begin, vocab, temperature, largest, BLOCK: tl.constexpr):
    """Keys from 0 to 2^32 - 1 that order like the logits (-1 beyond the row), and exponentials.

    `largest` is taken away before the temperature divides: what overflows is -inf only."""
    at = begin + tl.arange(0, BLOCK)
    inside = at < vocab
    logit = tl.load(x + at, mask=inside, other=float("-inf"))
    bits = (logit + 0.0).to(tl.int32, bitcast=True)  # -0.0 is 0.0 now
    key = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.int64) + 2147483648
    mass = tl.exp((logit - largest) / temperature)
    return tl.where(inside, key, -1), tl.where(inside, mass, 0.0)


@triton.jit
def _reach(
    x, vocab, temperature, largest, goal, least, COUNT: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """The greatest key such that tokens from it on reach `goal`, in number where COUNT, else
    in mass; `least` where none above it does."""
    found = tl.full([], 0, tl.int64)
    for digit in range(8):
        step = tl.full([], 1, tl.int64) << (28 - 4 * digit)
        candidates = found + tl.arange(0, 16).to(tl.int64) * step
        reached = tl.zeros([16], tl.float64)
        for begin in range(0, vocab, BLOCK):
            key, mass = _block(x, begin, vocab, temperature, largest, BLOCK)
            if COUNT:
                mass = tl.where(key >= 0, 1.0, 0.0)
            counted = tl.where(key[None, :] >= candidates[:, None], mass[None, :], 0.0)
            reached += tl.sum(counted, axis=1).to(tl.float64)
        enough = (reached >= goal) & (tl.arange(0, 16) > 0)
        found += tl.sum(enough.to(tl.int64), axis=0) * step
    return tl.maximum(found, least)


@triton.jit
def _split(x, vocab, temperature, largest, threshold, BLOCK: tl.constexpr):
    """Number and mass of the tokens above the threshold, and the mass of one that lies on it."""
    number, mass = tl.full([], 0, tl.float64), tl.full([], 0, tl.float64)
    each = tl.full([], 0, tl.float64)
    for begin in range(0, vocab, BLOCK):
        key, part = _block(x, begin, vocab, temperature, largest, BLOCK)
        above = key > threshold
        number += tl.sum(above.to(tl.int32), axis=0)
        mass += tl.sum(tl.where(above, part, 0.0).to(tl.float64), axis=0)
        each = tl.maximum(each, tl.max(tl.where(key == threshold, part, 0.0), axis=0))
    return number, mass, each


@triton.jit
def _kept(
    x, begin, vocab, temperature, largest, threshold, on_it, min_p, BLOCK: tl.constexpr
):  # fmt: skip
    """Weights of a block's tokens, 0 for those that are filtered out, and how many of them lie
    on the threshold, of which the first `on_it` are kept."""
    key, mass = _block(x, begin, vocab, temperature, largest, BLOCK)
    ties = ((key == threshold) & (key >= 0)).to(tl.int32)
    rank = tl.cumsum(ties, axis=0) - ties
    keep = (key > threshold) | ((ties > 0) & (rank < on_it))
    weight = tl.where(keep & (mass >= min_p), mass, 0.0).to(tl.float64)
    return weight, tl.sum(ties, axis=0)
