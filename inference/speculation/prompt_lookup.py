"""Draft tokens by looking back: what followed the last time these tokens were there.

Rewriting, summarising, quoting and code editing repeat long runs of their prompt, and
any answer may repeat itself. Costs no model. Source: Saxena 2023 (prompt lookup decoding).
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from inference.core import Request

MAX_RUN, MIN_RUN = 4, 2
"""Tokens that must be the same. A longer run says more, so it is looked for first."""


class PromptLookup:
    """A `Proposer`. Keeps an index of each request's own tokens, extended as they come."""

    def __init__(self) -> None:
        self._indexes: WeakKeyDictionary[Request, _Index] = WeakKeyDictionary()

    def propose(self, asked: Sequence[tuple[Request, int]]) -> list[list[int]]:
        """For each request at most so many tokens that may follow its known ones."""
        return [self._indexes.setdefault(r, _Index()).continuation(r, count) for r, count in asked]


class _Index:
    """Where every run of `MIN_RUN` to `MAX_RUN` tokens was last followed by another."""

    def __init__(self) -> None:
        self._after: dict[tuple[int, ...], int] = {}
        self._indexed = 0

    def continuation(self, request: Request, count: int) -> list[int]:
        tokens = request.token_ids
        # A run ends before position `end`; the last one has no continuation yet.
        for end in range(max(self._indexed, MIN_RUN), len(tokens)):
            for size in range(MIN_RUN, min(MAX_RUN, end) + 1):
                self._after[tuple(tokens[end - size : end])] = end
        self._indexed = max(self._indexed, len(tokens))
        for size in range(MAX_RUN, MIN_RUN - 1, -1):
            at = self._after.get(tuple(tokens[-size:]))
            if at is not None:
                return _going_round(tokens[at : at + count], count)
        return []


def _going_round(run: list[int], count: int) -> list[int]:
    """`count` tokens of `run`; one that met the text's own end is taken to begin again."""
    return [run[i % len(run)] for i in range(count)]
