"""Choosing the next token of every sequence of a step, vectorised over the rows.

Order: penalties, logit bias, grammar and the minimum length on the logits; greedy rows are done
then. Others are sampled (`row_sampler.py`): temperature, top-k, top-p, min-p, and one uniform
number per row through the inverse of the cumulative distribution. What a row gets depends on its
own parameters, tokens and seed only, never on its neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from inference.core import Request, Sampled, SamplingParams, TokenLogprobs
from inference.errors import LogitsNotFiniteError
from inference.sampling.guide import Guides
from inference.sampling.histories import Histories
from inference.sampling.row_sampler import RowSampler, sample_rows
from inference.sampling.uniform import uniform

_REPETITIONS = (1e-6, 1e6)
"""A stronger repetition penalty gives the same tokens; its quotients may not be finite."""


@dataclass(frozen=True)
class LogitsRow:
    """What a row of logits follows: all tokens that a request knows, and some of its draft."""

    request: Request
    draft: tuple[int, ...] = ()

    @property
    def sampling(self) -> SamplingParams:
        return self.request.sampling

    @property
    def position(self) -> int:
        """In the answer, of the token that these logits choose."""
        return self.sampling.continued_tokens + self.num_output_tokens

    @property
    def num_output_tokens(self) -> int:
        return self.request.num_output_tokens + len(self.draft)


class Sampler:
    def __init__(
        self,
        eos_token_ids: frozenset[int],
        guides: Guides | None = None,
        sample: RowSampler = sample_rows,
    ) -> None:
        self._eos = sorted(eos_token_ids)
        self._guides = guides
        self._sample = sample
        self._histories = Histories()

    def prepare(self, rows: Sequence[LogitsRow]) -> None:
        """Begin what does not need the logits of these rows; before they are computed."""
        if self._guides is not None:
            self._guides.prepare([(row.request, row.draft) for row in rows if row.sampling.grammar])

    def __call__(self, logits: Tensor, rows: list[LogitsRow]) -> list[Sampled]:
        """Sample one token for each row.

        Args:
            logits: (R, vocab) float32; changed in place.
            rows: what each row follows, as they were prepared.
        Raises:
            LogitsNotFiniteError: a row has NaN or infinity, or every token is forbidden.
        """
        logprobs = _logprobs_wanted(logits, rows)
        self._adjust(logits, rows)
        largest, tokens = logits.max(dim=-1)
        _check_finite(largest, rows)
        random = [i for i, row in enumerate(rows) if not row.sampling.is_greedy]
        if random:
            tokens[random] = self._sample(
                logits if len(random) == len(rows) else logits[random],
                [rows[i].sampling for i in random],
                [uniform(rows[i].sampling.seed, rows[i].position) for i in random],
            )
        chosen = tokens.tolist()
        return [
            Sampled(token, _token_logprobs(logprobs[i], token, row) if i in logprobs else None)
            for i, (token, row) in enumerate(zip(chosen, rows, strict=True))
        ]

    def _adjust(self, logits: Tensor, rows: list[LogitsRow]) -> None:
        """Bias, penalties and minimum length, in place."""
        penalised = [i for i, row in enumerate(rows) if row.sampling.has_penalties]
        if penalised:
            _penalise(logits, penalised, rows, self._histories)
        if self._guides is not None:
            held = [index for index, row in enumerate(rows) if row.sampling.grammar]
            self._guides.restrict(logits, held)
        for index, row in enumerate(rows):
            sampling = row.sampling
            if sampling.logit_bias:
                tokens = torch.tensor(list(sampling.logit_bias), device=logits.device)
                bias = torch.tensor(list(sampling.logit_bias.values()), device=logits.device)
                logits[index].index_add_(0, tokens, bias.to(logits.dtype))
            if row.num_output_tokens < sampling.min_tokens:
                logits[index, self._eos + list(sampling.stop_token_ids)] = -torch.inf


def _check_finite(largest: Tensor, rows: list[LogitsRow]) -> None:
    """Raises LogitsNotFiniteError for the first row whose largest logit (R,) is no number: the
    largest is NaN wherever one is."""
    for value, row in zip(largest.tolist(), rows, strict=True):
        if not math.isfinite(value):
            name = row.request.request_id
            raise LogitsNotFiniteError(f"the largest logit of request {name} is {value}")


def _penalise(
    logits: Tensor, indices: list[int], rows: list[LogitsRow], histories: Histories
) -> None:
    """Repetition penalty on prompt and output, presence and frequency on the output.

    Source: Keskar et al. 2019 (CTRL) for repetition; OpenAI's API for the other two.
    """
    found = [histories.counts(rows[i].request, rows[i].draft) for i in indices]
    lengths = [len(ids) for ids, _ in found]
    at = np.repeat(indices, lengths), np.concatenate([ids for ids, _ in found])
    row_ids, token_ids = (torch.from_numpy(each).to(logits.device) for each in at)
    sampling = [rows[i].sampling for i in indices]

    def of_each_token(values: list[float]) -> Tensor:
        return torch.from_numpy(np.repeat(np.array(values, np.float32), lengths)).to(logits.device)

    repetition = np.clip([each.repetition_penalty for each in sampling], *_REPETITIONS)
    factors = of_each_token(repetition.tolist())
    values = logits[row_ids, token_ids]
    values = torch.where(values > 0, values / factors, values * factors)
    if any(each.frequency_penalty or each.presence_penalty for each in sampling):
        counts = torch.from_numpy(np.concatenate([each for _, each in found])).to(logits.device)
        values -= counts * of_each_token([each.frequency_penalty for each in sampling])
        values -= (counts > 0) * of_each_token([each.presence_penalty for each in sampling])
    logits[row_ids, token_ids] = values


def _logprobs_wanted(logits: Tensor, rows: list[LogitsRow]) -> dict[int, Tensor]:
    """Log-softmax rows, before any adjustment, of the requests that asked for them."""
    wanted = [i for i, row in enumerate(rows) if row.sampling.logprobs is not None]
    if not wanted:
        return {}
    return dict(zip(wanted, logits[wanted].log_softmax(dim=-1), strict=True))


def _token_logprobs(logprobs: Tensor, token: int, row: LogitsRow) -> TokenLogprobs:
    values, ids = logprobs.topk(row.sampling.logprobs or 0)
    return TokenLogprobs(float(logprobs[token]), ids.tolist(), values.tolist())


def accepted(draft: Sequence[int], sampled: Sequence[Sampled]) -> list[Sampled]:
    """The sampled tokens that hold: one more than the draft has right tokens.

    Row i of a draft's logits is the model's distribution if the draft's first i tokens are right,
    and `sampled[i]` was sampled from it with the position's own random number. A draft token is
    right if it is the token that was sampled: a draft is given, not random, so rejection sampling
    accepts it with just this probability, its share of the distribution, and replaces a rejected
    one by a sample from the rest; comparing does both at once. Since the sampled token depends on
    the seed and the position only, it is the one that plain decoding gives.
    Source: Leviathan et al. 2023, algorithm 1, for a proposal that is one certain token.

    Args:
        sampled: one more than the draft has tokens.
    """
    right = 0
    while right < len(draft) and sampled[right].token_id == draft[right]:
        right += 1
    return list(sampled[: right + 1])
