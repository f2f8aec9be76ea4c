"""What a model thinks is told apart, checked, counted and continued like the rest of its answer."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from backend.generation.pools.config import ReplicaConfig
from backend.generation.request import SamplingParams
from backend.generation.thoughts import ANSWER, THOUGHT, ThoughtMarks, split_thought
from backend.generation.tools import CallReader, TextDelta, ThoughtDelta, readable, text_of
from infra.load.upstream import SyntheticUpstream, words
from tests.support.engine import ENGINE_KEY, Engine
from tests.support.gateway import (
    TURN,
    Answer,
    caller,
    chat,
    check_billed,
    doomed_gateway,
    kill_gateway,
    pools_of,
    read,
    result,
    running_gateway,
    start,
    usage_records,
)

TIMEOUT_S = 60.0
# What the small model has to write: it thinks, as nobody has taught it.
WRITTEN = r"<think>\n[a-z ]{20,40}\n</think>\n\n[A-Z][a-z ]{10,30}\."


def thoughts_of(answer: Answer) -> str:
    parts = [part for chunk in answer.chunks for part in chunk.get("choices", ())]
    return "".join(part["delta"].get("reasoning_content", "") for part in parts)


def order_of(answer: Answer) -> list[str]:
    parts = [part for chunk in answer.chunks for part in chunk.get("choices", ())]
    kinds = [name for part in parts for name, value in part["delta"].items() if value]
    return [kind for at, kind in enumerate(kinds) if at == 0 or kind != kinds[at - 1]]


@pytest.mark.model
async def test_thought_of_a_real_model_is_streamed_counted_and_billed(
    transactional_db: None, model_engine: Engine
) -> None:
    replicas = (ReplicaConfig("e", model_engine.url, ENGINE_KEY),)
    params = SamplingParams(max_tokens=80, extra={"guided_regex": WRITTEN})
    async with running_gateway(pools_of(upstream_model="smollm2-135m", replicas=replicas)):
        principal = await caller()
        started = await start(chat(principal, params=params, stream_usage=True))
        answer = await read(started.id, principal)
        whole = await result(started.id, principal=principal)
    assert order_of(answer) == ["role", "reasoning_content", "content"]
    thought = thoughts_of(answer)
    assert 15 <= len(thought) <= 40 and thought == thought.strip()
    assert answer.text.endswith(".") and "<" not in answer.text + thought
    [choice] = whole.choices
    assert (choice.thought, choice.text) == (thought, answer.text)
    [record] = await usage_records(started.id)
    assert 0 < record.reasoning_tokens < record.output_tokens
    details = answer.chunks[-1]["usage"]["completion_tokens_details"]
    assert details == {"reasoning_tokens": record.reasoning_tokens}
    assert whole.as_openai()["choices"][0]["message"]["reasoning_content"] == thought


@pytest.mark.model
async def test_switch_of_the_template_has_the_model_think(
    transactional_db: None, model_engine: Engine
) -> None:
    """By `reasoning_effort`. Nobody taught the model to stop, so all of it is thought."""
    replicas = (ReplicaConfig("e", model_engine.url, ENGINE_KEY),)
    async with running_gateway(pools_of(upstream_model="smollm2-135m", replicas=replicas)):
        principal = await caller()
        for effort, thinks in (("low", True), ("none", False), ("", False)):
            wanted = chat(principal, max_tokens=12, reasoning_effort=effort)
            started = await start(wanted)
            answer = await read(started.id, principal)
            assert bool(thoughts_of(answer)) is thinks
            assert bool(answer.text) is not thinks
            [record] = await usage_records(started.id)
            assert record.reasoning_tokens == (record.output_tokens if thinks else 0)


@pytest.mark.parametrize("tokens", [12, 36])
async def test_thought_goes_on_where_its_process_died(
    transactional_db: None, upstream: SyntheticUpstream, tokens: int
) -> None:
    """Within the thought, and after it."""
    principal = await caller()
    pools = pools_of(upstream)
    upstream.behaviour.hang_after = tokens
    upstream.behaviour.thoughts = 24
    first = await doomed_gateway(pools)
    started = await start(chat(principal, max_tokens=60, turn=TURN))
    async with running_gateway(pools) as second:
        reading = asyncio.create_task(_read_at(second, started.id))
        async with asyncio.timeout(TIMEOUT_S):
            while not upstream.served or upstream.served[0].sent < tokens:
                await asyncio.sleep(0.05)
        await kill_gateway(first)
        upstream.behaviour.hang_after = None
        answer = await asyncio.wait_for(reading, timeout=TIMEOUT_S)
    answer.check_order()
    # White space between the two belongs to neither.
    assert f"{thoughts_of(answer)}{answer.text}" == words(0, 60)
    assert order_of(answer) == ["role", "reasoning_content", "content"]
    row = await check_billed(started.id, output_tokens=60, state="completed")
    assert (row.epoch, row.reasoning_tokens) == (2, 24)


async def _read_at(gateway: Any, generation_id: UUID) -> Answer:
    """Read at one of several gateways of this event loop."""
    events = []
    async for batch in gateway.reader.events(generation_id, after=0):
        events += batch
    return Answer(events)


def test_text_of_thought_and_answer_is_read_back_wherever_it_is_cut() -> None:
    marks = ThoughtMarks()
    parts = [("I think", ""), (" so.", "Yes"), ("", " it is")]
    whole = "".join(marks.text_of(thought, said) for thought, said in parts)
    assert whole == f"{THOUGHT}I think so.{ANSWER}Yes it is"
    assert split_thought(whole) == ("I think so.", "Yes it is")
    assert readable(whole) == "I think so.\n\nYes it is"
    for cut in range(len(whole) + 1):
        reader = CallReader()
        deltas = reader.feed(whole[:cut]) + reader.feed(whole[cut:])
        thought = "".join(delta.text for delta in deltas if isinstance(delta, ThoughtDelta))
        said = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
        assert (thought, said) == ("I think so.", "Yes it is")
        assert text_of(deltas, ThoughtMarks()) == whole
        # A process that takes it over knows the text so far only.
        resumed = CallReader(whole[:cut]).feed(whole[cut:])
        assert "".join(delta.text for delta in resumed if isinstance(delta, TextDelta)) in said


def test_thought_after_the_answer_has_begun_is_left_out() -> None:
    marks = ThoughtMarks()
    assert marks.text_of("", "Yes") + marks.text_of("hm", " it is") == "Yes it is"
