"""Messages and tools as a chat template takes them.

A template that knows tools is given them. To one that does not, Hermes' way is explained in the
system message, and calls and results are text, so that any chat model can be asked; the grammar
holds it to the form.
"""

from __future__ import annotations

import json
from typing import Any

from inference.text.tools.formats import HERMES, ToolCall, ToolFormat

_ABOUT_TOOLS = """You can call functions. Each line between the tags describes one in JSON:
<tools>
{tools}
</tools>
To call one, write its name and its arguments in JSON between tags, like this:
<tool_call>
{{"name": "the function's name", "arguments": {{"an argument's name": "its value"}}}}
</tool_call>
Several calls follow one another, each between tags of its own. What a call gave comes back \
between <tool_response> tags."""


def call_for_template(call: ToolCall, form: ToolFormat) -> dict[str, Any]:
    """As templates expect it: arguments as an object, where they are one."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = call.arguments
    return {
        "id": form.id_for_template(call.id),
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def without_tool_roles(
    messages: list[dict[str, Any]], tools: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """`messages` for a template that knows no tools."""
    shaped = [message for each in messages for message in _as_text_messages(each)]
    if tools:
        about = _ABOUT_TOOLS.format(tools="\n".join(json.dumps(one["function"]) for one in tools))
        if shaped and shaped[0]["role"] == "system":
            shaped[0] = {**shaped[0], "content": f"{_text(shaped[0]['content'])}\n\n{about}"}
        else:
            shaped.insert(0, {"role": "system", "content": about})
    in_parts = any(isinstance(message["content"], list) for message in messages)
    joined = _joined(shaped)
    return [_with_parts(message) for message in joined] if in_parts else joined


def _text(content: Any) -> str:
    """What a content says, in one piece or in parts."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")


def _with_parts(message: dict[str, Any]) -> dict[str, Any]:
    """For a template that knows nothing but parts."""
    if isinstance(message["content"], list):
        return message
    return {**message, "content": [{"type": "text", "text": message["content"]}]}


def _as_text_messages(message: dict[str, Any]) -> list[dict[str, Any]]:
    if message["role"] == "tool":
        result = f"<tool_response>\n{_text(message['content'])}\n</tool_response>"
        return [{"role": "user", "content": result, "result": True}]
    if calls := message.get("tool_calls"):
        written = [ToolCall(one["function"]["name"], _json(one)) for one in calls]
        text = "".join(part for part, _ in HERMES.text_of(_text(message["content"]), written))
        return [{"role": message["role"], "content": text + HERMES.close}]
    return [message]


def _json(call: dict[str, Any]) -> str:
    arguments = call["function"]["arguments"]
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False)


def _joined(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results that follow one another are one message, as templates with turns expect."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        is_result = message.pop("result", False)
        if is_result and joined and joined[-1].get("result"):
            joined[-1]["content"] += "\n" + message["content"]
        else:
            joined.append({**message, **({"result": True} if is_result else {})})
    return [{key: value for key, value in one.items() if key != "result"} for one in joined]
