"""Those who ask, in arrays: a person each, with one conversation and one request at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HOMES = 4
"""So many last replicas of a conversation are remembered: a policy that sends its turns anywhere
comes back to one of them now and then, where there are few."""


class Seats:
    """An array for each thing that is known of them.

    Attributes:
        conversation: a number that no other conversation had.
        system: tokens of the prompt that all conversations share.
        prompt, answer: tokens of the request; an answer that goes on elsewhere is the rest.
        homes: the replicas of its last turns, -1: none. Each has `kept` tokens of it cached, until
            `kept_until` of the replica's tokens were taken.
        gateway: the process that has taken its request.
        replica: where the request is; -1: nowhere.
        ends_at_step: of its replica; infinite until its prompt is computed.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.conversation = np.arange(count, dtype=np.int64)
        self.plan = np.zeros(count, np.int64)
        self.organization = np.zeros(count, np.int64)
        self.asks_at = np.full(count, np.inf)
        self.arrived = np.zeros(count)
        self.system = np.zeros(count)
        self.prompt = np.zeros(count)
        self.answer = np.zeros(count)
        self.homes = np.full((count, HOMES), -1, np.int64)
        self.kept = np.zeros((count, HOMES))
        self.kept_until = np.zeros((count, HOMES))
        self._newest = np.zeros(count, np.int64)
        self.gateway = np.zeros(count, np.int64)
        self.replica = np.full(count, -1, np.int64)
        self.first_at = np.zeros(count)
        self.has_begun = np.zeros(count, bool)
        """Its first token is delivered."""
        self.ends_at_step = np.full(count, np.inf)

    def cached(self, who: NDArray[np.int64], taken: NDArray[np.float64]) -> NDArray[np.float64]:
        """Tokens that each of its homes still has, where replicas have `taken` so many in all."""
        homes = self.homes[who]
        there = (homes >= 0) & (taken[homes] <= self.kept_until[who])
        return np.where(there, self.kept[who], 0.0)

    def settle(self, who: NDArray[np.int64]) -> None:
        """Their requests are at `replica`: it is a home from now on, in place of the oldest."""
        known = self.homes[who] == self.replica[who][:, None]
        column = np.where(known.any(axis=1), known.argmax(axis=1), (self._newest[who] + 1) % HOMES)
        self._newest[who] = column
        new = who[~known.any(axis=1)]
        at = self._newest[new]
        self.homes[new, at] = self.replica[new]
        self.kept[new, at] = 0.0

    def keep(self, who: NDArray[np.int64], until: NDArray[np.float64]) -> None:
        """Their requests are over: what was computed is kept at the home that they were at."""
        at = self._newest[who]
        self.kept[who, at] = self.prompt[who] + self.answer[who] - 1
        self.kept_until[who, at] = until

    def begin_anew(self, who: NDArray[np.int64]) -> None:
        """Another conversation: nothing of it is anywhere."""
        self.homes[who] = -1
        self.kept[who] = 0.0
