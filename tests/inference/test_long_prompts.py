"""A long prompt makes nobody wait: steps of the real engine core under a simulated clock."""

from __future__ import annotations

import pytest

from inference.scheduler.prefill_budget import ALONE_TARGET_S, LONG_PREFILL_TOKENS
from tests.inference.simulated_steps import DECODE_S, SimulatedEngine

CHAT, LONG = 60, 8_000
STREAMS = 4


def busy(**options) -> SimulatedEngine:
    return SimulatedEngine(**options).with_streams(STREAMS)


def chat_alone() -> tuple[int, float]:
    engine = busy()
    engine.add("chat", CHAT)
    return engine.wait("chat")


@pytest.mark.parametrize(
    "prompts",
    [[LONG], [30_000, 30_000], [8_000] * 6, [20_000, 9_000, 4_000, 1_900, 900, 900]],
    ids=["one", "two", "six", "of many lengths"],
)
def test_chat_begins_beside_long_prompts(prompts):
    engine = busy()
    for index, length in enumerate(prompts):
        engine.add(f"long {index}", length)
        engine.run(3)
    engine.add("chat", CHAT)
    steps, seconds = engine.wait("chat")
    alone_steps, alone_seconds = chat_alone()
    assert steps <= 2 * alone_steps
    assert seconds <= 2 * alone_seconds
    assert not any(name.startswith("long") for name in engine.first)


def test_long_prompt_takes_at_most_twice_as_long_beside_chats():
    alone, beside = busy(), busy()
    alone.add("long", LONG)
    _, alone_seconds = alone.wait("long")
    began = beside.now()
    beside.add("long", LONG)
    for index in range(10):
        beside.run(20)
        beside.add(f"chat {index}", CHAT)
    beside.wait("long")
    assert beside.first["long"][1] - began <= 2 * alone_seconds


def test_streams_keep_half_their_rate_beside_a_long_prompt_and_a_chat():
    engine = busy()
    engine.add("long", LONG)
    engine.step()
    engine.add("chat", CHAT)
    before, began, steps = engine.tokens["stream 0"], engine.now(), 0
    while engine.computed("long") < LONG - LONG_PREFILL_TOKENS:
        engine.step()
        steps += 1
    assert engine.tokens["stream 0"] - before == steps
    assert steps / (engine.now() - began) >= 0.5 / DECODE_S


def test_long_prompt_moves_in_every_step_beside_endless_chats():
    engine = busy()
    engine.add("long", LONG)
    engine.step()
    for index in range(100):
        engine.add(f"chat {index}", CHAT)
        before = engine.computed("long")
        engine.step()
        assert engine.computed("long") > before
    engine.wait("long")


def test_every_long_prompt_ends_beside_endless_shorter_ones():
    engine = busy()
    for index in range(3):
        engine.add(f"long {index}", 3_000)
    for index in range(1_500):
        if index % 40 == 0:
            engine.add(f"shorter {index}", 600)
        engine.step()
    assert {f"long {index}" for index in range(3)} <= set(engine.first)


def test_prompt_of_half_the_length_overtakes():
    alone = busy()
    alone.add("medium", 2_000)
    alone_steps, _ = alone.wait("medium")
    engine = busy()
    engine.add("long", 30_000)
    engine.run(5)
    engine.add("medium", 2_000)
    steps, _ = engine.wait("medium")
    assert steps <= 1.5 * alone_steps


def test_long_prompts_of_one_length_are_computed_in_turn():
    engine = busy()
    for index in range(4):
        engine.add(f"long {index}", LONG)
        engine.run(10)
        begun = [r for r in engine.core.scheduler.running if r.request_id.startswith("long")]
        assert len(begun) == 1
    order = [engine.wait(f"long {index}") and engine.steps for index in range(4)]
    assert order == sorted(order)


def test_begun_prompts_of_many_lengths_are_few():
    engine = busy(num_blocks=40_000)
    most = 0
    for length in range(30_000, 600, -600):
        engine.add(f"long {length}", length)
        engine.step()
        begun = [r for r in engine.core.scheduler.running if r.request_id.startswith("long")]
        most = max(most, len(begun))
    assert 2 <= most <= 7  # 30,000 tokens can be halved six times before a prompt is short


@pytest.mark.parametrize(("num_blocks", "begins"), [(1_200, False), (1_300, True)])
def test_long_prompt_begins_beside_another_with_blocks_for_both(num_blocks, begins):
    engine = SimulatedEngine(num_blocks=num_blocks)
    engine.add("long", 14_000)
    engine.step()
    engine.add("medium", 6_000)
    engine.run(2)
    assert (engine.computed("medium") > 0) is begins
    engine.wait("medium")
    assert engine.core.scheduler.preemptions == 0


def test_long_conversation_that_is_cached_is_a_short_prompt():
    engine = busy()
    history = list(range(1_000, 6_000))
    engine.add("turn", 0, prompt=history)
    engine.wait("turn")
    engine.add("long", LONG)
    engine.run(5)
    engine.add("next turn", 0, prompt=history + [7] * CHAT)
    steps, _ = engine.wait("next turn")
    assert steps <= 2 * chat_alone()[0]


def test_premium_prompt_goes_before_longer_waiting_ones():
    engine = busy()
    engine.add("long", 30_000, priority=1)
    engine.step()
    for index in range(20):
        engine.add(f"free {index}", CHAT, priority=1)
    engine.add("premium", CHAT)
    engine.wait("premium")
    assert sum(name.startswith("free") for name in engine.first) <= 2


def test_long_premium_prompt_begins_beside_a_long_free_one():
    engine = busy()
    engine.add("free", LONG, priority=1)
    engine.run(3)
    engine.add("premium", LONG)
    engine.run(2)
    assert engine.computed("premium") > 0


def test_chat_waits_for_a_short_step_without_decodes():
    """A long prompt alone on the machine is computed in steps that are soon over."""
    engine = SimulatedEngine(decode_s=0.02, token_s=0.001)
    engine.add("measured", 300)
    engine.wait("measured")
    engine.run(2)
    engine.add("long", LONG)
    for _ in range(10):
        began = engine.now()
        engine.step()
        assert engine.now() - began <= ALONE_TARGET_S + 0.03
    engine.add("chat", CHAT)
    steps, _ = engine.wait("chat")
    assert steps <= 2


def test_long_prompt_alone_takes_all_of_a_fast_machines_step():
    engine = SimulatedEngine(decode_s=0.01, token_s=0.000_02)
    engine.add("measured", 300)
    engine.wait("measured")
    engine.run(2)
    engine.add("long", LONG)
    assert engine.wait("long")[0] == 8  # of 1,024 tokens


def test_new_prompt_shares_no_block_of_one_that_loses_its_slot():
    engine = SimulatedEngine(token_s=1e-5, max_num_seqs=2, max_num_batched_tokens=128)
    shared = list(range(1_000, 1_200))
    engine.add("line", 0, prompt=[*shared, 1], priority=1_000)
    engine.step()
    engine.add("chat", 0, prompt=[*shared, 2])
    engine.add("other", CHAT)
    chunks = {chunk.request.request_id: chunk for chunk in engine.core.scheduler.schedule()}
    assert chunks["chat"].start > 128, "it shares what the line computes in this step"
    assert chunks["line"].end > chunks["chat"].start
