"""Untrusted content: what a file or a tool brings into a conversation is data, never orders.

In a request it is an `UntrustedPart`, or a message of role `tool`. Before anything runs, each is
marked once (`with_marked_content`): between two lines that its author cannot know, below a
sentence that says what it is. What reads like orders is withheld: the places where they are, or
all of it (`safety/judge/windows.py`). The mark is a keyed hash of the content, so a request that
fails over to another process, and the next turn with its cached prefix, read the same. Where the
injection classifier is uncertain, its words are also marked one by one. What a program's tools say
of themselves is no operator's word either: where it reads like orders, names and types are left.
"""

from dataclasses import replace
from typing import Any

import msgspec

from backend.conversations.types import (
    WITHHELD,
    ChatMessage,
    ImagePart,
    Part,
    TextPart,
    UntrustedPart,
    Withheld,
)
from backend.conversations.withheld import text_read
from backend.generation.request import GenerationRequest
from backend.generation.tools import Call, Tools, call_as_openai, without_description
from backend.platform.encryption import keyed_hash
from backend.platform.keys import Purpose
from safety.judge.policy import Policy
from safety.judge.spotlight import (
    DATAMARK_FROM,
    is_withheld,
    spotlight,
    withheld_spans,
    without_hidden_text,
)
from safety.judge.windows import injection_score


def with_marked_content(request: GenerationRequest, policy: Policy) -> GenerationRequest:
    """`request` with its untrusted content ready for a model. CPU-bound; call it in a thread.

    Args:
        policy: by which the prompt was checked.
    """
    messages = [_marked(message, policy) for message in request.messages]
    tools = request.tools and _tools_read(request.tools, policy)
    return replace(request, messages=messages, tools=tools) if messages else request


def _tools_read(tools: Tools, policy: Policy) -> Tools:
    """`tools` without what those say that read like orders: a program hands on what a server says
    of its tools."""
    if tools.is_reviewed:
        return tools
    read = [
        without_description(tool, WITHHELD) if is_withheld(text, policy) else tool
        for tool, text in zip(tools.tools, tools.texts, strict=True)
    ]
    return msgspec.structs.replace(tools, tools=read)


def withheld_from(request: GenerationRequest) -> Withheld:
    """What a request with marked content does without."""
    found = [
        (message, part)
        for message in request.messages
        for part in message.parts
        if isinstance(part, UntrustedPart) and part.spans
    ]
    return Withheld(
        [part for _, part in found if part.attachment_id],
        {message.tool_call_id: part.spans for message, part in found if message.tool_call_id},
    )


def upstream_messages(request: GenerationRequest) -> list[dict[str, Any]]:
    """OpenAI's `messages`: untrusted content is text among text."""
    return [_as_openai(message) for message in request.messages]


def _marked(message: ChatMessage, policy: Policy) -> ChatMessage:
    if message.role == "tool":
        result = UntrustedPart("a tool's result", message.text)
        return _with_content(message, [_mark(result, policy)])
    if isinstance(message.content, str):
        return message
    parts = [
        _mark(part, policy) if isinstance(part, UntrustedPart) else part for part in message.content
    ]
    return _with_content(message, parts)


def _mark(part: UntrustedPart, policy: Policy) -> UntrustedPart:
    source = part.source
    spans: list[tuple[int, int]] = [
        (one.start, one.end) for one in withheld_spans(part.text, policy)
    ]
    text = text_read(part.text, spans)
    if text == WITHHELD:
        return msgspec.structs.replace(part, marked=WITHHELD, spans=spans)
    name = "(withheld)" if is_withheld(part.name, policy) else part.name
    read = msgspec.structs.replace(part, text=text, name=name).named_text
    marker = keyed_hash(f"{source}\0{read}", purpose=Purpose.UNTRUSTED_CONTENT)
    marked = spotlight(
        without_hidden_text(read),
        source=source,
        datamark=injection_score(text, owner=policy.owner) >= DATAMARK_FROM,
        marker=marker[:16],
    )
    return msgspec.structs.replace(part, marked=marked, spans=spans)


def _as_openai(message: ChatMessage) -> dict[str, Any]:
    shaped: dict[str, Any] = {"role": message.role, "content": _content(message)}
    if message.name is not None:
        shaped["name"] = message.name
    if message.tool_call_id is not None:
        shaped["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        shaped["tool_calls"] = [
            call_as_openai(Call(call.name, call.arguments), call.id) for call in message.tool_calls
        ]
    return shaped


def _content(message: ChatMessage) -> str | list[dict[str, Any]]:
    """A string where nothing but text is left of what the product put together."""
    if isinstance(message.content, str):
        return message.content
    put_together = any(_is_ours(part) for part in message.content)
    if put_together and not message.images:
        return "\n\n".join(_text_of(part) for part in message.content)
    return [_part_as_openai(part) for part in message.content]


def _is_ours(part: Part) -> bool:
    return isinstance(part, UntrustedPart) or (isinstance(part, TextPart) and part.is_ours)


def _part_as_openai(part: Part) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        return {"type": "image_url", "image_url": {"url": part.url, "detail": part.detail}}
    return {"type": "text", "text": _text_of(part)}


def _text_of(part: Part) -> str:
    assert not isinstance(part, ImagePart)
    return part.marked if isinstance(part, UntrustedPart) else part.text


def _with_content(message: ChatMessage, content: list[Part]) -> ChatMessage:
    return msgspec.structs.replace(message, content=content)
