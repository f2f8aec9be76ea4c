"""Routing policies: which of the replicas that can take a generation gets it."""

import random
from collections import Counter
from dataclasses import dataclass, replace
from uuid import UUID

import pytest

from backend.accounts.principal import Principal
from backend.conversations.types import ChatMessage
from backend.generation.pools.prefixes import Prefix, PrefixIndex, prefix_of
from backend.generation.pools.routing import (
    AFFINITY_SLACK,
    POLICIES,
    by_affinity,
    by_prefix,
    least_loaded,
)
from backend.generation.request import GenerationRequest
from tests.support.gateway import AMPLE

EMPTY = PrefixIndex()


@dataclass
class StubReplica:
    name: str
    load: int = 0
    is_tight: bool = False


def replicas(*loads: int) -> list[StubReplica]:
    return [StubReplica(f"replica-{n}", load) for n, load in enumerate(loads)]


def conversation(name: str) -> Prefix:
    return Prefix(name.encode())


def principal(organization: int = 1) -> Principal:
    return Principal(
        organization_id=UUID(int=organization),
        project_id=UUID(int=1),
        user_id=UUID(int=1),
        key_id=None,
        role="member",
        plan=AMPLE,
    )


def request(*texts: str, system: str = "", organization: int = 1) -> GenerationRequest:
    """A chat whose turns are `texts`, the user's first."""
    messages = [ChatMessage("system", system)] if system else []
    roles = ("user", "assistant") * len(texts)
    messages += [ChatMessage(role, text) for role, text in zip(roles, texts, strict=False)]
    return GenerationRequest(
        principal=principal(organization),
        request_id="req",
        endpoint="chat",
        model="m",
        messages=messages,
    )


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_every_policy_chooses_one_of_the_candidates(policy):
    candidates = replicas(3, 1, 2)
    for prefix in (None, conversation("a"), conversation("b")):
        assert policy(candidates, prefix, EMPTY) in candidates
    assert policy(candidates[:1], None, EMPTY) is candidates[0]


def test_least_loaded_ignores_the_prompt():
    candidates = replicas(3, 1, 2)
    chosen = {least_loaded(candidates, conversation(key), EMPTY).name for key in "abc"}
    assert chosen == {"replica-1"}


def test_affinity_keeps_a_conversation_at_its_replica_within_the_slack():
    here = conversation("conversation")
    home = by_affinity(replicas(0, 0, 0), here, EMPTY)
    loads = [AFFINITY_SLACK if c.name == home.name else 0 for c in replicas(0, 0, 0)]
    assert by_affinity(replicas(*loads), here, EMPTY).name == home.name
    loads = [load + (load > 0) for load in loads]
    assert by_affinity(replicas(*loads), here, EMPTY).name != home.name


@pytest.mark.parametrize("policy", [by_affinity, by_prefix])
def test_only_conversations_of_a_removed_replica_move(policy):
    def home(key: str, candidates: list[StubReplica]) -> str:
        return policy(candidates, conversation(key), EMPTY).name

    before = {key: home(key, replicas(0, 0, 0, 0)) for key in map(str, range(200))}
    left = replicas(0, 0, 0, 0)[:-1]
    for key, was in before.items():
        if was != "replica-3":
            assert home(key, left) == was


def test_later_turn_has_the_root_and_the_blocks_of_the_earlier():
    first = prefix_of(request("a" * 600, system="s" * 600))
    later = prefix_of(request("a" * 600, "b" * 900, "c" * 10, system="s" * 600))
    assert later.root == first.root
    assert later.blocks[: len(first.blocks)] == first.blocks
    assert len(later.blocks) > len(first.blocks) > 3


def test_organizations_share_no_block():
    ours, theirs = prefix_of(request("a" * 900)), prefix_of(request("a" * 900, organization=2))
    assert ours.root != theirs.root
    assert not set(ours.blocks) & set(theirs.blocks)


def test_completion_and_images_have_prefixes_too():
    plain = replace(request(), endpoint="completion", messages=[], prompt="x" * 600)
    assert len(prefix_of(plain).blocks) == 2
    ids = replace(plain, prompt=list(range(1000)))
    assert prefix_of(ids).blocks and prefix_of(ids).root != prefix_of(plain).root


def test_index_forgets_what_was_used_least_recently_and_ends_before_beginnings():
    index = PrefixIndex()
    index.limit("r", tokens=64 * 6)  # six blocks
    old = Prefix(b"old", tuple(b"o%d" % number for number in range(4)))
    new = Prefix(b"new", tuple(b"n%d" % number for number in range(4)))
    index.note("r", old)
    index.note("r", new)
    assert index.matched("r", new.blocks) == 4
    assert index.matched("r", old.blocks) == 0 or index.holds("r", old.root)
    index.forget("r")
    assert index.matched("r", new.blocks) == 0


def test_conversation_stays_while_its_cache_is_worth_the_wait():
    index, long = PrefixIndex(), prefix_of(request("a" * 80_000))
    short = prefix_of(request("b" * 300))
    for prefix in (long, short):
        index.note("replica-0", prefix)
    loads = (AFFINITY_SLACK + 4, 0, 0, 0)
    assert by_prefix(replicas(*loads), long, index).name == "replica-0"
    assert by_prefix(replicas(*loads), short, index).name != "replica-0"


def test_replica_without_free_blocks_is_left_for_another():
    index, prefix = PrefixIndex(), prefix_of(request("a" * 900))
    tight = [StubReplica("replica-0", 0, is_tight=True), StubReplica("replica-1", 5)]
    assert by_prefix(tight, prefix, index).name == "replica-1"


def test_shared_system_prompt_does_not_send_everybody_to_one_replica():
    """github.com/sgl-project/sglang/issues/26263: one at a time, so that load says nothing."""
    index = PrefixIndex()
    got: Counter[str] = Counter()
    for number in range(400):
        prefix = prefix_of(request(f"Question {number}", system="You are helpful. " * 400))
        chosen = by_prefix(replicas(0, 0, 0, 0), prefix, index)
        index.note(chosen.name, prefix)
        got[chosen.name] += 1
    assert len(got) == 4
    assert max(got.values()) < 2 * min(got.values())


def test_nine_of_ten_later_turns_find_their_cache_on_four_replicas():
    """Conversations of a few turns that come in any order, answers that run side by side."""
    chance, index, found, asked = random.Random(7), PrefixIndex(), 0, 0
    running: list[StubReplica] = []
    pool = replicas(0, 0, 0, 0)
    texts: dict[int, list[str]] = {number: [] for number in range(120)}
    for _ in range(1_500):
        number = chance.choice(list(texts))
        texts[number] += [f"{number} asks " * chance.randint(5, 90)]
        prefix = prefix_of(request(*texts[number], system="Answer well. " * 60))
        chosen = by_prefix(pool, prefix, index)
        if len(texts[number]) > 1:
            asked += 1
            found += index.holds(chosen.name, prefix.root)
        index.note(chosen.name, prefix)
        texts[number] += ["An answer. " * chance.randint(5, 90)]
        chosen.load += 1
        running.append(chosen)
        if len(running) > 24:
            running.pop(chance.randrange(len(running))).load -= 1
        if len(texts[number]) > 10:
            texts[number] = []
    assert found / asked >= 0.9
    loads = [replica.load for replica in pool]
    assert max(loads) - min(loads) <= 8
