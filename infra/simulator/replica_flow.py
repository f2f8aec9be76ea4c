"""The fleet level's replicas: what all of them do in an interval, in closed form.

Between two events a replica's batch is constant, so nothing needs to be stepped:

- Steps take `base(decode requests) + context x a`, and prompt tokens add their own time on top. So
  in `dt` seconds, of which `c` went into prompt tokens, a replica makes (dt - c) / step steps, and
  each request that decodes there has got as many tokens. Each replica counts its steps; a request
  ends when the count has gone up by its answer's tokens.
- Prompts are computed first come, first served, in groups: those that wait together share steps.
  A group of `x` tokens takes ceil(x / chunk) steps and the tokens' own time, where `chunk` is what
  `inference/scheduler/prefill_budget.py` allows beside the requests that decode.
- A conversation is cached where it last ran until as many blocks have been taken there as were free
  when it ended (least recently used; Che et al. 2002, "Hierarchical web caching systems").

What it leaves out of the scheduler: preemption (`overfull` counts how often memory would have made
one), and prefixes that are evicted in part. tests/infra/simulator compares it
with the exact level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inference.config import SchedulerConfig
from inference.scheduler.prefill_budget import (
    ITL_TARGET_S,
    LONG_PREFILL_TOKENS,
    MIN_LONG_PREFILL_TOKENS,
    MIN_PREFILL_TOKENS,
)
from infra.simulator.seats import Seats
from infra.simulator.step_times import Floats, StepTimes

Ints = NDArray[np.int64]


class ReplicaFlow:
    """All replicas of a fleet, an array for each thing that is known of them.

    Attributes:
        held: requests that are there, `decoding` of them beyond their first token.
        steps: that each has made so far; `per_s` now.
        free_at: when the prompts that wait there now are computed.
        context: tokens of the requests that decode.
        taken: blocks' tokens that were ever taken, for the cache's age.
    """

    def __init__(
        self, times: StepTimes, scheduler: SchedulerConfig, count: int, chance: np.random.Generator
    ) -> None:
        self.times = times
        self.count = count
        self._scheduler = scheduler
        self._chance = chance
        self.held = np.zeros(count, np.int64)
        self.decoding = np.zeros(count, np.int64)
        self.steps = np.zeros(count)
        self.per_s = np.zeros(count)
        self.context = np.zeros(count)
        self.reserved = np.zeros(count)
        self.taken = np.zeros(count)
        self.free_at = np.zeros(count)
        self.busy_s = np.zeros(count)
        self.overfull = 0.0
        self._before = np.zeros(count)
        """Of the requests that decode: their prompts, less the steps made when each began."""
        self._owed_s = np.zeros(count)
        self._group_at = np.zeros(count)
        self._group_tokens = np.zeros(count)
        self._step_s = times.decode_s(self.decoding, self.context)

    def prefill(
        self, seats: Seats, who: Ints, at: Floats, computed: Floats, cached: Floats
    ) -> None:
        """Requests of `who` come to their replicas at `at`, in this order, with `computed` prompt
        tokens to be computed after `cached` ones: sets when each has its first token."""
        where = seats.replica[who]
        np.add.at(self.held, where, 1)
        np.add.at(self.taken, where, computed + seats.answer[who])
        np.add.at(self.reserved, where, seats.prompt[who] + seats.answer[who])
        cost_s = self.times.prefill_s(computed, cached)
        left = np.arange(len(who))
        while left.size:  # those of one replica come one after the other
            first = np.unique(where[left], return_index=True)[1]
            now = left[first]
            seats.first_at[who[now]] = self._join(where[now], at[now], computed[now], cost_s[now])
            left = np.delete(left, first)

    def _join(self, where: Ints, at: Floats, tokens: Floats, cost_s: Floats) -> Floats:
        """One request for each of different replicas; when its prompt is computed."""
        step_s, chunk = self._step_s[where], self._chunk(where, tokens)
        waits = at < self._group_at[where]
        before = np.where(waits, self._group_tokens[where], 0.0)
        steps = np.ceil((before + tokens) / chunk)
        steps -= np.where(waits, np.ceil(before / chunk), 0.0)
        idle = (self.decoding[where] == 0) & (self.free_at[where] <= at)
        boundary = np.where(idle, 0.0, self._chance.random(len(where)) * step_s)
        begins = np.where(
            waits, self.free_at[where], np.maximum(at + boundary, self.free_at[where])
        )
        done = begins + steps * step_s + cost_s
        self._group_at[where] = np.where(waits, self._group_at[where], begins)
        self._group_tokens[where] = before + tokens
        self.free_at[where] = done
        self._owed_s[where] += cost_s
        return np.asarray(done, float)

    def _chunk(self, where: Ints, left: Floats) -> Floats:
        """Prompt tokens of a step beside the decode requests: PrefillBudget, in closed form."""
        limits = self._scheduler
        decode_s, decoding = self._step_s[where], self.decoding[where]
        allowed_s = np.maximum(decode_s * limits.mixed_step_slowdown, ITL_TARGET_S) - decode_s
        least = np.where(left < LONG_PREFILL_TOKENS, MIN_PREFILL_TOKENS, MIN_LONG_PREFILL_TOKENS)
        beside = np.maximum(least, allowed_s / self.times.prompt_s)
        beside = np.minimum(beside, limits.mixed_step_tokens - decoding)
        return np.where(decoding > 0, np.maximum(beside, 1), limits.max_num_batched_tokens)

    def advance(self, begin: float, end: float) -> None:
        """All replicas compute from `begin` to `end`."""
        span = end - begin
        waiting_s = self.free_at - begin
        part = np.where(waiting_s > span, span / np.maximum(waiting_s, span), 1.0)
        prompts_s = np.minimum(self._owed_s * part, span)
        self._owed_s -= prompts_s
        self.per_s = np.where(self.decoding > 0, (span - prompts_s) / span / self._step_s, 0.0)
        made = self.per_s * span
        self.steps += made
        self.busy_s += np.where(
            self.decoding > 0, span, np.minimum(span, np.maximum(waiting_s, 0.0))
        )
        self.overfull += span * float((self.reserved > self.times.kv_tokens).sum())

    def begin_decoding(self, seats: Seats, who: Ints, end: float) -> None:
        """The prompts of `who` were computed by `end`: from then on they decode."""
        where = seats.replica[who]
        np.add.at(self.decoding, where, 1)
        rate = np.where(self.per_s[where] > 0, self.per_s[where], 1 / self._step_s[where])
        at = self.steps[where] - (end - seats.first_at[who]) * rate
        seats.ends_at_step[who] = at + seats.answer[who] - 1
        np.add.at(self._before, where, _before(seats, who))

    def end(self, seats: Seats, who: Ints) -> None:
        """The requests of `who` are over; what they computed stays cached for a while."""
        where = seats.replica[who]
        tokens = seats.prompt[who] + seats.answer[who]
        np.subtract.at(self.held, where, 1)
        np.subtract.at(self.decoding, where, 1)
        np.subtract.at(self._before, where, _before(seats, who))
        np.subtract.at(self.reserved, where, tokens)
        free = self.times.kv_tokens - self.reserved[where]
        seats.keep(who, self.taken[where] + np.maximum(0.0, free - tokens))

    def note_batches(self) -> None:
        """After changes: what a step takes now."""
        self.context = np.maximum(0.0, self._before + self.decoding * self.steps)
        self._step_s = self.times.decode_s(self.decoding, self.context)

    def clear(self, which: NDArray[np.bool_], now: float) -> None:
        """Replicas have lost everything."""
        for counts in (self.held, self.decoding):
            counts[which] = 0
        for amounts in (self._before, self.reserved, self._owed_s, self._group_tokens):
            amounts[which] = 0.0
        self.free_at[which] = now
        self._group_at[which] = 0.0
        self.taken[which] += 1e12  # nothing is cached any more

    def is_tight(self) -> NDArray[np.bool_]:
        """Less than a twentieth of its blocks is free, as `Replica.is_tight`."""
        return self.context > 0.95 * self.times.kv_tokens


def _before(seats: Seats, who: Ints) -> Floats:
    """What each adds to its replica's `_before`."""
    return np.asarray(seats.prompt[who] + seats.answer[who] - 1 - seats.ends_at_step[who], float)
