"""Which replica a generation goes to: one function a policy, one line in `POLICIES`.

A pool names its policy in pools.toml (`routing`). The caller has left out replicas that are
unhealthy, full or have failed this generation, so a policy only chooses.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Protocol, TypeVar

# A conversation stays with "its" replica, whose prefix cache knows it, until that one has so
# many more generations than the least loaded: then waiting would cost more than prefilling.
AFFINITY_SLACK = 2


class Candidate(Protocol):
    """A replica as a policy sees it; `outstanding`: choices that this process runs there."""

    @property
    def name(self) -> str: ...

    @property
    def outstanding(self) -> int: ...


Chosen = TypeVar("Chosen", bound=Candidate)
Policy = Callable[[Sequence[Chosen], str | None], Chosen]


def least_loaded(candidates: Sequence[Chosen], affinity: str | None) -> Chosen:
    """The one with the fewest choices running, whatever the affinity."""
    return min(candidates, key=lambda replica: replica.outstanding)


def by_affinity(candidates: Sequence[Chosen], affinity: str | None) -> Chosen:
    """The one that `affinity` points to where that costs nothing, else the least loaded.

    Source: highest random weight (rendezvous) hashing, Thaler and Ravishankar 1998: when replicas
    come and go, only their own conversations move.
    """
    least = least_loaded(candidates, affinity)
    if affinity is None:
        return least
    home = max(candidates, key=lambda replica: _weight(affinity, replica.name))
    return home if home.outstanding <= least.outstanding + AFFINITY_SLACK else least


POLICIES: dict[str, Policy] = {
    "affinity": by_affinity,
    "least_loaded": least_loaded,
}


def _weight(key: str, name: str) -> bytes:
    return blake2b(f"{key}\0{name}".encode(), digest_size=8).digest()
