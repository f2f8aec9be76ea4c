"""A call whose engine is killed goes on at another: real engines, real grammar."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from backend.generation.request import Event
from backend.generation.tools import Tools
from tests.inference.serving import MODEL_NAME, serve
from tests.support.gateway import (
    Answer,
    caller,
    chat,
    check_billed,
    pools_of,
    read,
    running_gateway,
    start,
    until_ended,
)

pytestmark = pytest.mark.model

SCHEMA = {
    "type": "object",
    "properties": {
        "words": {
            "type": "array",
            "items": {"enum": ["red", "green", "blue"]},
            "minItems": 14,
            "maxItems": 14,
        }
    },
    "required": ["words"],
    "additionalProperties": False,
}
TOOLS = Tools(
    [{"type": "function", "function": {"name": "paint", "parameters": SCHEMA, "strict": True}}],
    tool_choice="required",
    parallel_tool_calls=False,
)


def arguments_of(answer: Answer) -> str:
    calls = [
        call
        for chunk in answer.chunks
        for part in chunk.get("choices", ())
        for call in part["delta"].get("tool_calls", ())
    ]
    assert [call["function"]["name"] for call in calls if "id" in call] == ["paint"]
    return "".join(call["function"]["arguments"] for call in calls)


async def test_call_of_a_killed_engine_goes_on_at_another(
    transactional_db: None, model_file: Path
) -> None:
    principal = await caller()
    with serve(model_file) as one, serve(model_file) as two:
        engines: Any = (one, two)
        pools = pools_of(
            *engines,
            upstream_model=MODEL_NAME,
            capabilities=("chat", "tools", "grammar_resume"),
            sampling={"temperature": 0.0},
        )
        async with running_gateway(pools):
            started = await start(chat(principal, tools=TOOLS, max_tokens=400, stream_usage=True))
            answer = await asyncio.wait_for(
                read(started.id, principal, until=KillsWhenBusy(engines)), timeout=120
            )
        killed = [served for served in engines if served.process.poll() is not None]
        assert len(killed) == 1
    answer.check_order()
    assert answer.error is None
    assert answer.finish_reason == "tool_calls"
    jsonschema.validate(json.loads(arguments_of(answer)), SCHEMA)
    row = await until_ended(started.id)
    usage = answer.chunks[-1]["usage"]
    await check_billed(started.id, output_tokens=usage["completion_tokens"], state="completed")
    assert row.input_tokens == usage["prompt_tokens"] > 50


class KillsWhenBusy:
    """After so many events it kills the engine that generates, once."""

    def __init__(self, engines: Any) -> None:
        self._engines = engines

    def __call__(self, seen: list[Event]) -> bool:
        if len(seen) == 12:
            running = [one.metric("vllm:num_requests_running") for one in self._engines]
            assert sorted(running) == [0, 1]
            self._engines[running.index(1)].process.kill()
        return False
