"""How often each token has come in a request, counted as it comes: a step costs what is new and
not the whole context, which penalties look back on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from inference.core import Request


@dataclass
class _History:
    counts: Tensor
    """(vocab,) of the answer; what the prompt has of it, where that is continued, too."""
    in_prompt: Tensor
    """(vocab,) whether a token is in the prompt."""
    counted: int
    """Of the request's tokens."""


class Histories:
    """Counts of requests with penalties; a request's go with it."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Request, _History] = WeakKeyDictionary()

    def counts(self, like: Tensor, request: Request, draft: Sequence[int]) -> tuple[Tensor, Tensor]:
        """How often each token is in the answer so far, and whether it is in prompt or answer.

        Args:
            like: (..., vocab), whose device and type counts have.
            draft: tokens after those that the request knows.
        """
        history = self._known.get(request)
        if history is None:
            history = self._known[request] = _begin(like, request)
        new = request.token_ids[history.counted :]
        if new:
            _count(history.counts, new)
            history.counted += len(new)
        counts = history.counts
        if draft:
            counts = counts.clone()
            _count(counts, draft)
        return counts, history.in_prompt | (counts > 0)


def _begin(like: Tensor, request: Request) -> _History:
    prompt = request.prompt_token_ids
    counts = torch.zeros(like.shape[-1], dtype=like.dtype, device=like.device)
    in_prompt = torch.zeros(like.shape[-1], dtype=torch.bool, device=like.device)
    in_prompt[torch.tensor(prompt, device=like.device)] = True
    if continued := request.sampling.continued_tokens:
        _count(counts, prompt[len(prompt) - continued :])
    return _History(counts, in_prompt, len(prompt))


def _count(counts: Tensor, token_ids: Sequence[int]) -> None:
    ids = torch.tensor(token_ids, device=counts.device)
    counts.index_add_(0, ids, torch.ones_like(ids, dtype=counts.dtype))
