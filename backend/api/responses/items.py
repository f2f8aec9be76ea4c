"""Input items as the messages of a chat, and an answer as output items."""

from typing import Any
from uuid import UUID

from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.schemas.responses import (
    FunctionCallItem,
    FunctionOutputItem,
    InputImage,
    Item,
    JsonSchemaFormat,
    MessageItem,
    ReasoningItem,
    ResponseCreate,
)
from backend.api.validation import validated
from backend.generation.request import public_id
from backend.generation.thoughts import split_thought
from backend.generation.tools import call_id, split_calls
from backend.platform.errors import InvalidRequest

# Fields of a chat, as this API calls them.
_FIELDS = {
    "messages": "input",
    "max_completion_tokens": "max_output_tokens",
    "response_format": "text.format",
    "reasoning_effort": "reasoning.effort",
    "verbosity": "text.verbosity",
}


def chat_body(body: ResponseCreate, history: list[dict[str, Any]]) -> ChatCompletionRequest:
    """The chat that a response is.

    Args:
        history: messages of the responses before it.
    Raises:
        InvalidRequest: naming the field of `body`.
    """
    messages = [{"role": "system", "content": body.instructions}] if body.instructions else []
    messages += history + messages_of(input_items(body))
    if not messages:
        raise InvalidRequest("It holds nothing to answer: thoughts are not read.", param="input")
    asked: dict[str, Any] = {
        "model": body.model,
        "messages": messages,
        "stream": True,
        "max_completion_tokens": body.max_output_tokens,
        "temperature": body.temperature,
        "top_p": body.top_p,
        "tools": [_chat_tool(tool.model_dump(exclude_none=True)) for tool in body.tools or ()],
        "tool_choice": _chat_choice(body),
        "parallel_tool_calls": body.parallel_tool_calls,
        "service_tier": body.service_tier,
        "reasoning_effort": body.reasoning.effort if body.reasoning else None,
        "verbosity": body.text.verbosity if body.text else None,
        "response_format": _chat_format(body),
        "logprobs": body.wants_logprobs or None,
        "top_logprobs": (body.top_logprobs or 0) if body.wants_logprobs else None,
    }
    try:
        return validated(ChatCompletionRequest, asked, param="input")
    except InvalidRequest as error:
        name_field(error)
        raise


def name_field(error: InvalidRequest) -> None:
    """Have what is wrong with the chat name the field of the response."""
    name = (error.param or "").partition("[")[0].partition(".")[0]
    error.param = _FIELDS.get(name, error.param)


def input_items(body: ResponseCreate) -> list[Item]:
    if isinstance(body.input, str):
        return [MessageItem(role="user", content=body.input)]
    return body.input


def messages_of(items: list[Item]) -> list[dict[str, Any]]:
    """Chat messages of items; calls join the assistant's message before them."""
    messages: list[dict[str, Any]] = []
    for item in items:
        if isinstance(item, ReasoningItem):
            continue  # what an earlier answer thought is not read again
        if isinstance(item, FunctionCallItem):
            last = messages[-1] if messages else {}
            if last.get("role") != "assistant":
                last = {"role": "assistant", "content": None, "tool_calls": []}
                messages.append(last)
            function = {"name": item.name, "arguments": item.arguments}
            call = {"id": item.call_id, "type": "function", "function": function}
            last.setdefault("tool_calls", []).append(call)
        elif isinstance(item, FunctionOutputItem):
            output = item.output
            text = output if isinstance(output, str) else "".join(part.text for part in output)
            messages.append({"role": "tool", "tool_call_id": item.call_id, "content": text})
        else:
            messages.append({"role": item.role, "content": _chat_content(item)})
    return messages


def output_items(
    generation_id: UUID,
    text: str,
    *,
    status: str = "completed",
    logprobs: list[Any] | None = None,
) -> list[dict[str, Any]]:
    """An answer's text, with calls as part of it, as output items."""
    content, calls = split_calls(text)
    thought, _ = split_thought(text)
    items = []
    if thought:
        ended = "completed" if content or calls else status
        items.append(reasoning_item(generation_id, thought, ended))
    if content or not (calls or thought):
        items.append(message_item(generation_id, content, status, logprobs))
    for number, call in enumerate(calls):
        last = number == len(calls) - 1
        items.append(
            call_item(
                generation_id, number, call.name, call.arguments, status if last else "completed"
            )
        )
    return items


def reasoning_item(generation_id: UUID, thought: str | None, status: str) -> dict[str, Any]:
    """`thought` None: it has no content yet."""
    return {
        "id": f"rs_{generation_id.hex}",
        "type": "reasoning",
        "summary": [],
        "content": [] if thought is None else [thought_part(thought)],
        "encrypted_content": None,
        "status": status,
    }


def thought_part(text: str) -> dict[str, Any]:
    return {"type": "reasoning_text", "text": text}


def message_item(
    generation_id: UUID, text: str | None, status: str, logprobs: list[Any] | None = None
) -> dict[str, Any]:
    """`text` None: it has no content yet."""
    return {
        "id": f"msg_{generation_id.hex}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": [] if text is None else [text_part(text, logprobs)],
    }


def text_part(text: str, logprobs: list[Any] | None = None) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs or []}


def call_item(
    generation_id: UUID, number: int, name: str, arguments: str, status: str
) -> dict[str, Any]:
    return {
        "id": f"fc_{generation_id.hex}_{number}",
        "type": "function_call",
        "call_id": call_id(public_id(generation_id, "chat"), 0, number),
        "name": name,
        "arguments": arguments,
        "status": status,
    }


def _chat_content(item: MessageItem) -> str | list[dict[str, Any]]:
    if isinstance(item.content, str):
        return item.content
    return [
        {"type": "image_url", "image_url": {"url": part.image_url, "detail": part.detail}}
        if isinstance(part, InputImage)
        else {"type": "text", "text": part.text}
        for part in item.content
    ]


def _chat_tool(tool: dict[str, Any]) -> dict[str, Any]:
    kind = tool.pop("type")
    return {"type": kind, "function": tool}


def _chat_choice(body: ResponseCreate) -> Any:
    choice = body.tool_choice
    if choice is None or isinstance(choice, str):
        return choice
    if choice.type == "function":
        return {"type": "function", "function": {"name": choice.name}}
    allowed = [{"type": "function", "function": {"name": one.name}} for one in choice.tools]
    return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": allowed}}


def _chat_format(body: ResponseCreate) -> dict[str, Any] | None:
    wanted = body.text.format if body.text else None
    if wanted is None:
        return None
    if isinstance(wanted, JsonSchemaFormat):
        schema = wanted.model_dump(by_alias=True, exclude_none=True, exclude={"type"})
        return {"type": "json_schema", "json_schema": schema}
    return {"type": wanted.type}
