"""LiteLLM's client and OpenAI's Agents SDK against the running product, in an environment of their
own: they want other versions of what the product needs. Prints one JSON object: what each check
gave. Run by test_separate_clients.py with `var/clients` (`make clients`) as its only packages.
"""

# Its packages are not those that types are checked with.
# mypy: ignore-errors

import asyncio
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, Literal

import litellm
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI, BadRequestError
from pydantic import BaseModel

URL, KEY = os.environ["PARLEY_URL"], os.environ["PARLEY_KEY"]
MODEL = "smollm2-135m"
ASK = [{"role": "user", "content": "What is the weather in Rome?"}]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"enum": ["Paris", "Rome"]}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "c", "schema": SCHEMA, "strict": True}}
VIA: dict[str, Any] = {
    "model": f"openai/{MODEL}",
    "api_base": f"{URL}/v1",
    "api_key": KEY,
    "max_tokens": 60,
    "temperature": 0,
    "num_retries": 1,
}


class City(BaseModel):
    city: Literal["Paris", "Rome"]


def litellm_chats_and_streams() -> dict[str, Any]:
    whole = litellm.completion(messages=ASK, **VIA)
    chunks = list(
        litellm.completion(messages=ASK, stream=True, stream_options={"include_usage": True}, **VIA)
    )
    streamed = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    usage = next(c.usage for c in reversed(chunks) if getattr(c, "usage", None))
    return {
        "whole": whole.choices[0].message.content,
        "streamed": streamed,
        "tokens": [whole.usage.completion_tokens, usage.completion_tokens],
    }


def litellm_calls_tools_over_turns() -> dict[str, Any]:
    first = litellm.completion(messages=ASK, tools=[TOOL], tool_choice="required", **VIA)
    message = first.choices[0].message
    call = message.tool_calls[0]
    results = [
        {"role": "tool", "tool_call_id": each.id, "content": "Sunny."}
        for each in message.tool_calls
    ]
    second = litellm.completion(messages=[*ASK, message, *results], tools=[TOOL], **VIA)
    return {
        "arguments": json.loads(call.function.arguments),
        "reason": second.choices[0].finish_reason,
    }


def litellm_keeps_to_schemas() -> dict[str, Any]:
    made = litellm.completion(messages=ASK, response_format=FORMAT, **VIA)
    return dict(json.loads(made.choices[0].message.content))


def litellm_asks_for_responses_messages_and_vectors() -> dict[str, Any]:
    own = {name: VIA[name] for name in ("model", "api_base", "api_key")}
    response = litellm.responses(input="Hello", max_output_tokens=12, **own)
    kinds = [
        str(getattr(event.type, "value", event.type))
        for event in litellm.responses(input="Hello", max_output_tokens=12, stream=True, **own)
    ]
    message = litellm.completion(
        model=f"anthropic/{MODEL}", api_base=URL, api_key=KEY, messages=ASK, max_tokens=12
    )
    vectors = litellm.embedding(input=["one", "two"], **own)
    return {
        "status": response.status,
        "last": kinds[-1],
        "message": message.choices[0].message.content,
        "vectors": len(vectors.data),
    }


def litellm_tells_errors_apart_and_retries() -> dict[str, Any]:
    found = {}
    for name, changes in {
        "bad": {"temperature": 9},
        "key": {"api_key": "sk-parley-wrong"},
        "model": {"model": "openai/none"},
    }.items():
        try:
            litellm.completion(messages=ASK, **{**VIA, **changes})
        except Exception as error:
            found[name] = type(error).__name__
    return found


def litellm_cancels() -> dict[str, Any]:
    chunks = 0
    stream = litellm.completion(messages=ASK, stream=True, **{**VIA, "max_tokens": 2000})
    for _ in stream:
        chunks += 1
        if chunks == 3:
            break
    stream.completion_stream.response.close()
    return {"chunks": chunks}


client = AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=1)


@function_tool
def get_weather(city: Literal["Paris", "Rome"]) -> str:
    """The weather of a city."""
    return f"Sunny in {city}."


def agent(kind: type, **options: Any) -> Agent:
    settings = ModelSettings(temperature=0, max_tokens=60, **options.pop("settings", {}))
    return Agent(
        name="Helper",
        instructions="Answer briefly.",
        model=kind(model=MODEL, openai_client=client),
        model_settings=settings,
        **options,
    )


def by_both(check: Callable[[type], Any]) -> dict[str, Any]:
    return {
        "chat": asyncio.run(check(OpenAIChatCompletionsModel)),
        "responses": asyncio.run(check(OpenAIResponsesModel)),
    }


def agents_answer() -> dict[str, Any]:
    async def check(kind: type) -> Any:
        ran = await Runner.run(agent(kind), "Say hello.")
        return {"text": ran.final_output, "tokens": ran.context_wrapper.usage.output_tokens}

    return by_both(check)


def agents_stream() -> dict[str, Any]:
    async def check(kind: type) -> Any:
        ran = Runner.run_streamed(agent(kind), "Say hello.")
        text = ""
        async for event in ran.stream_events():
            data = event.data if event.type == "raw_response_event" else None
            if data is not None and data.type == "response.output_text.delta":
                text += data.delta
        return {"streamed": text, "final": ran.final_output}

    return by_both(check)


def agents_call_tools_over_turns() -> dict[str, Any]:
    async def check(kind: type) -> Any:
        helper = agent(kind, tools=[get_weather], settings={"tool_choice": "required"})
        ran = await Runner.run(helper, str(ASK[0]["content"]), max_turns=4)
        kinds = [item.type for item in ran.new_items]
        outputs = [item.output for item in ran.new_items if item.type == "tool_call_output_item"]
        return {"kinds": kinds, "outputs": outputs}

    return by_both(check)


def agents_give_their_own_type() -> dict[str, Any]:
    async def check(kind: type) -> Any:
        ran = await Runner.run(agent(kind, output_type=City), "Name a city.")
        return ran.final_output.model_dump()

    return by_both(check)


def agents_tell_errors_and_cancel() -> dict[str, Any]:
    async def check(kind: type) -> Any:
        wrong = agent(kind, settings={"extra_body": {"no_such": 1}})
        try:
            await Runner.run(wrong, "Hello")
            error: Any = None
        except BadRequestError as refused:
            error = refused.param
        ran = Runner.run_streamed(agent(kind), "Tell a long story.")
        events = 0
        async for _ in ran.stream_events():
            events += 1
            if events == 3:
                ran.cancel()
        return {"error": error, "events": events}

    return by_both(check)


CHECKS = [
    litellm_chats_and_streams,
    litellm_calls_tools_over_turns,
    litellm_keeps_to_schemas,
    litellm_asks_for_responses_messages_and_vectors,
    litellm_tells_errors_apart_and_retries,
    litellm_cancels,
    agents_answer,
    agents_stream,
    agents_call_tools_over_turns,
    agents_give_their_own_type,
    agents_tell_errors_and_cancel,
]

if __name__ == "__main__":
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    set_tracing_disabled(True)
    found: dict[str, Any] = {}
    for one in CHECKS:
        try:
            found[one.__name__] = one()
        except Exception:
            found[one.__name__] = {"failed": traceback.format_exc()}
    json.dump(found, sys.stdout)
