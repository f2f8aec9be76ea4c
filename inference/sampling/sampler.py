"""Choosing the next token of every sequence of a step, vectorised over the rows.

Order: penalties, logit bias, grammar and the minimum length on the logits; greedy rows are done
then. Others are drawn (`draw.py`): temperature, top-k, top-p, min-p, and one uniform number
per row through the inverse of the cumulative distribution. What a row gets depends on its own
parameters, tokens and seed only, never on its neighbours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from inference.core import Request, Sampled, SamplingParams, TokenLogprobs
from inference.errors import LogitsNotFiniteError
from inference.sampling.draw import Draw, draw_rows
from inference.sampling.guide import Guides
from inference.sampling.uniform import uniform

_MAX_REPETITION = 1e6
"""A stronger repetition penalty, or the inverse of it, gives the same tokens; its quotients may not
be finite."""


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
    def __init__(
        self, eos_token_ids: frozenset[int], guides: Guides | None = None, draw: Draw = draw_rows
    ) -> None:
        self._eos = sorted(eos_token_ids)
        self._guides = guides
        self._draw = draw

    def __call__(self, logits: Tensor, places: list[Place]) -> list[Sampled]:
        """Sample one token for each row.

        Args:
            logits: (R, vocab) float32; changed in place.
            places: the R places whose tokens lead up to these logits.
        Raises:
            LogitsNotFiniteError: a row has NaN or infinity, or every token is forbidden.
        """
        logprobs = _logprobs_wanted(logits, places)
        self._adjust(logits, places)
        largest, tokens = logits.max(dim=-1)
        _check_finite(largest, places)
        drawn = [i for i, place in enumerate(places) if not place.sampling.is_greedy]
        if drawn:
            rows = logits if len(drawn) == len(places) else logits[drawn]
            tokens[drawn] = self._draw(
                rows,
                [places[i].sampling for i in drawn],
                [uniform(places[i].sampling.seed, places[i].num_output_tokens) for i in drawn],
            )
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


def _check_finite(largest: Tensor, places: list[Place]) -> None:
    """Raises LogitsNotFiniteError for the first row whose largest logit (R,) is no number: the
    largest is NaN wherever one is."""
    for value, place in zip(largest.tolist(), places, strict=True):
        if not math.isfinite(value):
            name = place.request.request_id
            raise LogitsNotFiniteError(f"the largest logit of request {name} is {value}")


def _penalise(logits: Tensor, rows: list[int], places: list[Place]) -> None:
    """Repetition penalty on prompt and output, presence and frequency on the output.

    Source: Keskar et al. 2019 (CTRL) for repetition; OpenAI's API for the other two.
    """
    chosen = [places[i] for i in rows]
    values = logits[rows]
    counts = _counts(values, [place.output_token_ids for place in chosen])
    seen = _counts(values, [place.request.prompt_token_ids for place in chosen]) + counts > 0
    repetition = _column(values, [place.sampling.repetition_penalty for place in chosen])
    repetition = repetition.clamp(1 / _MAX_REPETITION, _MAX_REPETITION)
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
