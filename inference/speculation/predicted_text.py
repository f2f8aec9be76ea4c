"""Draft tokens from a text that the client expects: most of a file that is to be edited, say.

Source: OpenAI's API, "predicted outputs".
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from inference.core import Request

MAX_RUN, MIN_RUN = 4, 2
"""Tokens that must be the same where the answer has left the text and comes back to it."""


class PredictedText:
    """A `Proposer`, for requests that bring such a text."""

    def __init__(self) -> None:
        self._places: WeakKeyDictionary[Request, _Place] = WeakKeyDictionary()

    def propose(self, asked: Sequence[tuple[Request, int]]) -> list[list[int]]:
        """For each request at most so many tokens that may follow its known ones."""
        return [self._draft(request, count) for request, count in asked]

    def _draft(self, request: Request, count: int) -> list[int]:
        if not request.predicted_token_ids:
            return []
        place = self._places.setdefault(request, _Place(request.predicted_token_ids))
        at = place.follow(request.token_ids, len(request.prompt_token_ids))
        return [] if at is None else request.predicted_token_ids[at : at + count]


class _Place:
    """Where in its predicted text an answer is."""

    def __init__(self, predicted: list[int]) -> None:
        self._predicted = predicted
        self._after: dict[tuple[int, ...], int] = {}
        self._at: int | None = 0
        self._read = 0
        """So many of the answer's tokens."""
        for end in range(MIN_RUN, len(predicted)):
            for size in range(MIN_RUN, min(MAX_RUN, end) + 1):
                self._after.setdefault(tuple(predicted[end - size : end]), end)

    def follow(self, token_ids: list[int], prompt_tokens: int) -> int | None:
        """Where the text goes on after the known tokens; None where it does not say."""
        answer = len(token_ids) - prompt_tokens
        for token in token_ids[prompt_tokens + self._read :]:
            at = self._at
            fits = at is not None and at < len(self._predicted) and self._predicted[at] == token
            self._at = at + 1 if fits and at is not None else None
        self._read = answer
        if self._at is None:
            self._at = self._found_again(token_ids)
        return self._at

    def _found_again(self, token_ids: list[int]) -> int | None:
        runs = (tuple(token_ids[-size:]) for size in range(MAX_RUN, MIN_RUN - 1, -1))
        return next((self._after[run] for run in runs if run in self._after), None)
