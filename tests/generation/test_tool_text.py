"""Calls as part of an answer's text: checked, counted and delivered like any text of it."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.generation.pools.chunks import UpstreamChunk, decode_chunk
from backend.generation.run.chunk_encoder import ChunkEncoder
from backend.generation.run.output import ChoiceOutput, Delivery, ResumedChoice
from backend.generation.run.replay import EventMeta, replay
from backend.generation.tools import (
    ARGUMENTS,
    CALL,
    ArgumentsDelta,
    CallBegin,
    split_calls,
)
from safety.judge.policy import DEFAULT_POLICY

ENCODER = ChunkEncoder(
    public_id="chatcmpl-1", created=1, model="m", endpoint="chat", stream_usage=False
)


def chunk(delta: dict[str, Any], tokens: int) -> UpstreamChunk:
    usage = {"prompt_tokens": 3, "completion_tokens": tokens}
    return decode_chunk(orjson.dumps({"choices": [{"index": 0, "delta": delta}], "usage": usage}))


def begins(index: int, name: str) -> dict[str, Any]:
    function = {"name": name, "arguments": ""}
    return {"tool_calls": [{"index": index, "id": "u", "type": "function", "function": function}]}


def more(index: int, text: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}


class Delivered:
    """The events of one choice."""

    def __init__(self) -> None:
        self.events: list[tuple[bytes, EventMeta]] = []

    def take(self, delivery: Delivery | None) -> None:
        for one in delivery.deltas if delivery else ():
            if isinstance(one, CallBegin):
                data = ENCODER.call(0, one)
            elif isinstance(one, ArgumentsDelta):
                data = ENCODER.arguments(0, one)
            else:
                data = ENCODER.text(0, one.text, None)
            assert delivery is not None
            self.events.append((data, EventMeta(0, delivery.tokens)))

    @property
    def calls(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for data, _ in self.events:
            for call in orjson.loads(data)["choices"][0]["delta"].get("tool_calls", ()):
                if "id" in call:
                    assert call["index"] == len(found)
                    found.append(call)
                else:
                    assert call["index"] == len(found) - 1
                    found[-1]["function"]["arguments"] += call["function"]["arguments"]
        return found


def answer(
    arguments: str, size: int, choice: ChoiceOutput | None = None
) -> tuple[ChoiceOutput, Delivered]:
    choice = choice or ChoiceOutput(0, policy=DEFAULT_POLICY, context=[])
    sent, tokens = Delivered(), 1
    sent.take(choice.feed([chunk({"content": "Let me see. "}, tokens)]))
    sent.take(choice.feed([chunk(begins(0, "pay"), tokens := tokens + 5)]))
    for at in range(0, len(arguments), size):
        sent.take(choice.feed([chunk(more(0, arguments[at : at + size]), tokens := tokens + 1)]))
    sent.take(choice.feed([chunk(begins(1, "now"), tokens := tokens + 5)]))
    sent.take(choice.feed([chunk(more(1, "{}"), tokens := tokens + 1)]))
    sent.take(choice.end("tool_calls", tokens + 1))
    assert choice.tokens == tokens + 1
    return choice, sent


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_calls_are_sent_in_openais_order_and_replayed_as_they_were(size: int) -> None:
    arguments = '{"to": "a café", "amount": 12, "note": "two \\"words\\""}'
    choice, sent = answer(arguments, size)
    pay, now = sent.calls
    assert (pay["function"]["name"], pay["function"]["arguments"]) == ("pay", arguments)
    assert (now["function"]["name"], now["function"]["arguments"]) == ("now", "{}")
    assert pay["id"] != now["id"] and pay["type"] == "function"
    assert replay(sent.events, choices=1).choices[0].text == choice.text
    assert choice.finish_reason == "tool_calls"


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_arguments_parse_where_personal_data_was_replaced(size: int) -> None:
    card = "4111111111111111"
    arguments = f'{{"number": {card}, "text": "it is {card} now", "rest": [1, {card}]}}'
    choice, sent = answer(arguments, size)
    text = sent.calls[0]["function"]["arguments"]
    assert card not in text
    read = json.loads(text)
    assert read["number"] == "[card number removed]"
    assert read["text"] == "it is [card number removed] now"
    assert split_calls(choice.text)[1][0].arguments == text


def test_harm_in_arguments_ends_the_answer() -> None:
    harm = "Here is the guide: to make a pipe bomb you will need a pipe, a cap and gunpowder."
    arguments = json.dumps({"body": f"Of course. Now, {harm} {harm}"})
    choice = ChoiceOutput(0, policy=DEFAULT_POLICY, context=[])
    sent = Delivered()
    sent.take(choice.feed([chunk(begins(0, "send"), 5)]))
    for at in range(0, len(arguments), 4):
        if choice.finish_reason is None:
            sent.take(choice.feed([chunk(more(0, arguments[at : at + 4]), 6 + at // 4)]))
    sent.take(choice.end("tool_calls"))
    assert choice.finish_reason == "content_filter"
    assert "bomb" not in sent.calls[0]["function"]["arguments"]
    assert choice.tokens < choice.generated_tokens


def test_models_cannot_write_the_marks() -> None:
    choice = ChoiceOutput(0, policy=DEFAULT_POLICY, context=[])
    sent = Delivered()
    sent.take(choice.feed([chunk({"content": f"a {CALL}pay{ARGUMENTS}{{}} b"}, 3)]))
    sent.take(choice.end("stop", 3))
    assert sent.calls == []
    assert CALL not in choice.text


def test_text_after_calls_is_no_part_of_their_arguments() -> None:
    choice = ChoiceOutput(0, policy=DEFAULT_POLICY, context=[])
    sent = Delivered()
    deltas = [begins(0, "pay"), more(0, "{}"), {"content": " and so on"}, begins(1, "now")]
    for tokens, delta in enumerate([*deltas, more(1, "{}")], start=1):
        sent.take(choice.feed([chunk(delta, tokens)]))
    sent.take(choice.end("tool_calls"))
    assert [call["function"]["arguments"] for call in sent.calls] == ["{}", "{}"]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 70))
def test_call_that_fails_over_is_neither_repeated_nor_lost_nor_counted_twice(cut: int) -> None:
    arguments = '{"to": "somebody else", "amount": 12, "note": "a few words more"}'
    events = [({"content": "Well, "}, 1), (begins(0, "pay"), 6)]
    events += [(more(0, character), 7 + at) for at, character in enumerate(arguments)]
    first, sent = ChoiceOutput(0, policy=DEFAULT_POLICY, context=[]), Delivered()
    for delta, tokens in events[:cut]:
        sent.take(first.feed([chunk(delta, tokens)]))
    state = replay(sent.events, choices=1).choices[0]
    assert state.tokens == first.tokens
    resumed = ResumedChoice(state.text, state.tokens, True, None)
    second = ChoiceOutput(0, policy=DEFAULT_POLICY, context=[], resumed=resumed)
    second.begin_attempt()
    content, calls = split_calls(second.generated)
    rest = [({"content": "Well, "[len(content) :]}, 1)] if not calls else []
    rest += [(begins(0, "pay"), 2)] if not calls else []
    done = len(calls[0].arguments) if calls else 0
    rest += [(more(0, character), 3 + at) for at, character in enumerate(arguments[done:])]
    for delta, tokens in rest:
        sent.take(second.feed([chunk(delta, tokens)]))
    sent.take(second.end("tool_calls"))
    [call] = sent.calls
    assert call["function"]["arguments"] == arguments
    assert second.tokens == state.tokens + rest[-1][1]
