"""A call whose engine is gone goes on at another: a real engine, by two ways, and real grammar."""

from __future__ import annotations

import asyncio
import json

import jsonschema
import pytest

from backend.generation.gateway import Gateway
from backend.generation.pools.config import ReplicaConfig
from backend.generation.request import Event
from backend.generation.tools import Tools
from tests.factories import MODEL
from tests.support.engine import ENGINE_KEY, Engine
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
from tests.support.tcp_proxy import TcpProxy

pytestmark = pytest.mark.model

SCHEMA = {
    "type": "object",
    "properties": {
        "words": {
            "type": "array",
            # Letters that the model chooses: what the grammar forces comes at once.
            "items": {"type": "string", "pattern": "^[a-z]{6}$"},
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


async def test_call_of_an_engine_that_is_gone_goes_on_at_another(
    transactional_db: None, model_engine: Engine
) -> None:
    """To the gateway an engine is an address: the ways to this one end as one that is killed."""
    principal = await caller()
    ways = [TcpProxy(model_engine.port) for _ in range(2)]
    pools = pools_of(
        replicas=tuple(
            ReplicaConfig(f"replica-{n}", way.url, ENGINE_KEY) for n, way in enumerate(ways)
        ),
        upstream_model=model_engine.model,
        capabilities=("chat", "tools", "grammar_resume"),
        sampling={"temperature": 0.0},
    )
    try:
        async with running_gateway(pools) as gateway:
            started = await start(chat(principal, tools=TOOLS, max_tokens=400, stream_usage=True))
            ends = EndsTheWayInUse(gateway, ways)
            answer = await asyncio.wait_for(read(started.id, principal, until=ends), timeout=120)
        assert len(ways) == 1
    finally:
        for way in ways:
            way.close()
    answer.check_order()
    assert answer.error is None
    assert answer.finish_reason == "tool_calls"
    jsonschema.validate(json.loads(arguments_of(answer)), SCHEMA)
    row = await until_ended(started.id)
    usage = answer.chunks[-1]["usage"]
    await check_billed(started.id, output_tokens=usage["completion_tokens"], state="completed")
    assert row.input_tokens == usage["prompt_tokens"] > 50


class EndsTheWayInUse:
    """After so many events it ends the way by which the answer comes, once, and takes it out."""

    def __init__(self, gateway: Gateway, ways: list[TcpProxy]) -> None:
        self._replicas = gateway.queues[MODEL].replicas
        self._ways = ways

    def __call__(self, seen: list[Event]) -> bool:
        if len(seen) == 6:
            in_use = [one.outstanding for one in self._replicas.replicas]
            assert sorted(in_use) == [0, 1]
            self._ways.pop(in_use.index(1)).close()
        return False
