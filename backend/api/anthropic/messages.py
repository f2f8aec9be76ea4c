"""A body of Messages as a chat."""

from typing import Any

import orjson

from backend.api.schemas.anthropic import (
    ImageBlock,
    MessageIn,
    MessagesCreate,
    PromptIn,
    TextBlock,
    ThinkingBlock,
    ToolChoiceIn,
    ToolIn,
    ToolResultBlock,
    ToolUseBlock,
)
from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.platform.errors import InvalidRequest

# Fields of a chat, as this API calls them.
_FIELDS = {"max_completion_tokens": "max_tokens", "stop": "stop_sequences"}


def chat_body(body: PromptIn) -> ChatCompletionRequest:
    """The chat that a message is asked by.

    Raises:
        InvalidRequest: naming the field of `body`.
    """
    if body.messages[-1].role == "assistant":
        raise InvalidRequest(
            "The last message is the assistant's. Beginning an answer is not supported; end with"
            " a message of the user.",
            param="messages",
            code="unsupported_parameter",
        )
    messages = _system(body) + [one for said in body.messages for one in _chat(said)]
    if not messages:
        raise InvalidRequest(
            "They hold nothing to answer: thoughts are not read.", param="messages"
        )
    asked: dict[str, Any] = {
        "model": body.model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [_tool(tool) for tool in body.tools or ()] or None,
        **_choice(body.tool_choice),
    }
    if isinstance(body, MessagesCreate):
        asked |= {
            "max_completion_tokens": body.max_tokens,
            "temperature": body.temperature,
            "top_p": body.top_p,
            "top_k": body.top_k or None,
            "stop": body.stop_sequences,
        }
    try:
        return ChatCompletionRequest.model_validate(asked)
    except InvalidRequest as error:
        name = (error.param or "").partition("[")[0].partition(".")[0]
        error.param = _FIELDS.get(name, error.param)
        raise


def _system(body: PromptIn) -> list[dict[str, Any]]:
    text = body.system if isinstance(body.system, str) else _text(body.system or [])
    return [{"role": "system", "content": text}] if text else []


def _chat(message: MessageIn) -> list[dict[str, Any]]:
    """A message of the user may hold results of tools, which are messages of their own."""
    if isinstance(message.content, str):
        return [{"role": message.role, "content": message.content}]
    results: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for block in message.content:
        match block:
            case ToolResultBlock():
                results.append(_result(block))
            case ToolUseBlock():
                function = {"name": block.name, "arguments": orjson.dumps(block.input).decode()}
                calls.append({"id": block.id, "type": "function", "function": function})
            case TextBlock():
                parts.append({"type": "text", "text": block.text})
            case ImageBlock():
                url = f"data:{block.source.media_type};base64,{block.source.data}"
                parts.append({"type": "image_url", "image_url": {"url": url}})
            case ThinkingBlock():
                pass
    _check_blocks(message, results=bool(results), calls=bool(calls))
    own: dict[str, Any] = {"role": message.role, "content": parts or None}
    if calls:
        own["tool_calls"] = calls
    return results + ([own] if parts or calls else [])


def _check_blocks(message: MessageIn, *, results: bool, calls: bool) -> None:
    if results and message.role == "assistant":
        raise InvalidRequest("Only the user gives a tool_result.", param="messages")
    if calls and message.role == "user":
        raise InvalidRequest("Only the assistant has a tool_use.", param="messages")


def _result(block: ToolResultBlock) -> dict[str, Any]:
    text = block.content if isinstance(block.content, str) else _text(block.content)
    shown = f"Error: {text}" if block.is_error else text
    return {"role": "tool", "tool_call_id": block.tool_use_id, "content": shown}


def _text(blocks: list[TextBlock]) -> str:
    return "\n\n".join(block.text for block in blocks)


def _tool(tool: ToolIn) -> dict[str, Any]:
    function = {"name": tool.name, "parameters": tool.input_schema, "strict": tool.strict}
    if tool.description is not None:
        function["description"] = tool.description
    return {"type": "function", "function": function}


def _choice(choice: ToolChoiceIn | None) -> dict[str, Any]:
    if choice is None:
        return {}
    chosen: Any = {"auto": "auto", "any": "required", "none": "none"}.get(choice.type)
    if chosen is None:
        chosen = {"type": "function", "function": {"name": choice.name}}
    many = (
        None if choice.disable_parallel_tool_use is None else not choice.disable_parallel_tool_use
    )
    return {"tool_choice": chosen, "parallel_tool_calls": many}
