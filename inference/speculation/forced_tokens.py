"""Draft tokens from a grammar, where it leaves no choice: the names of a schema, most of a call.

They are right but for how the last of them is split, so they are drafted whatever the load is: each
is a row that a later step had to compute. Source: SGLang's jump-forward decoding, llguidance's
fast-forward tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inference.core import Request


class ForcedTokens:
    """A `Proposer`, for requests that follow a grammar."""

    def __init__(self, forced: Callable[[Sequence[tuple[Request, int]]], list[list[int]]]) -> None:
        """`forced`: asks the requests' matchers."""
        self._forced = forced

    def propose(self, asked: Sequence[tuple[Request, int]]) -> list[list[int]]:
        """For each request at most so many tokens that must follow its known ones."""
        return self._forced(asked)
