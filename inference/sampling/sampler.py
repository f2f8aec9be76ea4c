"""Choosing the next token of every sequence of a step, vectorised over the rows.

Order: penalties, logit bias, grammar and the minimum length on the logits; greedy rows are done
then. Others: temperature, top-k, top-p, min-p, and one uniform number per row through
the inverse of the cumulative distribution. What a row gets depends on its own
parameters, tokens and seed only, never on its neighbours.
"""

from __future__ import annotations

import torch
from torch import Tensor

from inference.engine.core import Sampled
from inference.engine.request import Request
from inference.protocol import TokenLogprobs
from inference.sampling.guide import Guides
from inference.sampling.params import SamplingParams
from inference.sampling.uniform import uniform

_CANDIDATES = 512
"""Top-p is looked for among so many tokens first; only flat distributions need more."""


class Sampler:
    def __init__(self, eos_token_ids: frozenset[int], guides: Guides | None = None) -> None:
        self._eos = sorted(eos_token_ids)
        self._guides = guides

    def __call__(self, logits: Tensor, requests: list[Request]) -> list[Sampled]:
        """Sample one token for each row.

        Args:
            logits: (R, vocab) float32; changed in place.
            requests: the R requests, whose known tokens lead up to these logits.
        """
        logprobs = _logprobs_wanted(logits, requests)
        self._adjust(logits, requests)
        tokens = logits.argmax(dim=-1)
        drawn = [i for i, request in enumerate(requests) if not request.sampling.is_greedy]
        if drawn:
            rows = logits if len(drawn) == len(requests) else logits[drawn]
            tokens[drawn] = _draw(rows, [requests[i] for i in drawn])
        chosen = tokens.tolist()
        return [
            Sampled(token, _token_logprobs(logprobs[i], token, request) if i in logprobs else None)
            for i, (token, request) in enumerate(zip(chosen, requests, strict=True))
        ]

    def _adjust(self, logits: Tensor, requests: list[Request]) -> None:
        """Bias, penalties and minimum length, in place."""
        penalised = [i for i, request in enumerate(requests) if request.sampling.has_penalties]
        if penalised:
            _penalise(logits, penalised, requests)
        for row, request in enumerate(requests):
            sampling = request.sampling
            if sampling.logit_bias:
                tokens = torch.tensor(list(sampling.logit_bias), device=logits.device)
                bias = torch.tensor(list(sampling.logit_bias.values()), device=logits.device)
                logits[row].index_add_(0, tokens, bias.to(logits.dtype))
            if sampling.grammar and self._guides is not None:
                self._guides.restrict(logits[row], request)
            if request.num_output_tokens < sampling.min_tokens:
                logits[row, self._eos + list(sampling.stop_token_ids)] = -torch.inf


def _penalise(logits: Tensor, rows: list[int], requests: list[Request]) -> None:
    """Repetition penalty on prompt and output, presence and frequency on the output.

    Source: Keskar et al. 2019 (CTRL) for repetition; OpenAI's API for the other two.
    """
    chosen = [requests[i] for i in rows]
    values = logits[rows]
    counts = _counts(values, [request.output_token_ids for request in chosen])
    seen = _counts(values, [request.prompt_token_ids for request in chosen]) + counts > 0
    repetition = _column(values, [request.sampling.repetition_penalty for request in chosen])
    values = torch.where(
        seen, torch.where(values > 0, values / repetition, values * repetition), values
    )
    values -= counts * _column(values, [r.sampling.frequency_penalty for r in chosen])
    values -= (counts > 0) * _column(values, [r.sampling.presence_penalty for r in chosen])
    logits[rows] = values


def _counts(like: Tensor, token_lists: list[list[int]]) -> Tensor:
    """How often each token occurs in each list, (rows, vocab)."""
    counts = torch.zeros_like(like)
    for row, tokens in enumerate(token_lists):
        ids = torch.tensor(tokens, dtype=torch.long, device=like.device)
        counts[row].index_add_(0, ids, torch.ones_like(ids, dtype=like.dtype))
    return counts


def _draw(logits: Tensor, requests: list[Request]) -> Tensor:
    """Sample (R,) tokens from (R, vocab) logits with each row's own parameters."""
    params = [request.sampling for request in requests]
    noise = [uniform(r.sampling.seed, r.num_output_tokens) for r in requests]
    scaled = logits / _column(logits, [p.temperature for p in params])
    tokens = torch.empty(len(params), dtype=torch.long, device=logits.device)
    ranked = [i for i, p in enumerate(params) if p.top_k > 0 or p.top_p < 1.0]
    plain = [i for i, p in enumerate(params) if not (p.top_k > 0 or p.top_p < 1.0)]
    if plain:
        probs = scaled[plain].softmax(dim=-1, dtype=torch.float64)
        probs = _min_p(probs, [params[i] for i in plain])
        tokens[plain] = _invert(probs, [noise[i] for i in plain])
    if ranked:
        probs, ids = ranked_distribution(scaled[ranked], [params[i] for i in ranked])
        picks = _invert(probs, [noise[i] for i in ranked])
        tokens[ranked] = ids.gather(1, picks[:, None]).squeeze(1)
    return tokens


def ranked_distribution(scaled: Tensor, params: list[SamplingParams]) -> tuple[Tensor, Tensor]:
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


def _logprobs_wanted(logits: Tensor, requests: list[Request]) -> dict[int, Tensor]:
    """Log-softmax rows, before any adjustment, of the requests that asked for them."""
    wanted = [i for i, request in enumerate(requests) if request.sampling.logprobs is not None]
    if not wanted:
        return {}
    return dict(zip(wanted, logits[wanted].log_softmax(dim=-1), strict=True))


def _token_logprobs(row: Tensor, token: int, request: Request) -> TokenLogprobs:
    top = request.sampling.logprobs or 0
    values, ids = row.topk(top)
    return TokenLogprobs(float(row[token]), ids.tolist(), values.tolist())
