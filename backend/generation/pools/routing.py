"""Which replica a generation goes to: one function a policy, one line in `POLICIES`.

A pool names its policy in pools.toml (`routing`). The caller has left out replicas that are
unhealthy, full or have failed this generation, so a policy only chooses.
"""

import itertools
import random
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Protocol, TypeVar

from backend.generation.pools.prefixes import BLOCK_BYTES, Prefix, PrefixIndex

# A conversation stays with "its" replica, whose prefix cache knows it, until that one has so
# many more generations than the least loaded: then waiting would cost more than prefilling.
AFFINITY_SLACK = 2
# So many bytes of cached prompt are worth waiting behind one generation more.
BYTES_WORTH_A_WAIT = 8_192


class Candidate(Protocol):
    """A replica as a policy sees it.

    Attributes:
        load: choices that run or wait there, of all web processes as far as is known.
        is_tight: it has too few free blocks for a further prompt.
    """

    @property
    def name(self) -> str: ...

    @property
    def load(self) -> int: ...

    @property
    def is_tight(self) -> bool: ...


Chosen = TypeVar("Chosen", bound=Candidate)
Policy = Callable[[Sequence[Chosen], Prefix | None, PrefixIndex], Chosen]


def least_loaded(candidates: Sequence[Chosen], prefix: Prefix | None, _: PrefixIndex) -> Chosen:
    """The one with the fewest choices running, whatever the prompt."""
    return min(candidates, key=lambda replica: replica.load)


def by_affinity(candidates: Sequence[Chosen], prefix: Prefix | None, index: PrefixIndex) -> Chosen:
    """The one that the conversation points to where that costs nothing, else the least loaded.

    Source: highest random weight (rendezvous) hashing, Thaler and Ravishankar 1998: when replicas
    come and go, only their own conversations move.
    """
    least = least_loaded(candidates, prefix, index)
    if prefix is None:
        return least
    home = max(candidates, key=lambda replica: _weight(prefix.root, replica.name))
    return home if home.load <= least.load + AFFINITY_SLACK else least


def by_prefix(candidates: Sequence[Chosen], prefix: Prefix | None, index: PrefixIndex) -> Chosen:
    """Where the conversation was, as long as its cached prompt is worth the wait there; else the
    less loaded of two.

    What many conversations share (a system prompt) draws none of them anywhere: each replica soon
    has it. The two are those that the conversation points to, and of equal ones the first, so that
    web processes which have not heard of each other's placements yet choose alike.

    Source: Mitzenmacher 2001, "The power of two choices in randomized load balancing"; Preble
    (Srivatsa et al. 2024), "Exploit what is cached, or explore".
    """
    pair = _two(candidates, prefix)
    if prefix is None:
        return min(pair, key=_pressure)

    def cached(replica: Chosen) -> int:
        return index.matched(replica.name, prefix.blocks)

    other = min(pair, key=_pressure)
    homes = [replica for replica in candidates if index.holds(replica.name, prefix.root)]
    if not homes:
        return other
    home = max(homes, key=lambda replica: (not replica.is_tight, cached(replica), -replica.load))
    saved = max(0, cached(home) - cached(other)) * BLOCK_BYTES
    worth = AFFINITY_SLACK + saved // BYTES_WORTH_A_WAIT
    return home if home.load <= other.load + worth else other


_turn = itertools.count()


def in_turn(candidates: Sequence[Chosen], prefix: Prefix | None, _: PrefixIndex) -> Chosen:
    """One after the other, whatever their load."""
    return candidates[next(_turn) % len(candidates)]


def at_random(candidates: Sequence[Chosen], prefix: Prefix | None, _: PrefixIndex) -> Chosen:
    return random.choice(candidates)  # noqa: S311 - for balance, not for secrets


POLICIES: dict[str, Policy] = {
    "prefix": by_prefix,
    "affinity": by_affinity,
    "least_loaded": least_loaded,
    "round_robin": in_turn,
    "random": at_random,
}


def _pressure(replica: Candidate) -> tuple[bool, int]:
    return replica.is_tight, replica.load


def _two(candidates: Sequence[Chosen], prefix: Prefix | None) -> list[Chosen]:
    """Two of the candidates, or the only one: by the conversation, or by chance."""
    if len(candidates) <= 2:
        return list(candidates)
    if prefix is None:
        return random.sample(candidates, 2)
    ranked = sorted(candidates, key=lambda one: _weight(prefix.root, one.name), reverse=True)
    return ranked[:2]


def _weight(key: bytes, name: str) -> bytes:
    return blake2b(key + b"\0" + name.encode(), digest_size=8).digest()
