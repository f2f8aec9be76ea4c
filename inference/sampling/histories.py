"""How often each token has come in a request, counted as it comes: a step costs what is new, and
penalties touch the tokens that have come, not the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from inference.core import Request

_FIRST_ROOM = 64


@dataclass
class _History:
    """Invariant: the first `len(places)` of both arrays are of the tokens of `places`."""

    ids: NDArray[np.int64]
    counts: NDArray[np.float32]
    """In the answer, and in what the prompt has of it, where that is continued."""
    places: dict[int, int]
    """Of each token that has come, in the arrays."""
    counted: int
    """Of the request's tokens."""

    def add(self, token_ids: Iterable[int], times: int) -> None:
        """These tokens have come, and count so many times each."""
        for token in token_ids:
            place = self.places.setdefault(token, len(self.places))
            if place == len(self.ids):
                self.ids = np.concatenate((self.ids, np.zeros_like(self.ids)))
                self.counts = np.concatenate((self.counts, np.zeros_like(self.counts)))
            self.ids[place] = token
            self.counts[place] += times

    def copy(self) -> _History:
        return _History(self.ids.copy(), self.counts.copy(), dict(self.places), self.counted)


class Histories:
    """Counts of requests with penalties; a request's go with it."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Request, _History] = WeakKeyDictionary()

    def counts(
        self, request: Request, draft: tuple[int, ...] = ()
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The distinct tokens of prompt and answer, and how often each is in the answer so far.

        Args:
            draft: tokens after those that the request knows.
        """
        history = self._known.get(request)
        if history is None:
            history = self._known[request] = _begin(request)
        if new := request.token_ids[history.counted :]:
            history.add(new, times=1)
            history.counted += len(new)
        if draft:
            history = history.copy()
            history.add(draft, times=1)
        num = len(history.places)
        return history.ids[:num], history.counts[:num]


def _begin(request: Request) -> _History:
    prompt, room = request.prompt_token_ids, _FIRST_ROOM
    history = _History(np.zeros(room, np.int64), np.zeros(room, np.float32), {}, len(prompt))
    history.add(prompt, times=0)
    history.add(prompt[len(prompt) - request.sampling.continued_tokens :], times=1)
    return history
