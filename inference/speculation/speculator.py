"""Speculative decoding: draft some next tokens cheaply, verify them all in one step.

A draft never changes what is generated. The step computes the logits after every draft
token, the sampler samples each position's token as it would without (same logits, same
random number), and draft tokens count only as far as they equal what was sampled. So the
output is that of plain decoding, for greedy and for sampled requests, seed by seed; a
draft token that is right saves a step, a wrong one costs a little time.

How many tokens are drafted adapts to how many were right, request by request, and to
load: all rows of a step together stay within `max_rows`, beyond which a row costs as
much as it may save. What a grammar forces is right, and drafted whatever the load is.

Sources: Leviathan et al. 2023 and Chen et al. 2023 (verification of a draft in one
pass); Saxena 2023 (prompt lookup). docs/decisions/0090 says why tokens are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakKeyDictionary, WeakSet

from inference.config import SpeculationConfig
from inference.core import Request
from inference.speculation.forced_tokens import ForcedTokens
from inference.speculation.predicted_text import PredictedText

_FIRST_LENGTH = 3
_FORCED_ROWS = 32
"""Tokens that grammars force, of all requests of a step: it must not take long for the others."""
MAX_PAUSE_STEPS = 32
"""After so many a request whose draft was wrong gets another."""


class Proposer(Protocol):
    """Where draft tokens come from."""

    def propose(self, asked: Sequence[tuple[Request, int]]) -> list[list[int]]:
        """For each request at most so many tokens that may follow its known ones."""
        ...


@dataclass
class DraftState:
    """How many tokens one request gets drafted, and for how many steps it gets none."""

    length: int
    pause: int = 0
    misses: int = 0


class Speculator:
    """Decides which requests get a draft and how long; counts what came of it."""

    def __init__(
        self, config: SpeculationConfig, proposers: Sequence[Proposer], max_model_len: int
    ) -> None:
        """`proposers` are asked in order, each for the requests still without a draft."""
        self._config = config
        self._forcing = next((p for p in proposers if isinstance(p, ForcedTokens)), None)
        self._proposers = [p for p in proposers if p is not self._forcing]
        self._max_model_len = max_model_len
        self._states: WeakKeyDictionary[Request, DraftState] = WeakKeyDictionary()
        self._predicted: WeakSet[Request] = WeakSet()
        """Whose draft is of the text that its client expects."""
        self._forced: WeakSet[Request] = WeakSet()
        """Whose draft is what a grammar forces."""
        self.num_drafts = 0
        self.draft_tokens = 0
        self.accepted_per_position = [0] * config.max_tokens

    @property
    def accepted_tokens(self) -> int:
        return sum(self.accepted_per_position)

    def drafts(self, running: Sequence[Request]) -> dict[str, list[int]]:
        """Drafts for the next step by request id; requests without one are left out."""
        decoding = [
            r for r in running if r.num_output_tokens and r.num_tokens - r.num_computed == 1
        ]
        self._predicted.clear()
        found = self._forced_drafts(decoding)
        rows = self._config.max_rows - sum(map(len, found.values()))
        share = rows // max(len(decoding), 1) - 1
        # Prompts being computed are worth more than drafts, and make steps long anyway.
        if not self._proposers or share < 1 or len(decoding) < len(running):
            return found
        asked = [
            (request, length)
            for request in decoding
            if request not in self._forced and (length := min(share, self._length(request))) > 0
        ]
        for proposer in self._proposers:
            asked = [(r, length) for r, length in asked if r.request_id not in found]
            if not asked:
                break
            for (request, length), tokens in zip(asked, proposer.propose(asked), strict=True):
                if tokens:
                    found[request.request_id] = tokens[:length]
                    if isinstance(proposer, PredictedText):
                        self._predicted.add(request)
        return found

    def _forced_drafts(self, decoding: Sequence[Request]) -> dict[str, list[int]]:
        """What grammars force, by request id."""
        self._forced.clear()
        held = [request for request in decoding if request.sampling.grammar]
        share = min(self._config.max_tokens, _FORCED_ROWS // max(len(held), 1))
        asked = [(r, length) for r in held if (length := min(share, self._room(r))) > 0]
        if self._forcing is None or not asked:
            return {}
        drafts = zip(asked, self._forcing.propose(asked), strict=True)
        found = {request: tokens for (request, _), tokens in drafts if tokens}
        self._forced.update(found)
        return {request.request_id: tokens for request, tokens in found.items()}

    def switch_off(self) -> None:
        self._proposers, self._forcing = [], None

    def verified(self, request: Request, drafted: int, accepted: int) -> None:
        """Take note that `accepted` of `drafted` tokens were right."""
        self.num_drafts += 1
        if request in self._predicted:
            request.predicted_right += accepted
            request.predicted_wrong += drafted - accepted
        self.draft_tokens += drafted
        for position in range(accepted):
            self.accepted_per_position[position] += 1
        if request in self._forced:
            return  # it tells nothing about other drafts
        state = self._state(request)
        if accepted == 0:
            state.misses += 1
            state.pause = min(2**state.misses, MAX_PAUSE_STEPS) - 1
            state.length = 1
        else:
            state.misses = 0
            state.length = accepted if accepted < drafted else state.length + 2
        state.length = max(1, min(state.length, self._config.max_tokens))

    def _length(self, request: Request) -> int:
        """How many tokens may be drafted now; a step with none shortens the pause."""
        state = self._state(request)
        if state.pause > 0:
            state.pause -= 1
            return 0
        return min(state.length, self._room(request))

    def _room(self, request: Request) -> int:
        """How many draft tokens can count before the answer, or the context, is full."""
        left = request.sampling.max_tokens - request.num_output_tokens - 1
        return min(left, self._max_model_len - request.num_tokens - 1)

    def _state(self, request: Request) -> DraftState:
        return self._states.setdefault(
            request, DraftState(min(_FIRST_LENGTH, self._config.max_tokens))
        )
