"""One token for each row of logits: temperature, top-k, top-p, min-p, and a given random number.

The number goes through the inverse of the cumulative distribution of what the filters left, in
the order of the token ids; so every implementation of `Draw` gives the same token.
"""

from __future__ import annotations

import importlib.util
from typing import Protocol

import torch
from torch import Tensor

from inference.sampling.params import SamplingParams

_CANDIDATES = 512
"""Top-p is looked for among so many tokens first; only flat distributions need more."""


class Draw(Protocol):
    def __call__(self, logits: Tensor, params: list[SamplingParams], noise: list[float]) -> Tensor:
        """Token ids (R,) from (R, vocab) float32 logits, each row with its own parameters.

        Args:
            params: none of them greedy.
            noise: a number in [0, 1) for each row.
        """
        ...


def pick_draw(device: torch.device) -> Draw:
    """The kernel on a GPU that has Triton, else plain torch."""
    if device.type == "cuda" and importlib.util.find_spec("triton") is not None:
        from inference.kernels.sampling import draw_rows as draw_on_gpu

        return draw_on_gpu
    return draw_rows


def draw_rows(logits: Tensor, params: list[SamplingParams], noise: list[float]) -> Tensor:
    """`Draw` by plain torch, on any device."""
    scaled = logits / _column(logits, [p.temperature for p in params])
    tokens = torch.empty(len(params), dtype=torch.long, device=logits.device)
    ranked = [i for i, p in enumerate(params) if p.top_k > 0 or p.top_p < 1.0]
    plain = [i for i, p in enumerate(params) if not (p.top_k > 0 or p.top_p < 1.0)]
    if plain:
        probs = scaled[plain].softmax(dim=-1, dtype=torch.float64)
        probs = _min_p(probs, [params[i] for i in plain])
        tokens[plain] = _invert(probs, [noise[i] for i in plain])
    if ranked:
        probs, ids = _ranked_distribution(scaled[ranked], [params[i] for i in ranked])
        by_id = ids.argsort(dim=-1)
        picks = _invert(probs.gather(1, by_id), [noise[i] for i in ranked])
        tokens[ranked] = ids.gather(1, by_id.gather(1, picks[:, None])).squeeze(1)
    return tokens


def _ranked_distribution(scaled: Tensor, params: list[SamplingParams]) -> tuple[Tensor, Tensor]:
    """Probabilities after top-k, top-p and min-p, most likely first, not normalised.

    Returns (R, C) float64 probabilities, 0 where filtered out, and their token ids.
    Only the best `_CANDIDATES` are ranked when that provably loses nothing.
    """
    vocab = scaled.shape[-1]
    top_k = torch.tensor([p.top_k or vocab for p in params], device=scaled.device)[:, None]
    top_p = torch.tensor([p.top_p for p in params], dtype=torch.float64, device=scaled.device)[
        :, None
    ]
    total = scaled.logsumexp(dim=-1, keepdim=True).double()
    for count in (min(_CANDIDATES, vocab), vocab):
        values, ids = scaled.topk(count, dim=-1)
        probs = (values.double() - total).exp()
        probs = torch.where(torch.arange(count, device=scaled.device) < top_k, probs, 0.0)
        # Top-p is a share of what top-k left, all of it when top-k reaches beyond `count`.
        left = torch.where(top_k <= count, probs.sum(-1, keepdim=True), 1.0)
        cumulative = probs.cumsum(-1)
        complete = (top_k <= count) | (cumulative[:, -1:] >= top_p * left)
        if count == vocab or bool(complete.all()):
            break
    probs = torch.where(cumulative - probs < top_p * left, probs, 0.0)
    return _min_p(probs, params), ids


def _min_p(probs: Tensor, params: list[SamplingParams]) -> Tensor:
    """Drop what is less likely than `min_p` times the likeliest."""
    if all(p.min_p == 0.0 for p in params):
        return probs
    floor = probs.amax(-1, keepdim=True) * _column(probs, [p.min_p for p in params])
    return torch.where(probs >= floor, probs, 0.0)


def _invert(probs: Tensor, noise: list[float]) -> Tensor:
    """The index where each row's cumulative probability passes its uniform number."""
    cumulative = probs.cumsum(-1)
    target = _column(cumulative, noise) * cumulative[:, -1:]
    return (
        torch.searchsorted(cumulative, target, right=True).squeeze(1).clamp_(max=probs.shape[1] - 1)
    )


def _column(like: Tensor, values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=like.dtype, device=like.device)[:, None]
