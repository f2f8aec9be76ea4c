"""The routing policies (`backend/generation/pools/routing.py`) for many requests at a time.

The same rules with the same constants; tests/infra/simulator holds them against the real functions.
A gateway knows of a replica what it last announced and what it has itself sent there, whichever is
more: with many gateways that is what was announced, up to a second ago, and all know the same. Each
has its part of a replica's places (`ReplicaSet.places`): where it has taken them it sends nothing
there, though others have theirs free.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from backend.generation.pools.routing import AFFINITY_SLACK, BYTES_WORTH_A_WAIT
from infra.simulator.replica_flow import Ints
from infra.simulator.step_times import Floats

BYTES_PER_TOKEN = 4
_TRIES = 12
_SALT = np.uint64(0x9E3779B97F4A7C15)
Mask = NDArray[np.bool_]


class Router:
    """Chooses replicas by one policy.

    Args:
        gateways: processes that choose, each for itself.
    """

    def __init__(
        self, policy: str, replicas: int, gateways: int, chance: np.random.Generator
    ) -> None:
        policies: dict[str, Callable[[Ints, Mask, Mask, Ints, Ints, Floats, Ints], Ints]] = {
            "prefix": self._by_prefix,
            "least_loaded": self._least_loaded,
            "round_robin": self._in_turn,
            "random": self._at_random,
        }
        self._policy = policies[policy]
        self._count = replicas
        self.gateways = gateways
        self._chance = chance
        self._turns = chance.integers(0, replicas, gateways)
        self.announced = np.zeros(replicas, np.int64)
        self._taken_of_order = np.zeros(gateways, np.int64)
        self._sent = np.zeros((gateways, replicas), np.int32)
        self._share = np.zeros(replicas, np.int64)

    def note_announced(self, held: Ints) -> None:
        """What all replicas have just told."""
        self.announced = held.copy()
        self._taken_of_order[:] = 0

    def sent(self, gateway: Ints, where: Ints, count: int) -> None:
        """Requests of these gateways have come there (1), or ended (-1)."""
        np.add.at(self._sent, (gateway, where), count)

    def note_limits(self, limits: Ints) -> None:
        """How many requests may be at each replica: of a gateway its part."""
        self._share = -(-limits // self.gateways)

    def _is_full(self, gateway: Ints, where: Ints) -> Mask:
        """Whether a gateway has taken its part of a replica's places."""
        return np.asarray(self._sent[gateway, where] >= self._share[where])

    def choose(
        self,
        held: Ints,
        able: Mask,
        tight: Mask,
        conversation: Ints,
        homes: Ints,
        cached: Floats,
        gateway: Ints,
    ) -> Ints:
        """A replica for each request, of those that are `able`; there is at least one.

        Args:
            homes: where its conversation was (a row each); -1: nowhere.
            cached: tokens of it that these have.
        """
        load = held if self.gateways == 1 else self.announced
        chosen = self._policy(load, able, tight, conversation, homes, cached, gateway)
        full = np.flatnonzero(self._is_full(gateway, chosen))
        for _ in range(_TRIES):
            if not len(full):
                break
            again = self._policy(
                load, able, tight, conversation[full], homes[full], cached[full], gateway[full]
            )
            # Who is sent to the same one has no other: a hash says the same however often it is
            # asked, and asking a dozen times was nine tenths of a busy day's run.
            moved = again != chosen[full]
            chosen[full] = again
            full = full[moved]
            full = full[self._is_full(gateway[full], chosen[full])]
        return chosen

    def _by_prefix(
        self,
        load: Ints,
        able: Mask,
        tight: Mask,
        conversation: Ints,
        homes: Ints,
        cached: Floats,
        gateway: Ints,
    ) -> Ints:
        pair = self._two(conversation, able, gateway)
        pressure = tight * 1_000_000 + load
        other = np.where(pressure[pair[0]] <= pressure[pair[1]], pair[0], pair[1])
        usable = (homes >= 0) & able[homes] & ~self._is_full(gateway[:, None], homes)
        worth_of = np.where(usable, cached - tight[homes] * 1e9 - load[homes] * 1e-6, -np.inf)
        rows = np.arange(len(conversation))
        best = worth_of.argmax(axis=1)
        home = np.where(usable[rows, best], homes[rows, best], other)
        at_other = np.where(homes == other[:, None], cached, 0.0).max(axis=1)
        saved = np.maximum(0.0, cached[rows, best] - at_other) * BYTES_PER_TOKEN
        worth = AFFINITY_SLACK + saved // BYTES_WORTH_A_WAIT
        return np.where(load[home] <= load[other] + worth, home, other)

    def _least_loaded(
        self,
        load: Ints,
        able: Mask,
        tight: Mask,
        conversation: Ints,
        homes: Ints,
        cached: Floats,
        gateway: Ints,
    ) -> Ints:
        who = len(conversation)
        candidates = np.flatnonzero(able)
        if self.gateways > 1:
            # Each goes down the list that all have, until it hears of loads again.
            order = candidates[np.argsort(load[candidates], kind="stable")]
            return order[self._next_of(gateway, self._taken_of_order) % len(order)]
        level = load[candidates].astype(float)
        chosen: list[Ints] = []
        while who > 0:
            lowest = np.flatnonzero(level == level.min())[:who]
            chosen.append(candidates[lowest])
            level[lowest] += 1
            who -= len(lowest)
        return np.concatenate(chosen) if chosen else np.zeros(0, np.int64)

    def _in_turn(
        self,
        load: Ints,
        able: Mask,
        tight: Mask,
        conversation: Ints,
        homes: Ints,
        cached: Floats,
        gateway: Ints,
    ) -> Ints:
        candidates = np.flatnonzero(able)
        return candidates[self._next_of(gateway, self._turns) % len(candidates)]

    def _at_random(
        self, load: Ints, able: Mask, tight: Mask, conversation: Ints, *_: object
    ) -> Ints:
        return self._chance.choice(np.flatnonzero(able), len(conversation))

    def _next_of(self, gateway: Ints, turns: Ints) -> Ints:
        """The next number of each gateway's counter, which goes on."""
        order = np.argsort(gateway, kind="stable")
        counts = np.bincount(gateway, minlength=len(turns))
        begins = np.cumsum(counts) - counts
        numbers = np.empty(len(gateway), np.int64)
        numbers[order] = np.arange(len(gateway)) - np.repeat(begins, counts)
        numbers += turns[gateway]
        turns += counts
        return numbers

    def _two(self, conversation: Ints, able: Mask, gateway: Ints) -> tuple[Ints, Ints]:
        """Two able replicas that the conversation points to, whoever asks."""
        first = self._pointed(conversation, able, gateway, 1, None)
        return first, self._pointed(conversation, able, gateway, 1_000, first)

    def _pointed(
        self, conversation: Ints, able: Mask, gateway: Ints, salt: int, not_: Ints | None
    ) -> Ints:
        chosen = hashed(conversation, salt, self._count)
        bad = np.flatnonzero(~self._fits(chosen, able, gateway, not_))
        if not len(bad):
            return chosen
        # The others of its tries at once: few conversations are asked about at a time, and what a
        # call of numpy costs is the call.
        salts = salt + np.arange(1, _TRIES)
        tries = hashed(conversation[bad][:, None], salts, self._count)
        fits = self._fits(
            tries, able, gateway[bad][:, None], None if not_ is None else not_[bad][:, None]
        )
        fits[:, -1] = True  # the last one has to do
        chosen[bad] = tries[np.arange(len(bad)), fits.argmax(axis=1)]
        unable = ~able[chosen]
        chosen[unable] = self._chance.choice(np.flatnonzero(able), int(unable.sum()))
        return chosen

    def _fits(self, where: Ints, able: Mask, gateway: Ints, not_: Ints | None) -> Mask:
        fits = able[where] & ~self._is_full(gateway, where)
        return fits if not_ is None else fits & (where != not_)


def hashed(numbers: Ints, salt: int | Ints, below: int) -> Ints:
    """As good as random, and always the same. Source: SplitMix64, Steele et al. 2014."""
    mixed = numbers.astype(np.uint64) + np.atleast_1d(salt).astype(np.uint64) * _SALT
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return (mixed % np.uint64(below)).astype(np.int64)
