"""Choosing the next token of every sequence of a step, vectorised over the rows.

Order: penalties, logit bias, grammar and the minimum length on the logits; greedy rows are done
then. Others: temperature, top-k, top-p, min-p, and one uniform number per row through
the inverse of the cumulative distribution. What a row gets depends on its own
parameters, tokens and seed only, never on its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Place:
    """Where a token is drawn: after all that a request knows, and after some guesses."""

    request: Request
    guesses: tuple[int, ...] = ()

    @property
    def sampling(self) -> SamplingParams:
        return self.request.sampling

    @property
    def output_token_ids(self) -> list[int]:
        return [*self.request.output_token_ids, *self.guesses]

    @property
    def num_output_tokens(self) -> int:
        return self.request.num_output_tokens + len(self.guesses)


class Sampler:
    def __init__(self, eos_token_ids: frozenset[int], guides: Guides | None = None) -> None:
        self._eos = sorted(eos_token_ids)
        self._guides = guides

    def __call__(self, logits: Tensor, places: list[Place]) -> list[Sampled]:
        """Sample one token for each row.

        Args:
            logits: (R, vocab) float32; changed in place.
            places: the R places whose tokens lead up to these logits.
        """
        logprobs = _logprobs_wanted(logits, places)
        self._adjust(logits, places)
        tokens = logits.argmax(dim=-1)
        drawn = [i for i, place in enumerate(places) if not place.sampling.is_greedy]
        if drawn:
            rows = logits if len(drawn) == len(places) else logits[drawn]
            tokens[drawn] = _draw(rows, [places[i] for i in drawn])
        chosen = tokens.tolist()
        return [
            Sampled(token, _token_logprobs(logprobs[i], token, place) if i in logprobs else None)
            for i, (token, place) in enumerate(zip(chosen, places, strict=True))
        ]

    def _adjust(self, logits: Tensor, places: list[Place]) -> None:
        """Bias, penalties and minimum length, in place."""
        penalised = [i for i, place in enumerate(places) if place.sampling.has_penalties]
        if penalised:
            _penalise(logits, penalised, places)
        for row, place in enumerate(places):
            sampling = place.sampling
            if sampling.logit_bias:
                tokens = torch.tensor(list(sampling.logit_bias), device=logits.device)
                bias = torch.tensor(list(sampling.logit_bias.values()), device=logits.device)
                logits[row].index_add_(0, tokens, bias.to(logits.dtype))
            if sampling.grammar and self._guides is not None:
                self._guides.restrict(logits[row], place.request)
            if place.num_output_tokens < sampling.min_tokens:
                logits[row, self._eos + list(sampling.stop_token_ids)] = -torch.inf


def _penalise(logits: Tensor, rows: list[int], places: list[Place]) -> None:
    """Repetition penalty on prompt and output, presence and frequency on the output.

    Source: Keskar et al. 2019 (CTRL) for repetition; OpenAI's API for the other two.
    """
    chosen = [places[i] for i in rows]
    values = logits[rows]
    counts = _counts(values, [place.output_token_ids for place in chosen])
    seen = _counts(values, [place.request.prompt_token_ids for place in chosen]) + counts > 0
    repetition = _column(values, [place.sampling.repetition_penalty for place in chosen])
    values = torch.where(
        seen, torch.where(values > 0, values / repetition, values * repetition), values
    )
    values -= counts * _column(values, [place.sampling.frequency_penalty for place in chosen])
    values -= (counts > 0) * _column(values, [place.sampling.presence_penalty for place in chosen])
    logits[rows] = values


def _counts(like: Tensor, token_lists: list[list[int]]) -> Tensor:
    """How often each token occurs in each list, (rows, vocab)."""
    counts = torch.zeros_like(like)
    for row, tokens in enumerate(token_lists):
        ids = torch.tensor(tokens, dtype=torch.long, device=like.device)
        counts[row].index_add_(0, ids, torch.ones_like(ids, dtype=like.dtype))
    return counts


def _draw(logits: Tensor, places: list[Place]) -> Tensor:
    """Sample (R,) tokens from (R, vocab) logits with each row's own parameters."""
    params = [place.sampling for place in places]
    noise = [uniform(place.sampling.seed, place.num_output_tokens) for place in places]
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


def _logprobs_wanted(logits: Tensor, places: list[Place]) -> dict[int, Tensor]:
    """Log-softmax rows, before any adjustment, of the requests that asked for them."""
    wanted = [i for i, place in enumerate(places) if place.sampling.logprobs is not None]
    if not wanted:
        return {}
    return dict(zip(wanted, logits[wanted].log_softmax(dim=-1), strict=True))


def _token_logprobs(row: Tensor, token: int, place: Place) -> TokenLogprobs:
    top = place.sampling.logprobs or 0
    values, ids = row.topk(top)
    return TokenLogprobs(float(row[token]), ids.tolist(), values.tolist())
