"""Routing policies: which of the replicas that can take a generation gets it."""

from dataclasses import dataclass

import pytest

from backend.generation.pools.routing import AFFINITY_SLACK, POLICIES, by_affinity, least_loaded


@dataclass
class StubReplica:
    name: str
    outstanding: int = 0


def replicas(*outstanding: int) -> list[StubReplica]:
    return [StubReplica(f"replica-{n}", load) for n, load in enumerate(outstanding)]


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_every_policy_chooses_one_of_the_candidates(policy):
    candidates = replicas(3, 1, 2)
    for affinity in (None, "a", "b"):
        assert policy(candidates, affinity) in candidates


def test_least_loaded_ignores_affinity():
    candidates = replicas(3, 1, 2)
    assert {least_loaded(candidates, key).name for key in ("a", "b", "c")} == {"replica-1"}


def test_affinity_keeps_a_conversation_at_its_replica_within_the_slack():
    home = by_affinity(replicas(0, 0, 0), "conversation")
    loads = [AFFINITY_SLACK if c.name == home.name else 0 for c in replicas(0, 0, 0)]
    assert by_affinity(replicas(*loads), "conversation").name == home.name
    loads = [load + (load > 0) for load in loads]
    assert by_affinity(replicas(*loads), "conversation").name != home.name


def test_affinity_moves_only_conversations_of_a_removed_replica():
    before = {key: by_affinity(replicas(0, 0, 0, 0), key).name for key in map(str, range(200))}
    left = replicas(0, 0, 0, 0)[:-1]
    for key, home in before.items():
        if home != "replica-3":
            assert by_affinity(left, key).name == home
