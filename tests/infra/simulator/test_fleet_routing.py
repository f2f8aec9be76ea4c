"""The vectorised policies choose as the gateway's own do."""

import random
from dataclasses import dataclass

import numpy as np
import pytest

from backend.generation.pools.prefixes import BLOCK_BYTES, Prefix, PrefixIndex
from backend.generation.pools.routing import by_prefix, least_loaded
from infra.simulator.fleet_routing import BYTES_PER_TOKEN, Router, hashed

REPLICAS = 6
PLACES = 200


@dataclass
class Candidate:
    name: str
    load: int
    is_tight: bool


def _router(policy: str, replicas: int = REPLICAS, gateways: int = 1) -> Router:
    router = Router(policy, replicas, gateways, np.random.default_rng(1))
    router.note_limits(np.full(replicas, PLACES))
    return router


def _choose(router: Router, loads: list[int], who: int = 1, **changed: np.ndarray) -> list[int]:
    arguments = {
        "held": np.array(loads),
        "able": np.ones(len(loads), bool),
        "tight": np.zeros(len(loads), bool),
        "conversation": np.arange(who),
        "homes": np.full((who, 4), -1),
        "cached": np.zeros((who, 4)),
        "gateway": np.arange(who) % router.gateways,
    } | changed
    return router.choose(**arguments).tolist()


def test_prefix_policy_decides_as_the_gateways_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random loads, memory and caches; the two candidates that a hash points to are given."""
    chance = random.Random(3)
    for number in range(300):
        loads = [chance.randrange(12) for _ in range(REPLICAS)]
        tight = [chance.random() < 0.1 for _ in range(REPLICAS)]
        pair = chance.sample(range(REPLICAS), 2)
        homes = chance.sample(range(REPLICAS), chance.randrange(3))
        # Whole blocks of the gateway's, in which one counts 64 tokens.
        cached = [chance.randrange(1, 200) * BLOCK_BYTES // BYTES_PER_TOKEN for _ in homes]
        index = PrefixIndex()
        blocks = tuple(b"%d" % block for block in range(400))
        for home, tokens in zip(homes, cached, strict=True):
            held = blocks[: tokens * BYTES_PER_TOKEN // BLOCK_BYTES]
            index.note(f"e{home}", Prefix(b"root", held))
        candidates = [Candidate(f"e{n}", loads[n], tight[n]) for n in range(REPLICAS)]
        chosen_two = [candidates[n] for n in pair]
        monkeypatch.setattr("backend.generation.pools.routing._two", lambda *_, two=chosen_two: two)
        expected = by_prefix(candidates, Prefix(b"root", blocks), index).name

        router = _router("prefix")
        two = (np.array(pair[:1]), np.array(pair[1:]))
        monkeypatch.setattr(router, "_two", lambda *_, two=two: two)
        found = _choose(
            router,
            loads,
            tight=np.array(tight),
            homes=np.array([homes + [-1] * (4 - len(homes))]),
            cached=np.array([cached + [0] * (4 - len(homes))], float),
        )
        assert f"e{found[0]}" == expected, number


def test_least_loaded_fills_as_one_after_the_other_would() -> None:
    loads = [3, 0, 1, 5, 0, 2]
    one_by_one = list(loads)
    for _ in range(9):
        candidates = [Candidate(f"{n}", load, False) for n, load in enumerate(one_by_one)]
        one_by_one[int(least_loaded(candidates, None, PrefixIndex()).name)] += 1
    after = np.bincount(_choose(_router("least_loaded"), loads, 9), minlength=6) + loads
    assert after.tolist() == one_by_one


def test_gateways_that_hear_late_send_to_the_same_replica() -> None:
    """Each of 50 chooses the emptiest of what was announced; a hash of the conversation spreads."""
    loads = list(range(100))
    busiest = {}
    for policy in ("least_loaded", "prefix"):
        router = _router(policy, 100, gateways=50)
        router.note_announced(np.array(loads))
        busiest[policy] = max(np.bincount(_choose(router, loads, 100)))
    assert busiest["least_loaded"] > 20 > busiest["prefix"]


def test_turns_go_round_and_leave_out_who_is_not_able() -> None:
    able = np.array([True, False, True, True, False, True])
    found = _choose(_router("round_robin"), [0] * REPLICAS, 40, able=able)
    assert np.bincount(found, minlength=REPLICAS).tolist() == [10, 0, 10, 10, 0, 10]


def test_hash_spreads_evenly() -> None:
    counts = np.bincount(hashed(np.arange(60_000), 7, 60), minlength=60)
    assert counts.min() > 850
    assert counts.max() < 1150


def test_gateway_that_has_its_part_of_a_home_goes_elsewhere() -> None:
    """Of 200 places each of 50 gateways has four, as with `ReplicaSet.places`."""
    router = _router("prefix", gateways=50)
    homes, cached = np.array([[2, -1, -1, -1]]), np.array([[6_400.0, 0, 0, 0]])
    found = []
    for _ in range(5):
        found += _choose(router, [0] * REPLICAS, homes=homes, cached=cached)
        router.sent(np.array([0]), np.array(found[-1:]), 1)
    assert found[:4] == [2, 2, 2, 2]
    assert found[4] != 2
    router.sent(np.array([0]), np.array([2]), -1)
    assert _choose(router, [0] * REPLICAS, homes=homes, cached=cached) == [2]
