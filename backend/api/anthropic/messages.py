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
    ThinkingIn,
    ToolChoiceIn,
    ToolIn,
    ToolResultBlock,
    ToolUseBlock,
)
from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.validation import validated
from backend.platform.errors import InvalidRequest

# Fields of a chat, as this API calls them.
_EFFORTS = {"low": 2048, "medium": 8192}
"""By the most `budget_tokens`; above them it is `high`."""
_FIELDS = {"max_completion_tokens": "max_tokens", "stop": "stop_sequences"}


def chat_body(body: PromptIn) -> ChatCompletionRequest:
    """The chat that a message is asked by.

    Raises:
        InvalidRequest: naming the field of `body`.
    """
    *earlier, last = body.messages
    newest = [_begun(body, _chat(last))] if begins_answer(body) else _chat(last)
    messages = _system(body) + [one for said in earlier for one in _chat(said)] + newest
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
        "reasoning_effort": _effort(body.thinking) or None,
        **_choice(body.tool_choice),
    }
    if isinstance(body, MessagesCreate):
        _check_thinking(body)
        asked |= {
            "max_completion_tokens": body.max_tokens,
            "temperature": body.temperature,
            "top_p": body.top_p,
            "top_k": body.top_k or None,
            "stop": body.stop_sequences,
        }
    try:
        return validated(ChatCompletionRequest, asked, param="messages")
    except InvalidRequest as error:
        name = (error.param or "").partition("[")[0].partition(".")[0]
        # A message of the chat is not always one of the body's.
        error.param = name if name == "messages" else _FIELDS.get(name, error.param)
        raise


def begins_answer(body: PromptIn) -> bool:
    """Whether the last message is the beginning of the answer ("prefill")."""
    return body.messages[-1].role == "assistant"


def _effort(wanted: ThinkingIn | None) -> str:
    """`reasoning_effort` for `thinking`; "" leaves it to the model."""
    if wanted is None or wanted.type == "adaptive":
        return ""
    if wanted.type == "disabled":
        return "none"
    budget = wanted.budget_tokens or 0
    return next((effort for effort, most in _EFFORTS.items() if budget <= most), "high")


def _begun(body: PromptIn, said: list[dict[str, Any]]) -> dict[str, Any]:
    """The last message, which the answer goes on in: text, and nothing else.

    Raises:
        InvalidRequest: it cannot be gone on in.
    """
    message: dict[str, Any] = said[-1] if said else {}
    content = message.get("content")
    text = content if isinstance(content, str) else _joined(content or [])
    reason = None
    if message.get("tool_calls") or not text:
        reason = "An answer can be begun with text only"
    elif text != text.rstrip():
        reason = "The beginning of an answer cannot end with white space"
    elif body.tool_choice is not None and body.tool_choice.type in {"any", "tool"}:
        reason = "An answer that is begun with text cannot be held to a tool"
    elif body.thinking is not None and body.thinking.type == "enabled":
        reason = "An answer that is begun cannot have thoughts before it"
    if reason is not None:
        raise InvalidRequest(f"{reason}.", param="messages")
    return {"role": "assistant", "content": text}


def _check_thinking(body: MessagesCreate) -> None:
    budget = body.thinking.budget_tokens if body.thinking else None
    is_forced = body.tool_choice is not None and body.tool_choice.type in {"any", "tool"}
    if budget is not None and is_forced:
        raise InvalidRequest(
            "tool_choice: a tool that must be called leaves no room for enabled thinking.",
            param="tool_choice",
        )
    if budget is not None and budget >= body.max_tokens:
        raise InvalidRequest(
            "It must be less than max_tokens, which counts thoughts too.",
            param="thinking.budget_tokens",
        )


def _joined(parts: list[dict[str, Any]]) -> str:
    return "".join(part["text"] for part in parts)


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
