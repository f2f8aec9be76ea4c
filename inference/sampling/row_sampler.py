"""One token for each row of logits: temperature, top-k, top-p, min-p, and a given random number.

The number goes through the inverse of the cumulative distribution of what the filters left, in
the order of the token ids; so every implementation of `RowSampler` gives the same token.
"""

from __future__ import annotations

import importlib.util
from typing import Protocol

import torch
from torch import Tensor

from inference.core import SamplingParams
from inference.kernels.cpu.compile import load_kernels
from inference.kernels.cpu.sampling import CpuRowSampler

_CANDIDATES = (512, 4096)
"""Top-p is looked for among so many tokens first; only flat distributions need more."""


class RowSampler(Protocol):
    def __call__(self, logits: Tensor, params: list[SamplingParams], noise: list[float]) -> Tensor:
        """Token ids (R,) from (R, vocab) float32 logits, each row with its own parameters.

        Args:
            params: none of them greedy.
            noise: a number in [0, 1) for each row.
        """
        ...


def pick_row_sampler(device: torch.device) -> RowSampler:
    """The kernel for this device where there is one, else plain torch."""
    if device.type == "cuda" and importlib.util.find_spec("triton") is not None:
        from inference.kernels.gpu.sampling import sample_rows as sample_on_gpu

        return sample_on_gpu
    if device.type == "cpu" and (kernels := load_kernels()) is not None:
        return CpuRowSampler(kernels)
    return sample_rows


def sample_rows(logits: Tensor, params: list[SamplingParams], noise: list[float]) -> Tensor:
    """`RowSampler` by plain torch, on any device."""
    tokens = torch.empty(len(params), dtype=torch.long, device=logits.device)
    ranked = [i for i, p in enumerate(params) if p.top_k > 0 or p.top_p < 1.0]
    plain = [i for i, p in enumerate(params) if not (p.top_k > 0 or p.top_p < 1.0)]
    if plain:
        scaled = _over_temperature(logits[plain], [params[i] for i in plain])
        probs = _min_p(scaled.softmax(dim=-1, dtype=torch.float64), [params[i] for i in plain])
        tokens[plain] = _invert(probs, [noise[i] for i in plain])
    if ranked:
        probs, ids = _ranked_distribution(logits[ranked], [params[i] for i in ranked])
        tokens[ranked] = _sample_ranked(probs, ids, logits.shape[-1], [noise[i] for i in ranked])
    return tokens


def _sample_ranked(probs: Tensor, ids: Tensor, vocab: int, noise: list[float]) -> Tensor:
    """Token ids (R,), by the order of the ids, of what was ranked: all of the vocabulary, or a few,
    which are sorted in less time than the whole takes to be laid out."""
    if ids.shape[-1] == vocab:
        return _invert(torch.zeros_like(probs).scatter_(1, ids, probs), noise)
    by_id = ids.argsort(dim=-1)
    picks = _invert(probs.gather(1, by_id), noise)
    return ids.gather(1, by_id.gather(1, picks[:, None])).squeeze(1)


def _over_temperature(logits: Tensor, params: list[SamplingParams]) -> Tensor:
    """How far each logit lies below its row's largest, over the row's temperature."""
    # The largest is taken away first: what a small temperature makes infinite is then -inf only.
    below = logits - logits.amax(dim=-1, keepdim=True)
    return below / _column(logits, [p.temperature for p in params])


def _ranked_distribution(logits: Tensor, params: list[SamplingParams]) -> tuple[Tensor, Tensor]:
    """Probabilities after top-k, top-p and min-p, most likely first, not normalised; of equal
    logits the smallest id ranks first.

    Returns (R, C) float64 probabilities, 0 where filtered out, and their token ids. Only the best
    `_CANDIDATES` are ranked where that leaves out nothing for any row. Every row gets the same
    token either way.
    """
    vocab = logits.shape[-1]
    top_k = torch.tensor([min(p.top_k or vocab, vocab) for p in params], device=logits.device)
    top_k = top_k[:, None]
    # A share of what top-k leaves; of everything, 1, where it leaves everything.
    top_p = _column(logits.double(), [p.top_p for p in params])
    scaled = _over_temperature(logits, params)
    total = scaled.logsumexp(dim=-1, keepdim=True).double()
    for count in (*(few for few in _CANDIDATES if few < vocab), vocab):
        ids = _best(logits, count)
        probs = (scaled.gather(1, ids).double() - total).exp()
        probs = torch.where(torch.arange(count, device=logits.device) < top_k, probs, 0.0)
        cumulative = probs.cumsum(-1)
        left = torch.where(top_k == vocab, 1.0, cumulative[:, -1:])
        kept = (probs > 0) & (cumulative - probs < top_p * left)
        if count == vocab or _is_complete(logits.gather(1, ids), kept, top_k, count, vocab):
            break
    return _min_p(torch.where(kept, probs, 0.0), params), ids


def _best(logits: Tensor, count: int) -> Tensor:
    """Ids (R, count) of the largest logits, the largest first, of equal ones the smallest id."""
    if count == logits.shape[-1]:
        return logits.sort(dim=-1, descending=True, stable=True).indices
    ids = logits.topk(count, dim=-1).indices.sort(dim=-1).values
    order = logits.gather(1, ids).sort(dim=-1, descending=True, stable=True).indices
    return ids.gather(1, order)


def _is_complete(values: Tensor, kept: Tensor, top_k: Tensor, count: int, vocab: int) -> bool:
    """Whether nothing beyond the `count` best is kept in any row, nor is as likely as the last
    that is: of such `topk` takes any. The mass of a top-k that reaches further is not known."""
    last_kept = values.gather(1, kept.sum(-1, keepdim=True) - 1)
    complete = (last_kept > values[:, -1:]) & ((top_k <= count) | (top_k == vocab))
    return bool(complete.all())


def _min_p(probs: Tensor, params: list[SamplingParams]) -> Tensor:
    """Drop what is less likely than `min_p` times the likeliest."""
    if all(p.min_p == 0.0 for p in params):
        return probs
    floor = probs.amax(-1, keepdim=True) * _column(probs, [p.min_p for p in params])
    return torch.where(probs >= floor, probs, 0.0)


def _invert(probs: Tensor, noise: list[float]) -> Tensor:
    """The index where each row's cumulative probability passes its uniform number."""
    cumulative = probs.cumsum(-1)
    total = cumulative[:, -1:]
    # Below the total even where the product is rounded up: the index of a token that was kept.
    target = torch.minimum(_column(cumulative, noise) * total, total.nextafter(-total))
    return torch.searchsorted(cumulative, target, right=True).squeeze(1)


def _column(like: Tensor, values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=like.dtype, device=like.device)[:, None]
